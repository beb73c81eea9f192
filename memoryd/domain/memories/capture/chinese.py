"""The Chinese forms of statements: 我叫, 我姓, 叫我, 我住在, 我的…住在, 我搬到, 我的…在…工作, 我家, 我在…工作 (上班),
我是, 我的…是, 我的…在, 我的…叫, 我的…换了, 我喜欢, 我不喜欢, 我不吃, 我讨厌, 我对…过敏, …前一定要…, 记住.
"""

import re

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.memories.capture.forms import Language, StatementForm, is_clean, value
from memoryd.domain.memories.facts.slots import HAN_DOING, is_of_type
from memoryd.domain.memories.kinds import Kind

_LEADS = expression(
    r"(?:(?:你好|您好|大家好|嗨|哈喽|嗯|哦|好的?|好吧|对了|顺便(?:说一下|说一句|提一下|说)?|另外|还有|其实|请|麻烦|帮我|请你|你要|那么?|而且|并且|然后|所以|但是?|不过|可是"
    r"|以后|今后"
    r"|现在|目前|最近|是的|对|不对|不是|错了|请?(?:帮我)?记住(?:了|一下)?|补充一下|更正一下|说明一下|介绍一下|自我介绍一下|平时|一般|通常|早上好|下午好|晚上好|谢谢|抱歉|说实话|老实说|我说过"
    r"|我说了|一直以来|从小|也|就)[，,、:：。！!~～—\s]*){0,6}+"
)
_CLAUSE = expression(r"[，,；;\s]+")
_OFTEN = (
    r"(?:最|很|也|特别|非常|更|比较|真的|一直|都|就|还是|还|只|确实|从小就?|平时"
    r"|现在|目前|超级?|挺|蛮|尤其|其实|通常|一般|从来|可|一向|暂时|长期|最近|已经|十分){0,4}"
)
_NAME_END = r"(?=\s*(?:\Z|[，,。.！!；;、（(~～\s]|是|今年|来自|不是|可以|叫我|，))"
_CALLED = expression(
    rf"做?[：:]?\s*(?P<name>[\u4e00-\u9fff·]{{1,4}}|[\u4e00-\u9fff]{{1,3}}·[\u4e00-\u9fff·]{{1,8}}"
    rf"|[A-Za-z][A-Za-z'’.-]*(?: [A-Za-z][A-Za-z'’.-]*){{0,3}}){_NAME_END}"
)
_NO_NAME = expression(r"[了你他她它您不车外卖个大声什啥谁人家爸妈哥姐老板做]|小名$|这个|那个|名字")
_NO_KINS_NAME = expression(
    r"[我你您他她它们去来吃喝做干回起别不了车个什啥谁帮把给快过写看买拿打等出进睡洗得着到苦累疼痛救停喊错]|外卖|加班|开会|上班|上学|下班"
)
_NICKNAME = expression(
    r"[：:]?\s*(?P<name>[\u4e00-\u9fff·]{1,5}?|[A-Za-z][A-Za-z'’.-]*(?: [A-Za-z][A-Za-z'’.-]*){0,2})"
    r"\s*(?:就(?:好|行|可以|成|OK|ok)[了啦吧]?|吧|即可|好了|呀|哦|啊)?(?=\s*(?:\Z|[，,。.！!；;~～]))"
)
_NO_NICKNAME = expression(
    r"[去来起做干吃过回帮给别不怎再买在到一下早晚滚开快什啥谁的了把看写学背还交加跑等打喝洗睡先也为你他她它]|.*(?:大人|女王|陛下|主人|爸爸|祖宗|老天|重启)"
)
_BARE = expression(
    r"\s*(?:你|您|它|这(?!里的|边的)|那(?!里的|边的)|他(?!们)|她|上面|刚才|第[一二三四五]|前者|后者|前面|后面|以上|上了|什么|哪|吗|[。！!，,]|\Z|的\Z|得|选项|方案)"
)
_NO_PLACE = expression(
    r"\s*(?:这里|那里|这儿|那儿|一起|隔壁|哪|一个|梦|酒店|旅馆|宾馆|医院|[^，。]{0,4}家(?:里)?这|[，,。]|\Z)(?!.*[市区县省镇村路街号])"
)
_NO_WORK = expression(
    r"(?:努力|认真|加班|拼命|专心|外面|这里|那里|这儿|周末|晚上|早上|白天|夜里|正常|不停|辛苦|一边|全力|那边|哪|什么|上|好好)"
    rf"|{HAN_DOING}"
)
_KIN_IS_AT = expression(
    r"(?:开会|安静|默默)|(?:学校|公司)\Z|[为给替跟帮]|.*(?:家里?|[厨书]房|房间|客厅|楼[上下]|班上)\Z"
)
"""Where a relative is for a moment, or whom they help: no place of work or study."""
_NO_ALLERGY = expression(r"(?:你|他|她|它|这|那|工作|周一|早起|上班|开会|学习|数学|加班|什么|哪|爱情|恋爱)")
_FLEETING = expression(
    r"(?:问题|意思|想法|建议|看法|理解|代码|程序|电脑|目的|意见|感觉|猜测|错|观点|疑问|要求|请求|需求|任务|作业|论文|文章|答案|回答|回复|心情|头|肚子|脑子|眼睛|时间|运气|屏幕|网络|网|文件"
    r"|报错|结论|重点|印象|经验|体会|天|妈呀|态度|做法|打算|初衷|原则|底线|英语|中文|会议|会|不|订单号?|单号|快递号?|银行卡号?|信用卡号?|卡号|选择|判断|愿望|梦想是如|声音|荣幸|责任|世界|生活|人生)\Z"
)
_NO_VALUE = expression(
    r"\s*(?:不|没|否|什么|怎么|对的|错的|好的|坏的|因为|为了|想|要|说|指|把|让|如何|这样|那样|这个|那个|关于|很|非常|太|在(?!\w*(?:月|年))|今天|明天|后天|昨天|个?(?:混蛋|傻|笨|坏|王八|秘密|好)|一?个(?:混蛋|傻\w|笨蛋|坏蛋|小坏蛋|好\w)|秘密|坏|最好|谁|哪(?!吒)|多少|一样|新的|旧的|空的|的|，|,|你|我)"
)
_NEW_HOME = expression(
    r"[^，,。.!！？\s]{0,14}(?:[市区县省镇村栋]|[路街](?![上口边])|号(?![桌位])|楼(?![上下])|公寓|宿舍)"
    r"|(?![\u4e00-\u9fff]*(?:[上下里面边厅间壁桌发室库廊端卧院位排起去坐睡]|下周|公司|阳台|别处|[门窗路]口)了?\W*\Z)"
    r"[\u4e00-\u9fff]{2,3}?了?\W*\Z"
)
"""A place with a word for it, or two or three characters that end like no part of a house: 上海, not 楼上."""
_ANY = expression("")
_WORD = expression(r"\w")


def _is_name(head: TextMatch, rest: str) -> bool:
    called = _CALLED.match(rest)
    return is_clean(head.string, head.end()) and called is not None and not _NO_NAME.match(called["name"])


def _is_family_name(head: TextMatch, _rest: str) -> bool:
    return is_clean(head.string, head.end()) and not _NO_NAME.match(head["name"])


def _is_kins_name(_head: TextMatch, rest: str) -> bool:
    called = _CALLED.match(rest)
    return called is not None and not _NO_KINS_NAME.search(called["name"])


def _is_nickname(_head: TextMatch, rest: str) -> bool:
    nickname = _NICKNAME.match(rest)
    return nickname is not None and not _NO_NICKNAME.match(nickname["name"])


def _works(head: TextMatch, _rest: str) -> bool:
    return not _NO_WORK.match(head["place"])


def _kin_works(head: TextMatch, rest: str) -> bool:
    return _works(head, rest) and not _KIN_IS_AT.match(head["place"])


def _is_fact(head: TextMatch, rest: str) -> bool:
    is_value = _WORD.search(rest) and is_of_type(head["noun"] or head["kin"], rest) and not _NO_VALUE.match(rest)
    return bool(is_value) and not _FLEETING.search(head["noun"] or "")


def _is_place(head: TextMatch, rest: str) -> bool:
    return bool(_WORD.search(rest)) and not _FLEETING.search(head["noun"]) and not _BARE.match(rest)


def _is_allergy(head: TextMatch, _rest: str) -> bool:
    return not _NO_ALLERGY.match(head["what"])


_PROFESSION = expression(
    r"(?!你|您|他|她|它|说|想|来|在|去|第|为|不|这|那|因为|真|认真|最|被|从(?!事)|谁|什么|怎么|一个好|只)(?:一?[个名位])?[^，,。.！!？\s是]{0,10}?"
    r"(?:[\u4e00-\u9fff]师|[\u4e00-\u9fff]员|[技电木钳焊员]工|医生|护士|教授|学生|博士|硕士|研究生|会计|司机|经理|总监|主管|顾问|记者|编辑|作家|画家|老板|店[主长]"
    r"|创始人|公务员|军人|警察|农民|宝妈|妈妈|爸爸|父亲|母亲|左撇子|素食(?:主义)?者|糖尿病(?:患者|人)?"
    r"|(?!.{0,4}(?:好|坏|男|女|病|主|客|机器|外星|大|个|老|新|通|本|别|聪明)人)[\u4e00-\u9fff]{2,5}人)(?=[，,。.！!~～\s]|\Z)"
)
_NO_HOME = expression(
    r"\s*(?:装修|停电|停水|吃|做|等|开|看|睡|点|事|人来|客人|急事|问题|没|不|吗|什么|谁|哪|了|得|的\Z|[，,。！!]|\Z)"
)


def _is_remembered(_head: TextMatch, rest: str) -> bool:
    text = rest.strip(" ，,：:。！!了")
    return len(text) > 2 and not re.match(
        r"(?:没|了吗|这(?:个|一)?(?:点|件事)?[。，!！]|刚才|你(?!可以)|这一?[刻天次]|变量|函数|参数|代码|我[！!。，]?\Z|我说的话?\Z|教训)",
        text,
    )


_ALLERGENS = (
    "(?:花生|海鲜|虾|蟹|螃蟹|贝类|鱼|牛奶|乳糖|鸡蛋|坚果|核桃|腰果|杏仁|芒果|菠萝|桃子|猕猴桃|草莓|大豆|小麦|麸质|花粉|柳絮|尘螨|猫毛|狗毛|酒精|青霉素|头孢"
    "|阿司匹林|乳胶|芝麻)"
)
_KIN = (
    "(?:妻子|太太|老婆|丈夫|先生|老公|爱人|爸妈|父母|爸爸?|妈妈?|父亲|母亲|女儿|儿子|孩子|哥哥?|弟弟|姐姐?|妹妹|爷爷|奶奶|外公|外婆|男朋友|女朋友"
    "|女友|男友|室友|老板|同事|导师|老师|上司|生日|老家|家乡|专业|职业|国籍|母语)"
)
"""Relatives and attributes that in Chinese may follow 我 without a possessive particle."""

_FOOD = expression(
    r"(?!.*(?:了|什么|[早午晚夜]?饭|早餐|午餐|晚餐|东西|药|醋|亏|这|那|你|我|他|她|今|明|[吗呢吧啊嘛]))"
    r"[\u4e00-\u9fff]{1,6}(?:[、和][\u4e00-\u9fff]{1,6}){0,3}\s*(?:\Z|[。.！!；;])"
)
_LIKED = value(_ANY, unlike=_BARE, is_own=True)
_FORMS = (
    StatementForm("我叫", Kind.ENTITY, expression(r"我(?:的?名字)?叫"), _is_name, is_pinned=True),
    StatementForm(
        "我姓",
        Kind.ENTITY,
        expression(r"我姓(?P<name>[\u4e00-\u9fff]{1,2})(?=\s*[，,。.！!~～]|\s*\Z)"),
        _is_family_name,
        is_pinned=True,
    ),
    StatementForm(
        "叫我",
        Kind.ENTITY,
        expression(r"(?:你们?|您|大家)?(?:可以|就|以后|也可以|都|直接|请|平时|还是){0,4}叫我"),
        _is_nickname,
        is_pinned=True,
    ),
    StatementForm("我住在", Kind.FACT, expression(rf"我{_OFTEN}住在"), value(unlike=_NO_PLACE)),
    StatementForm("我的…住在", Kind.FACT, expression(rf"我(?:的|家的?)?{_KIN}{_OFTEN}住在"), value(unlike=_NO_PLACE)),
    StatementForm(
        "我搬到", Kind.FACT, expression(rf"我(?:们家?|家)?{_OFTEN}(?:刚|刚刚)?搬(?:家)?[到去进]了?"), value(_NEW_HOME)
    ),
    StatementForm(
        "我的…在…工作",
        Kind.FACT,
        expression(
            rf"我(?:的|家的?)?{_KIN}{_OFTEN}在(?P<place>[^，,。.!！？\s]{{1,16}}?)"
            r"(?:工作|上班|任职|实习|教书|[读念]书|[读念]研|上[大中小]?学|当[\u4e00-\u9fff]{2,4})(?=[，,。.！!~～\s]|\Z)"
        ),
        _kin_works,
    ),
    StatementForm(
        "我在…工作",
        Kind.FACT,
        expression(
            rf"我{_OFTEN}在(?P<place>[^，,。.!！？\s]{{1,24}}?)"
            r"(?:工作(?!日|量|中|的时候|时|室|上|效率|压力|流|群|了一天|的(?=\S))|(?:上班|任职|就职|实习|教书)(?!的|时|路|途|迟|族|高峰|了一天|呢|吗))"
        ),
        _works,
    ),
    StatementForm(
        "我的…是",
        Kind.FACT,
        expression(rf"我(?:(?:{_KIN}|们家|家)?的(?P<noun>[^，,。.!！？\s是]{{1,16}})|(?P<kin>{_KIN}{_KIN}?))是"),
        _is_fact,
    ),
    StatementForm(
        "我的…在",
        Kind.FACT,
        expression(
            r"我(?:家)?的(?P<noun>[^，,。.!！？\s是在放存]{1,10})(?:都|一直|平时|就)?(?:[放存]在|在(?=[^，,。.!！？\s]*[0-9A-Za-z]))"
        ),
        _is_place,
    ),
    StatementForm(
        "我的…叫",
        Kind.FACT,
        expression(rf"我(?:的|家的?)?(?P<kin>{_KIN}|狗|猫|狗狗|猫咪)(?:的?名字)?叫"),
        _is_kins_name,
    ),
    StatementForm("我是", Kind.FACT, expression(rf"我{_OFTEN}是"), value(_PROFESSION)),
    StatementForm(
        "我家",
        Kind.FACT,
        expression(r"我家(?:里|现在|一共|就){0,2}(?:在|住在?|有|养了?|是(?!不是))"),
        value(unlike=_NO_HOME),
    ),
    StatementForm(
        "我的…换了",
        Kind.FACT,
        expression(
            r"我的?(?:邮箱|电话|手机号?|号码|地址|住址|工作|单位|公司|名字|车牌?|微信号?|职位|部门|专业|学校|医生|导师|办公室)"
            r"(?:已经|都|刚|最近){0,2}(?:换|变|改)(?:了|成|为)"
        ),
        value(_ANY),
    ),
    StatementForm(
        "我讨厌",
        Kind.PREFERENCE,
        expression(rf"我{_OFTEN}(?:讨厌|受不了|最怕)"),
        _LIKED,
    ),
    StatementForm(
        "…前一定要…",
        Kind.LESSON,
        expression(
            r"(?:每次)?[^，,。.！!？\s]{1,12}(?:前|后)[，,]?(?:都|一定|务必|必须|永远)(?:都|要|先|得|不要|不能|别){1,3}(?=[\u4e00-\u9fffA-Za-z])"
        ),
        value(_ANY),
    ),
    StatementForm(
        "我不喜欢",
        Kind.PREFERENCE,
        expression(rf"我{_OFTEN}不(?:太|怎么|是很|大|那么)?喜欢"),
        _LIKED,
    ),
    StatementForm(
        "我不吃", Kind.FACT, expression(r"我(?:从来|一直|从小)?不(?:吃|喝)(?![了完下惯得这那])"), value(_FOOD)
    ),
    StatementForm("我喜欢", Kind.PREFERENCE, expression(rf"我{_OFTEN}喜欢(?![^，。]*的[^，。是]*了\W*\Z)"), _LIKED),
    StatementForm(
        "我对…过敏",
        Kind.FACT,
        expression(
            rf"我(?:家?的?{_KIN})?{_OFTEN}对(?P<what>[^，,。.!！？\s]{{1,24}}?)(?:严重|有点|轻微|会|都|也|很|有){{0,3}}过敏"
        ),
        _is_allergy,
    ),
    StatementForm("我对…过敏", Kind.FACT, expression(rf"我(?:从小)?(?P<what>{_ALLERGENS})过敏(?=\W|\Z)"), _is_allergy),
)
_REMEMBER = StatementForm(
    "记住",
    Kind.NOTE,
    expression(
        r"(?:请|麻烦|帮我|请帮我|你|你要|一定要|务必|要|请你|好好|给我|那|还有|另外|对了|顺便|也|先|好的?|以后|[，,\s]){0,6}(?:记住|(?:别|不要|千万别)忘(?:了|记))(?:一下|哦|啊|[，,：:\s])*"
    ),
    _is_remembered,
)
CHINESE = Language(_LEADS, _CLAUSE, _FORMS, _REMEMBER)
