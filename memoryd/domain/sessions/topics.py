"""What a turn is about, as tags like `discord_config`: a subject and an aspect, found by closed lists, no model.

A *subject* is what is talked about: a name (written in another script or as a program writes it), a word of `SUBJECTS`,
else the first keyword. An *aspect* is what is asked of it, a word of `ASPECTS`. English and Chinese words of one
line have one tag, so that a question finds what was said in the other language.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memoryd.domain.text.words import normalised

MAX_TOPICS: Final = 3


def _by_word(table: str) -> Mapping[str, str]:
    """Return the tag of each word; a line is a tag with the words that mean it."""
    rows = [line.split() for line in table.strip().splitlines()]
    return {word: row[0] for row in rows for word in row}


ASPECTS: Final = _by_word(
    """
    config configuration configure configured setting settings setup option options 配置 设置 设定 选项
    design designs designed 设计
    architecture 架构
    error errors bug bugs crash crashes exception fails failed failure broken 错误 报错 故障 崩溃 异常 失败 出错
    performance slow faster latency speed optimise optimize 性能 太慢 很慢 优化 延迟 速度
    testing test tests tested 测试
    deployment deploy deploying deployed release 部署 上线 发布
    install installation installing installed upgrade 安装 升级
    security permission permissions vulnerability encrypt encryption 安全 权限 漏洞 加密
    cost costs price prices budget cheap expensive 费用 价格 预算 便宜 成本
    planning plan plans schedule deadline roadmap 计划 安排 日程 截止 规划
    review reviews feedback 评审 反馈 审查
    backup backups restore 备份 恢复
    migration migrate migrating 迁移
    recommendation recommend recommendations suggestion 推荐 建议
    """
)
SUBJECTS: Final = _by_word(
    """
    memory memories remember 记忆 记住 内存
    llm llms transformer transformers 大模 语言模型 大模型
    embedding embeddings vector vectors 向量 嵌入
    database databases sql sqlite postgres mysql 数据库
    search retrieval index indexing 搜索 检索 索引
    messaging message messages mention mentions notification notifications 消息 通知 艾特
    network networks proxy dns firewall 网络 代理 防火墙
    server servers 服务器
    api apis endpoint endpoints 接口
    docker container containers kubernetes 容器 镜像
    git commit commits branch 提交 分支
    frontend ui css layout 前端 界面 页面
    backend 后端
    travel trip flight flights hotel visa 旅行 旅游 机票 酒店 签证
    food cooking recipe recipes restaurant dinner 做饭 菜谱 餐厅 吃饭 晚饭
    health doctor medicine sleep exercise dentist 健康 医生 吃药 睡眠 锻炼 运动 牙医
    family wife husband daughter son kids mother father parents 家人 妻子 老婆 丈夫 女儿 儿子 孩子 妈妈 爸爸 父母
    career job boss colleague interview 工作 上班 同事 老板 面试
    money salary invest investment tax taxes bank 工资 投资 理财 税务 银行
    home house apartment rent renovation furniture 房子 租房 装修 家具
    music song songs concert 音乐 歌曲 演唱会
    book books reading novel 读书 小说 书籍
    learning study studying course exam homework 学习 课程 考试 作业
    writing essay blog article 写作 文章 博客
    """
)
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_NAME: Final = re.compile(r"(?<![A-Za-z0-9_./])(?:[A-Z][a-z]+[A-Z][A-Za-z0-9]*|[A-Z][A-Za-z0-9]{2,})(?![A-Za-z0-9_/])")


def topics(question: str, answer: str | None, keywords: Sequence[str], *, limit: int = MAX_TOPICS) -> tuple[str, ...]:
    """Return the tags of a turn, the one that says most first; none for small talk.

    `keywords` are those of the question. The first tag joins the subject of the question with its aspect, or with that
    of the answer; further subjects of the question stand for themselves.
    """
    subjects = _subjects(question)
    aspects = _found(question, ASPECTS) or _found(answer or "", ASPECTS)[:1]
    if not subjects and not aspects:
        return ()
    if not subjects:
        subjects = _subjects(answer or "")[:1] or [word for word in keywords if word not in ASPECTS][:1]
    first = "_".join([*subjects[:1], *aspects[:1]])
    return tuple(dict.fromkeys([first, *subjects[1:]]))[:limit]


def _subjects(text: str) -> list[str]:
    return list(dict.fromkeys([*_names(text), *_found(text, SUBJECTS)]))


def _names(text: str) -> Iterable[str]:
    """Yield what is a name by how it is written, in small letters: capitals inside a sentence, or within Chinese."""
    for found in _NAME.finditer(text):
        name = found.group()
        small = name.lower()
        if small not in ASPECTS and (not name[1:].islower() or not _starts(text, found.start())):
            yield SUBJECTS.get(small, small)


def _starts(text: str, at: int) -> bool:
    """Tell whether a word stands where a capital says nothing: at the start of a sentence."""
    before = text[:at].rstrip(" \t\"'“(*#-")
    return not before or before[-1] in ".!?。！？\n:："


def _found(text: str, table: Mapping[str, str]) -> list[str]:
    """Return the tags whose words stand in a text, in the order in which they do."""
    small = normalised(text).lower()
    places: dict[str, int] = {}
    for found in _ASCII_WORD.finditer(small):
        if tag := table.get(found.group()):
            places.setdefault(tag, found.start())
    if not small.isascii():
        for word, tag in table.items():
            # scripts without spaces have no ends of words
            if not word.isascii() and (at := small.find(word)) >= 0:
                places[tag] = min(at, places.get(tag, at))
    return sorted(places, key=places.__getitem__)
