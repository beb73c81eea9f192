"""The subject of a turn, without a model: keywords, tags like `discord_config`, and a hash for similar questions.

A topic is a subject and an aspect, found by closed lists. The *subject* is a name (written in another script or the way
programs write it), a word of `SUBJECTS`, or else the first keyword. The *aspect* is what is asked about it, a word of
`ASPECTS`. The English and Chinese words of one table row have the same tag, so a question finds turns in the other
language.

Keywords are the significant words; in scripts without spaces they are the significant pairs of characters. A run of
Chinese is cut into pairs that are frequent in the language and do not overlap. Of all possible cuts the one with the
highest total commonness is taken (a shortest path over a table of pairs, as in dictionary segmenters).

The hash is the SimHash of the keywords (Charikar 2002, section 3): each keyword votes on each of 64 bits by its BLAKE2b
digest of eight bytes; a bit is set if more keywords vote for it than against it. It does not depend on the process, the
machine or the version, so files may store it.

Filler words are no keywords, so that "hmm, are you sure?" matches no conversation that has *hmm*. They are a closed
class: interjections of any length, answers, greetings, thanks, and requests to continue. A message refers to what was
said last if it has only such words, if it begins like a continued sentence (*and*, *so*, 那, 然后), or if it uses a
pronoun (*it*, *those*, 它). A message that changes the subject (*by the way*, 对了, 换个话题) does not, even with a
pronoun.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b

from memoryd.domain.expressions import expression
from memoryd.domain.text.words import STOP_WORDS, UNSPACED, UNSPACED_RUN, normalised

_ENGLISH = """
hi hello hey ok okay yes yeah thanks thank please really maybe
think know want need like get got let lets go use make way
thing things something anything everything much many lot bit sure right good great well now here again always never
every still even else anyway supposed remind
yep yup nope nah alright fine cool nice perfect wow btw actually basically honestly though anyways interesting
agreed indeed exactly totally course absolutely understood noted goodbye bye morning night sorry oops
continue explain mean means tell say said says sense true
"""
_CHINESE = """
这个 那个 这些 那些 这样 那样 这里 那里 什么 怎么 么样 为什 哪里 哪个 如何 可以 一个 一下 一些 我们 你们 他们 没有
因为 所以 时候 觉得 知道 想知 问题 里面 才能 能够 还是 或者
但是 如果 就是 不是 不能 都要 要不 需要 应该 现在 已经 自己
大家 请问 谢谢 你好 您好 好的 你觉 是不 有没 能不 可能 其实
然后 而且 以及 还有 一样 这种 那种 东西 事情 怎样 多少 是否 帮我
另外 多久 来着 上次 当时
给我 告诉 帮忙 我想 我要 不要 一直 每次 认为 看看 想想
顺便 说一 一句 对了 话说 好吧 好了 好啊 行吧 确定 真的 明白 懂了 继续 意思 辛苦 不错 太好 厉害 这么 那么 定吧 多谢
再见 早上 晚安 哈哈 呵呵 嘿嘿 嗯嗯 哦哦 换个 话题 有用 接着 有道 道理 知道 收到 没事 没关 关系 不用
"""
TALK = frozenset((_ENGLISH + _CHINESE).split())
"""Filler words in addition to the stop words: they say nothing about the subject of a question."""
_INTERJECTION = expression(
    r"(?:h+m+|m+h*m+|u+[hmg]+h*|e+[rh]+m*|a+h+|o+h+|hu+h+|e+w+|p+f+t*|y+a+y+|a+w+|(?:ha|he|hi){2,}h?|l+o+l+|x+d+|a+r+g+h+"
    r"|w+h+o+a+|[嗯哦噢喔呃额唉哎诶欸嘿哈呵嘻嗷啊呀哇喂哼嘛呢吧吗啦咯哟])\Z"
)


def is_talk(word: str) -> bool:
    """Return whether a lower-case word is a filler word, which says nothing about the subject."""
    return word in TALK or _INTERJECTION.match(word) is not None


_TURNS_AWAY = expression(
    r"\b(?:by the way|btw|something else|another (?:thing|question|topic)|unrelated|on another note|separately"
    r"|different (?:topic|subject)|changing (?:topic|the subject)|new topic)\b"
    r"|对了|另外|顺便(?:问|说|提)|换个|话说|还有(?:一|个)|别的事|题外话"
)
_GOES_ON = expression(
    r"(?:and|so|but|then|or|nor|because|which one|what about|how about|why|if so|if not)\b"
    r"|那|然后|所以|但|可是|不过|而且|还有|为什么|因为|要是|如果|这样"
)
_POINTS = expression(
    r"\b(?:it|its|it's|they|them|their|theirs|those|these|this|that|that's|there|one|ones|same|him|her|he|she|former|latter)\b"
    r"|它|他们|她们|这个|那个|这些|那些|这样|那样|这么|那么|刚才|上面|前面"
)
_VAGUE = 3
"""Up to this many keywords do not say what a message is about."""
_LEADING = expression(r"[^\W_]+(?:'[a-z]+)?")


def takes_up(message: str, keywords: Collection[str]) -> bool:
    """Return whether a message refers to what was said last; `keywords` are those of the message."""
    small = normalised(message).lower().replace("’", "'")
    if not keywords:
        return True
    # with enough keywords a pronoun refers to the message itself
    if len(keywords) > _VAGUE or _TURNS_AWAY.search(small):
        return False
    begin = next((word.start() for word in _LEADING.finditer(small) if not is_talk(word.group())), len(small))
    return bool(_GOES_ON.match(small, begin)) or bool(_POINTS.search(small))


MAX_TOPICS = 3


def _by_word(table: str) -> Mapping[str, str]:
    """Return the tag of each word. The first word of a line is the tag of all words of the line."""
    rows = [line.split() for line in table.strip().splitlines()]
    return {word: row[0] for row in rows for word in row}


ASPECTS = _by_word(
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
SUBJECTS = _by_word(
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
_ASCII_WORD = expression("[a-z0-9]+")
_NAME = expression(r"(?<![A-Za-z0-9_./])(?:[A-Z][a-z]+[A-Z][A-Za-z0-9]*|[A-Z][A-Za-z0-9]{2,})(?![A-Za-z0-9_/])")


def topics(question: str, answer: str | None, keywords: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of a turn, the most specific first; none for small talk.

    `keywords` are those of the question. The first tag joins the subject of the question with its aspect, or with the
    aspect of the answer. Each further subject of the question is a tag of its own.
    """
    subjects = _subjects(question)
    aspects = _tags_in(question, ASPECTS) or _tags_in(answer or "", ASPECTS)[:1]
    if not subjects and not aspects:
        return ()
    if not subjects:
        subjects = _subjects(answer or "")[:1] or [word for word in keywords if word not in ASPECTS][:1]
    first = "_".join([*subjects[:1], *aspects[:1]])
    return tuple(dict.fromkeys([first, *subjects[1:]]))[:MAX_TOPICS]


def _subjects(text: str) -> list[str]:
    return list(dict.fromkeys([*_names(text), *_tags_in(text, SUBJECTS)]))


def _names(text: str) -> Iterable[str]:
    """Yield the names of a text, in lower case, recognised by capitals inside a sentence or within Chinese."""
    for match in _NAME.finditer(text):
        name = match.group()
        small = name.lower()
        # a capital at the start of a sentence makes no name
        before = text[: match.start()].rstrip(" \t\"'“(*#-")
        is_inside = bool(before) and before[-1] not in ".!?。！？\n:："
        if small not in ASPECTS and (is_inside or not name[1:].islower()):
            yield SUBJECTS.get(small, small)


def _tags_in(text: str, table: Mapping[str, str]) -> list[str]:
    """Return the tags whose words occur in a text, in the order of their first word."""
    small = normalised(text).lower()
    places: dict[str, int] = {}
    for match in _ASCII_WORD.finditer(small):
        if tag := table.get(match.group()):
            places.setdefault(tag, match.start())
    if not small.isascii():
        for word, tag in table.items():
            # scripts without spaces have no word boundaries
            if not word.isascii() and (at := small.find(word)) >= 0:
                places[tag] = min(at, places.get(tag, at))
    return sorted(places, key=places.__getitem__)


Commonness = Callable[[str], float]
"""The share of ordinary texts with a word or pair, 0 to 1, as in `ranking.calibration`; 0 for rare words."""

MAX_KEYWORDS = 16
_UNITS = expression(f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+")
_KANA = expression("[\u3040-\u309f]+\\Z")
"""Words of hiragana only are endings and particles."""
_PARTICLES = frozenset("让就都也又才把被从到对为会要很再还不没去来后前里上下中")
"""Characters that are often words by themselves: a pair with such a character counts only if it is common."""
_COMMON_ENOUGH = 0.004
_WORDS_WITH_STOPS = frozenset({"目的", "拥有", "有效", "私有"})
_TOO_COMMON = 0.25
"""A word with this commonness or more is no keyword."""
_RARE = 0.001
_UNKNOWN, _KNOWN = 0.1, 1.0
"""Worth of a pair that is not in the table, and least worth of a pair that is."""


def never_common(_: str) -> float:
    """Return 0: the commonness when no word statistics are known."""
    return 0.0


def rarity(commonness: float) -> float:
    """Return 1 for a word in fewer than one of 1,000 ordinary texts, less for others: 1/3 for one in ten."""
    return min(1.0, math.log10(max(commonness, _RARE)) / math.log10(_RARE))


def keywords(text: str, commonness: Commonness = never_common, *, limit: int = MAX_KEYWORDS) -> tuple[str, ...]:
    """Return the distinct significant words of a text in order, in lower case: at most `limit`, the rarest."""
    units = _UNITS.findall(normalised(text).lower())
    words = (word for unit in units for word in _words_of(unit, commonness))
    significant = list(dict.fromkeys(word for word in words if _is_significant(word, commonness)))
    if len(significant) > limit:
        rarest = frozenset(sorted(significant, key=commonness)[:limit])
        significant = [word for word in significant if word in rarest]
    return tuple(significant)


def all_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a text without keywords, such as a greeting."""
    units = _UNITS.findall(normalised(text).lower())
    return tuple(dict.fromkeys(word for unit in units for word in _words_of(unit, never_common)))[:MAX_KEYWORDS]


def _words_of(unit: str, commonness: Commonness) -> list[str]:
    return _pairs(unit, commonness) if UNSPACED_RUN.match(unit) else [unit]


def _is_significant(word: str, commonness: Commonness) -> bool:
    if word in STOP_WORDS or is_talk(word) or _KANA.match(word):
        return False
    if len(word) == 2 and UNSPACED_RUN.match(word) and _is_torn(word, commonness):
        return False
    is_letter = len(word) == 1 and not UNSPACED_RUN.match(word)
    return not is_letter and commonness(word) < _TOO_COMMON


def _pairs(run: str, commonness: Commonness) -> list[str]:
    """Cut a run without spaces into pairs that do not overlap; single characters between pairs are dropped."""
    if len(run) < 2:
        return [run]
    # best[at]: the worth of the best cut of the first `at` characters, and whether a pair ends there
    best: list[tuple[float, bool]] = [(0.0, False), (0.0, False)]
    for end in range(2, len(run) + 1):
        paired = best[end - 2][0] + _worth(run[end - 2 : end], commonness)
        best.append((paired, True) if paired > best[end - 1][0] else (best[end - 1][0], False))
    pairs, end = [], len(run)
    while end > 1:
        if best[end][1]:
            pairs.append(run[end - 2 : end])
        end -= 2 if best[end][1] else 1
    return pairs[::-1]


def _worth(pair: str, commonness: Commonness) -> float:
    """Return the worth of a pair in a cut. It grows with the logarithm of its commonness; filler words count double."""
    if pair in TALK:
        return 2 * _KNOWN
    if _is_torn(pair, commonness):
        return _UNKNOWN / 2
    if (share := commonness(pair)) <= 0:
        return _UNKNOWN
    return _KNOWN + max(0.0, 1 + math.log10(share) / 5)


def _is_torn(pair: str, commonness: Commonness) -> bool:
    """Return whether a pair is not a word but a particle and a part of the neighbouring word."""
    if pair in _WORDS_WITH_STOPS:
        return False
    is_rare_particle = not _PARTICLES.isdisjoint(pair) and commonness(pair) < _COMMON_ENOUGH
    return is_rare_particle or not STOP_WORDS.isdisjoint(pair)


BITS = 64
NEAR = 12
"""Most bits in which hashes of similar questions differ. Unrelated questions differ in 32 bits, give or take 4."""
_HASH = expression("[0-9a-f]{16}")


def simhash(words: Collection[str], text: str = "") -> str:
    """Return the SimHash of words as 16 hexadecimal digits.

    Without words it is the hash of the text, so greetings differ.
    """
    votes = [0] * BITS
    for word in sorted(set(words)) or [" ".join(text.lower().split())]:
        digest = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        for bit in range(BITS):
            votes[bit] += 1 if digest >> bit & 1 else -1
    return f"{sum(1 << bit for bit, vote in enumerate(votes) if vote > 0):016x}"


def hash_value(text: str) -> int | None:
    """Return a hash as a number; None for a hash of another program, which can only be compared for equality."""
    return int(text, 16) if _HASH.fullmatch(text) else None


def distance(first: str, second: str) -> int:
    """Return the number of bits in which two hashes differ, 0 to 64; 64 for unequal hashes of other programs."""
    first_value, second_value = hash_value(first), hash_value(second)
    if first_value is None or second_value is None:
        return 0 if first == second else BITS
    return (first_value ^ second_value).bit_count()
