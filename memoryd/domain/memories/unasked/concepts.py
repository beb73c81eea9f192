"""Words with one meaning, in English, German and Chinese.

A message says *wife* where a line says *spouse*, 老公 where it says 丈夫. Each row is one concept, of common words. A
concept is weighed like a word, by its rarity in the notes, so that a wide one (food) weighs little and a narrow one
(a key) much.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import pairwise
from typing import NewType

from memoryd.domain.expressions import expression, word_set
from memoryd.domain.memories.unasked.german import ALSO_ENGLISH, GERMAN_CONCEPTS, is_german
from memoryd.domain.text.words import STOP_WORDS, UNSPACED_RUN

Concept = NewType("Concept", int)

_PEOPLE = """
wife spouse partner missus married | 老婆 妻子 太太 媳妇 爱人
husband spouse partner hubby married | 老公 丈夫 爱人 我先生
son boy lad | 儿子
daughter girl | 女儿 闺女
child children kid kids baby toddler twin twins teenager teen son daughter boy girl lad | 孩子 小孩 娃 宝宝 儿子 女儿
mother mum mom mummy mommy mam mama | 妈妈 母亲 我妈 老妈 妈
father dad daddy papa | 爸爸 父亲 我爸 老爸 爸
parents folks mother mum mom father dad | 父母 爸妈 爸爸 妈妈 父亲 母亲 爸 妈
brother bro | 哥哥 弟弟 兄弟
sister sis | 姐姐 妹妹
grandmother grandma granny gran nana nan | 奶奶 外婆 姥姥
grandfather grandpa granddad grandad | 爷爷 外公 姥爷
婆婆 岳母 丈母娘
公公 岳父 丈人
aunt auntie | 姑姑 阿姨 舅妈
uncle | 叔叔 舅舅 伯伯
girlfriend partner | 女朋友 女友
boyfriend partner | 男朋友 男友
flatmate roommate housemate lodger | 室友
neighbour neighbor neighbours neighbors | 邻居 对门
boss manager supervisor | 老板 上司 领导 经理
colleague coworker teammate workmate | 同事
landlord landlady rent tenancy lease flat | 房东 房租 租金 租房
teacher tutor school class lesson | 老师 班主任 学校
doctor physician gp surgery clinic hospital | 医生 大夫 医院 诊所
dentist tooth teeth braces orthodontist dental | 牙医 牙齿 牙套 看牙 补牙
bird parrot parakeet budgie cockatiel canary | 鸟 鹦鹉
vet veterinarian | 兽医 宠物医院
lawyer solicitor attorney | 律师
accountant bookkeeper taxes tax | 会计 报税
cat kitten kitty | 猫 猫咪
dog puppy pup dachshund terrier spaniel labrador collie poodle beagle corgi retriever | 狗 狗狗 遛狗 柯基 泰迪 金毛 柴犬
plumber pipes tap leak leaking | 水管 水管工 漏水
electrician fuse | 电工 跳闸
"""
_LIFE = """
eat eats ate food meal cook cooks cooking dinner lunch breakfast supper recipe bake salad soup cake pancakes \
snack dish fruit vegetables vegan vegetarian allergic allergy intolerant meat fish cheese milk nuts sugar \
restaurant feed diet | 吃 饭 菜 做饭 吃饭 早饭 午饭 晚饭 火锅 餐 粥 汤 面条 水果 甜 糖 辣 忌口 过敏 素 \
海鲜 鱼 虾 肉 鸡 牛奶 蛋糕 零食 餐厅 点菜
drink drinks tea coffee caffeine decaf juice wine beer alcohol | 喝 茶 咖啡 酒 饮料 奶茶
sugar sweet sweets cake chocolate dessert diabetes diabetic | 糖 甜 甜点 糖尿病 血糖 蛋糕
nut nuts hazelnut almond peanut walnut cashew pecan nutella pesto marzipan | 坚果 花生 核桃 杏仁
seafood shrimp prawn prawns crab fish mussels oysters | 海鲜 虾 螃蟹 贝 鱼
spicy chilli chili hot | 辣 火锅 麻辣 川菜
allergy allergic allergies reaction antihistamine | 过敏
medicine medication pill pills tablet tablets dose drug prescription antibiotic antibiotics | 药 吃药 服药 药片
ill sick fever cough asthma inhaler wheeze wheezing poorly cold flu | 生病 发烧 咳嗽 感冒 哮喘
pay pays paid payment owe owes owed instalment installment debt \
price prices priced cost costs charge fee deposit invoice invoices money budget rate \
pounds euros dollars bill salary | 钱 付 付款 价格 多少钱 费 收费 押金 报价 工资 块钱 元 转账 预算
bank account card transfer mortgage | 银行 卡 账户 房贷 房租 扣款
birthday present presents gift gifts loves wish | 生日 礼物 送 喜欢
christmas xmas boxing advent santa holidays easter | 圣诞 圣诞节
春节 过年 除夕 年夜饭 寒假 放假
phone phones call calls ring telephone mobile | 电话 手机 打电话
mail mails email emails letter inbox | 邮件 邮箱 发邮件 信
address lives live flat street house | 地址 住在 搬家 寄到
key keys lock locks locked locksmith door | 钥匙 锁 门锁 锁门 开门 进门
car van vehicle drive drives driving parking park garage petrol | 车 开车 汽车 停车 车位 驾驶
train trains bus flight fly flights airport station trip travel travelling | 火车 高铁 飞机 机票 机场 车站 出差
holiday holidays vacation trip travel hotel cottage | 旅行 旅游 度假 酒店 民宿 出去玩 假期 放假
usual regular always favourite favorite | 老地方 老样子 常去 固定 照旧 平时
table seat seats window reservation restaurant | 座位 位置 订位 桌 包间 靠窗
seat seats row sit sits seating | 座位 排座 坐 第一排 同桌
run runs running training train marathon race workout gym exercise jog knee physio | 跑步 训练 马拉松 健身 \
锻炼 运动 膝盖
parcel parcels package packages post ship ships shipping courier delivery deliver delivers pack packing | 快递 包裹 \
寄 邮寄 顺丰
repair repairs fix fixes mend broken broke broken-down | 修 维修 坏了 修理 故障
rubbish bin bins trash garbage recycling waste | 垃圾 垃圾桶 回收
clean cleaner cleaning | 打扫 保洁
shoe shoes boots trainers sneakers clothes size dress coat jacket | 鞋 衣服 尺码 号码
sleep sleeps bed bedtime nap night | 睡觉 睡 夜班 午睡
read reads reading novel author library | 书 读 看书 阅读 共读
exam exams test tests grade | 考试 统考 成绩 期末
concert gig show band orchestra choir trumpet guitar violin cello piano instrument music | \
音乐 大提琴 钢琴 小提琴 乐器 演出
where put keep keeps kept lie lies hang hangs drawer shelf cupboard cellar pocket behind | 哪里 哪儿 放 \
放在 抽屉 柜子 架子
before prior limit deadline due until by latest | 截止 之前 到期 最晚 期限
meeting meetings appointment standup call | 会 开会 会议 约
heating boiler radiator warm hot-water | 热水器 暖气 锅炉
garden plants plant water watering | 花 浇水 植物 花园
rain rains raining rainy umbrella | 雨 下雨 雨天 雨伞
freeze frost snow snowing icy | 雪 下雪 霜 结冰
monday mon | 周一 星期一 礼拜一
tuesday tue | 周二 星期二 礼拜二
wednesday wed | 周三 星期三 礼拜三
thursday thu | 周四 星期四 礼拜四
friday fri | 周五 星期五 礼拜五
saturday sat | 周六 星期六 礼拜六
sunday sun | 周日 周天 星期日 星期天 礼拜日 礼拜天
wifi router internet network | 路由器 网络 宽带 无线
"""
_THINGS = """
generator genny power electricity outage blackout | 发电机 停电 断电
gas cooker hob oven stove | 燃气 煤气 灶台 炉子
leak leaks leaking tap stopcock valve plumbing flooded | 漏水 水阀 龙头 总阀
toilet loo drain drains | 厕所 马桶
washing laundry detergent | 洗衣 洗衣机 洗衣液
fridge freezer refrigerator | 冰箱 冷冻 冷库
sofa couch settee furniture armchair wardrobe | 沙发 家具 衣柜
stairs staircase lift elevator upstairs | 楼梯 电梯
roof gutter gutters loft attic | 屋顶 阁楼 漏雨
tool tools drill hammer screwdriver saw | 工具 电钻 锤子
window windows curtain curtains blinds | 窗户 窗帘
lamp lamps bulb bulbs torch | 灯泡 台灯 手电
guest guests visitor visitors overnight | 客人 来访 借住 过夜 留宿
nursery kindergarten childcare babysitter nanny creche | 幼儿园 托班 保姆
pregnant pregnancy birth midwife maternity | 怀孕 预产期 孕妇 产假
glasses lenses optician eyesight | 眼镜 隐形眼镜 近视 视力
hearing deaf | 听力 耳聋 助听器
lifting heavy carry carrying spine | 重物 搬东西 腰伤
rash eczema skin | 皮肤 湿疹
heart cardiac stent pacemaker | 心脏 支架
nose sinus blocked stuffy | 鼻子 鼻塞 感冒
headache headaches migraine migraines | 头痛 头疼 偏头痛
insulin glucose hypo diabetes diabetic | 胰岛素 血糖 糖尿病
vaccine vaccination jab booster | 疫苗 打针
hurt hurts pain ache sore injury injured | 受伤 扭伤 拉伤
gluten coeliac celiac wheat bread toast flour pasta | 麸质 面粉 面包
dairy lactose milk cheese cream butter | 乳糖 牛奶 奶制品
alcohol beer wine pint drunk sober pub | 喝酒 戒酒 酒驾 白酒 啤酒
smoke smoker smoking cigarettes | 抽烟 戒烟
vegetarian vegan meat-free | 吃素 素食
bike bicycle cycling cyclist | 自行车 骑车 单车
boat boats ship vessel sail sailing | 轮船 渡轮 帆船
charge charger charging battery batteries | 充电 电池 充电器
tyre tyres tire tires puncture | 轮胎 爆胎 后胎 前胎
petrol diesel fuel | 汽油 加油 柴油
insurance insured insure policy | 保险 理赔
passport passports visa visas | 护照 签证 身份证 证件
licence license permit | 驾照 执照 许可证
luggage suitcase baggage rucksack | 行李 行李箱 背包
ticket tickets booking reservation | 门票 车票 订票 预订
cancel cancels cancelled refund refundable | 取消 退款 退票
height high tall headroom clearance | 高度 限高 身高
loan debt owe owes borrow borrowed lend lent | 欠钱 还钱 借给 借钱
contract contracts agreement signature | 合同 签字 协议
warranty guarantee receipt | 保修 发票 收据
shift shifts rota | 排班 夜班 值班 早班 晚班
leave holidays annual-leave | 请假 年假 休假
slides presentation deck powerpoint | 演讲 幻灯片
colour color colours palette blind | 颜色 色盲 配色
printer print prints printed printing | 打印 打印机
computer laptop pc | 电脑 笔记本电脑
alarm alarms alert warning | 报警 警报 告警
login account accounts access | 登录 账号 权限
horse horses pony mare saddle farrier | 骑马 马厩 马术
chicken chickens hen hens coop eggs | 母鸡 鸡蛋 鸡舍
bee bees hive hives honey | 蜜蜂 蜂箱 蜂蜜
worm worms worming wormer fleas ticks | 驱虫 跳蚤
kennels cattery sitter boarding | 寄养 寄存
dive dives diving diver underwater scuba | 潜水 下水 水下
swim swims swimming pool | 游泳 泳池
ski skis skiing snowboard slopes | 滑雪 雪山 雪场
hike hikes hiking hiker trail | 徒步 爬山 登山
choir sing sings singing singer | 合唱 唱歌
drum drums drummer drumming drumsticks | 打鼓 架子鼓
wedding marry marries bride groom bridesmaid | 婚礼 结婚 伴娘 新郎 新娘 酒席
funeral died death grave | 葬礼 去世
party celebrate celebration | 聚会 派对 庆祝
flower flowers bouquet | 花束 鲜花
wind winds windy storm gale | 大风 台风 刮风
hospital clinic ward outpatients | 医院 门诊 挂号 复诊
appointment appointments appt | 预约
message messages msg text texts sms whatsapp | 微信 短信 发消息
closed closes opening opens | 关门 营业 打烊
quiet noise noisy loud sound | 安静 噪音
smell smells scent perfume | 气味 香水 油烟
collect collects pickup fetch | 接送 接孩子
haircut hairdresser barber hair | 理发 剪头发
trainee intern apprentice newcomer | 实习生 新人 学徒
afraid scared fear phobia | 害怕 恐惧
snack snacks biscuit biscuits crisps sweets | 零食 饼干
"""
_WORK = """
deploy deploys deployed deployment release releases released ship ships rollout | 部署 发布 上线
rollback revert previous undo restore unship | 回滚 回退 恢复
database databases db schema migration migrations column columns table postgres postgresql mysql | 数据库 迁移 表结构
log logs logging | 日志
certificate certificates cert tls ssl https | 证书
backup backups restore snapshot | 备份
test tests testing tester qa | 测试
device devices handset phone tablet hardware | 设备 真机 手机
scan scans scanner scanning barcode barcodes | 扫描 扫码 条码
duplicate duplicates twice double doubled two | 重复 两次 两遍
time timezone zone hour hours clock timestamp timestamps dst | 时区 时间戳 夏令时
review reviews reviewer approve approval approvals approves | 评审 审核 审批 批准
merge merges merged pr mr | 合并
incident incidents outage pager page pages oncall alert alerts | 故障 事故 告警 值班
password passwords secret secrets token tokens credentials vault | 密码 密钥 口令
server servers machine machines host hosts | 服务器 主机 机器
limit limits limited rate throttle parallel quota requests | 限制 限流 上限
branch branches git commit commits | 分支 提交
style lint linter format formatter | 规范 格式
plan plans lesson syllabus | 教案 备课 课件
lesson lessons course courses | 课 公开课 上课 试讲
homework assignment essay composition | 作业 作文 稿子
report reports status update summary standup | 汇报 周报 日报 报告
customer client clients customers | 客户 订单
"""
_ROWS = tuple(row for part in (_PEOPLE, _LIFE, _THINGS, _WORK) for row in part.strip().split("\n"))
NARROW, WIDE = 8, 24
"""A concept with `NARROW` words or fewer weighs as much as a rare word; with `WIDE`, half of all notes may have it."""
FULL, MIN = 3.0, 1.5
"""The weights of a narrow and a wide concept; single words weigh up to 7."""
EXPANDED_MAX = 16
"""Most words of a concept that is expanded in searches; a wider one is only recognised."""
WEAK_WORDS = word_set("""
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december today tonight tomorrow yesterday
morning afternoon evening night noon midnight day days week weeks weekend month months year years hour hours minute
minutes time times clock one two three four five six seven eight nine ten eleven twelve first second third half get gets
getting got put puts make makes making made need needs want wants wanted know knows look looks looking go goes going
come comes coming came give gives take takes taking see sees try tries use uses using used write tell tells say says let
keep keeps think mind find help feel leave leaves left call like likes start stop bring work works working anything
something everything nothing thing things way lot idea bit place part new old good best better big small long last next
again many much more less back away out over this that shall must should people person friend friends kind sort whole
own right real reason known list plan plans number name names set show send ask asks asked said did done
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar marz mai juni juli oktober
dezember heute morgen gestern jetzt abend nacht tag tage woche wochen wochenende monat jahr jahre uhr stunde zwei drei
vier funf sechs sieben acht neun zehn neu neue neuen neuer neues gut gute alt alte kommt kommen geht gehen macht machen
muss mussen soll sollen gibt liegt liegen steht bitte mehr alles etwas wieder nochmal immer
nehmen nehme nimm
""")
"""Words that are frequent in talk: times, numbers, and general verbs and nouns."""
WORD = expression(r"[a-z]+(?:-[a-z]+)*")
_DOERS = ("er", "or")
LEAST_OF_FAMILY, LEAST_OF_COMPOUND, _LONGEST_COMPOUND = 4, 7, 14
"""Least letters of a word with derived words, and of a compound; most letters of two words joined to a compound."""
_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_VALUES: Mapping[str, re.Pattern[str]] = {
    "email": expression(r"@(?<=\w@)\w+\.\w"),
    "price": expression(r"[\d£$€¥p](?:(?<=\d)\s?(?:%|per cent|元|块)|(?<=[£$€¥])\s?\d|(?<=\bp)er cent\b)"),
    "phone": expression(r"\d(?<!\d\d)[\d -]{7,}\d(?!\d)"),
}
"""Patterns of values that state a concept without its word. A search is quick if they begin with a few characters."""
_NAMING = expression(
    r"(?:\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Aa]m|be|been)|['’](?:s|re|m))(?: (?:now|also|just|still|really))? called\b"
    r"(?! (?:off|back|in|out|away)\b)|\b[Cc]all me (?=(?:just )?[A-Z])"
)
"""To be called something is no call."""


def concepts_in(text: str, *, beside: Collection[str] = ()) -> frozenset[Concept]:
    """Return the concepts of a text, by its words and the kinds of values in it; words in `beside` do not count.

    `beside` has roots of words, and words of scripts without spaces.
    """
    small, table = _folded(text), _table()
    if "call" in small:
        small = _folded(_NAMING.sub(" ", text))
    words = set(map(root_of, WORD.findall(small)))
    if not small.isascii() and UNSPACED_RUN.search(small):
        words.update(_unspaced_words().findall(small))
    if not words.isdisjoint(ALSO_ENGLISH) and is_german(small):
        words -= ALSO_ENGLISH  # `ich bin` is about no bin
    words.update(root_of(word) for word, value in _VALUES.items() if value.search(small))
    return frozenset(concept for word in words & table.keys() if word not in beside for concept in table[word])


def frequent_concepts_in(text: str) -> frozenset[Concept]:
    """Return the concepts that a text states only with words that are frequent in talk: *time*, *until*."""
    return concepts_in(text) - concepts_in(text, beside=_frequent_roots())


@cache
def _frequent_roots() -> frozenset[str]:
    return frozenset(map(root_of, WEAK_WORDS | STOP_WORDS))


def _folded(text: str) -> str:
    small = text.lower()
    return small if small.isascii() else small.translate(_UMLAUTS)


def significant_words(text: str) -> frozenset[str]:
    """Return the words of a text that belong to concepts, in the form of `beside` in `concepts_in`."""
    small = _folded(text)
    spaced = {root_of(word) for word in WORD.findall(small)}
    # the index has pairs: a single character in both texts is no shared word
    pairs = (word for word in _unspaced_words().findall(small) if len(word) > 1)
    return frozenset(word for word in {*spaced, *pairs} if word in _table())


def words_beside(text: str, most: int) -> tuple[str, ...]:
    """Return at most `most` other words for the concepts of a text; only narrow concepts are expanded."""
    spoken = concepts_in(text)
    narrow = [concept for concept in sorted(spoken) if len(_words_of(_ROWS[concept])) <= EXPANDED_MAX]
    others = [word for concept in narrow for word in _words_of(_ROWS[concept])]
    others += [word for concept in narrow for word in _german().get(concept, ())]
    return tuple(dict.fromkeys(word for word in others if word not in _folded(text)))[:most]


def relatives_of(text: str, is_word: Callable[[str], object]) -> tuple[str, ...]:
    """Return the words to search besides those of a text because they belong to the same family.

    These are agent nouns and their verbs (*bake*, *baker*), and compounds written as one word or two (*dry dock*,
    *drydock*); `is_word` returns whether the language has a word.
    """
    words = [word for word in WORD.findall(_folded(text)) if len(word) > 2 and word not in STOP_WORDS]
    relatives = [form for word in words if word not in WEAK_WORDS for form in _derived(word)]
    for word in words:
        if len(word) >= LEAST_OF_COMPOUND and not is_word(word):
            relatives += next((list(halves) for halves in _halves_of(word) if all(map(is_word, halves))), [])
    relatives += (first + second for first, second in pairwise(words) if len(first) + len(second) <= _LONGEST_COMPOUND)
    return tuple(dict.fromkeys(word for word in relatives if word not in words))


def _derived(word: str) -> Iterator[str]:
    if len(word) < LEAST_OF_FAMILY:
        return
    if word.endswith(_DOERS):
        yield word[:-2]
        yield word[:-1]
    elif not word.endswith(("ing", "ed", "s")):
        yield f"{word}r" if word.endswith("e") else f"{word}er"


def _halves_of(word: str) -> Iterator[tuple[str, str]]:
    for at in range(3, len(word) - 2):
        yield word[:at], word[at:]


def families_in(text: str, among: Set[str]) -> Set[str]:
    """Return those of these families that a text has a word of: *toast* and *toaster* belong to the same one."""
    # a word begins like its family
    starts = {family[:2] for family in among}
    return among & {family_of(word) for word in WORD.findall(_folded(text)) if word[:2] in starts}


@lru_cache(4_096)
def family_of(word: str) -> str:
    """Return an English word without inflections, and without the ending of an agent noun."""
    root = root_of(word)
    if root.endswith(_DOERS) and len(root) > LEAST_OF_FAMILY:
        return root[:-2]
    return root[:-1] if root.endswith("e") and len(root) >= LEAST_OF_FAMILY else root


def width_weight(concept: Concept) -> float:
    """Return the greatest weight of a concept: less, the more words it has."""
    width = len(_words_of(_ROWS[concept]))
    share = min(1.0, max(0.0, (width - NARROW) / (WIDE - NARROW)))
    return FULL - share * (FULL - MIN)


def is_of_people(concept: Concept) -> bool:
    """Return whether a concept is a relation between people."""
    return concept < _PEOPLE.strip().count("\n") + 1


@lru_cache(4_096)
def root_of(word: str) -> str:
    """Return an English word without common endings, which is the same for the forms of a word."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            return (
                stem[:-1] if ending in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "ls" else _bare(stem)
            )
    return _bare(word)


def _bare(stem: str) -> str:
    return stem[:-1] if len(stem) > 4 and stem.endswith("e") else stem


def _words_of(row: str) -> list[str]:
    return [word for word in row.split() if word != "|"]


@cache
def _german() -> Mapping[Concept, Sequence[str]]:
    rows = {row.split()[0]: Concept(at) for at, row in enumerate(_ROWS)}
    entries = (entry.split() for line in GERMAN_CONCEPTS.strip().split("\n") for entry in line.split("|"))
    return {rows[first]: words for first, *words in entries}


@cache
def _table() -> Mapping[str, tuple[Concept, ...]]:
    concepts_of: dict[str, tuple[Concept, ...]] = {}
    for at, row in enumerate(_ROWS):
        for word in (*_words_of(row), *_german().get(Concept(at), ())):
            key = word if UNSPACED_RUN.search(word) else root_of(word)
            concepts_of[key] = tuple(dict.fromkeys((*concepts_of.get(key, ()), Concept(at))))
    return concepts_of


@cache
def _unspaced_words() -> re.Pattern[str]:
    # longest first: 糖尿病 contains 糖
    unspaced = (word for word in _table() if UNSPACED_RUN.search(word))
    return re.compile("|".join(sorted(unspaced, key=len, reverse=True)))
