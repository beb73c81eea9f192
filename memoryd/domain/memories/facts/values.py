"""The values of a statement (numbers, dates, weekdays, times of day, and negation), and the statement without them.

Names are not values: a number that names a thing (`Room 101 …`, `3号线…`), a value before the verb (`sensor 3 is
broken`, `the flight on Dec 3 is booked`), a month or numeral in a person's name, a word with digits in it. `now`, 目前
and the like add nothing to the day of the line. Words are compared without case and punctuation, other signs as
written. In doubt two statements are two facts.

Statements about past events have no versions. In English the first finite verb decides: a simple past (the ending -ed,
or one of the irregular forms, which are a closed class), or a perfect, unless it leads to a present state (`has
moved to`). In Chinese it is 了 or 过 after the verb, except 了 at the end of a change (改到…了, 不再…了). In doubt a
statement is about the past.
"""

import unicodedata
from itertools import islice

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.text.dates import MONTH

MAX_VALUES = 8
"""Most values of a statement that can have versions: a longer list is a table."""
_MAX_NUMBERS = 32
"""Most numbers of a statement, including names, because the text before each is examined."""
MAX_CHARS = 2_000
_SLOT = "\x00"

HAN = "\u4e00-\u9fff"
HAN_SIGN = expression(f"[{HAN}]")
WEEKDAY = (
    "(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?)"
)
_MONTH = rf"{MONTH}\.?"
_NUMERAL = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|dozen|once|twice)"
)
_UNIT = "(?:mg|µg|μg|g|kg|ml|l|km|cm|mm|m|h|min|s|gb|mb|tb|kb|%|°c|°f|°|€|k)"
_DIGITS = r"[-−+]?[0-9](?:[0-9]|[.,:/-](?=[0-9])){0,40}+"
_DATE = (
    rf"(?:{WEEKDAY}|(?<![\w.])[0-9]{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s[0-9]{{4}})?(?!\w)"
    rf"|\b{_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?(?:,?\s[0-9]{{4}})?(?!\w)|\b{_MONTH}\s[0-9]{{4}}(?!\w)"
    rf"|(?<![\w.]){_DIGITS}\s?(?:[ap]\.?m\b\.?|o'clock\b|uhr\b)|(?<![\w.])[0-9]{{1,2}}:[0-9]{{2}}(?!\w)"
    r"|(?<![\w.])[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\w))"
)
_LINK = r"(?:,\s?|\s(?:at|on|from|to|until|the)\s|\s?[-–—]\s?|,?\s)"
_AFTER_WORD = r"(?<=\bin\s)|(?<=\bby\s)|(?<=\buntil\s)|(?<=\bsince\s)|(?<=\bof\s)|(?<=\bto\s)|(?<=\bfrom\s)"
_HAN_DIGITS = "(?<![0-9])(?:[0-9]{1,15}+(?:[.,:/-][0-9]{1,9}+){0,3}+|[零〇一二两三四五六七八九十百千万亿半]{1,12}+)"
_MEASURE = (
    "(?:个|片|粒|颗|次|点|號|号|日|月|年|周|天|小时|分钟|分|秒|元|块|毛|万|亿|杯|瓶|岁|公斤|千克|毫克|微克|克|斤|米|公里|厘米|毫米"
    "|楼|层|室|单元|度|页|章|道|倍|折|成|位|名|人|本|张|条|家|间|辆|台|件|份|套|节|版|路|遍|顿|倾|亩|毫升|升|平方米|平米|英里|美元|欧元)"
)
_HAN_DATE = (
    rf"(?:{_HAN_DIGITS}年)?{_HAN_DIGITS}月(?:{_HAN_DIGITS}[日号])?|(?:下周|上周|这周|周|星期|礼拜)[一二三四五六日天](?![次个])"
    rf"|(?:凌晨|早上|上午|中午|下午|晚上){_HAN_DIGITS}点(?:半|{_HAN_DIGITS}分?)?|{_HAN_DIGITS}点(?:半|{_HAN_DIGITS}分?)"
)
_VALUE = expression(
    rf"(?P<date>\b{_DATE}(?:{_LINK}{_DATE}){{0,3}})"
    rf"|(?P<month>(?:{_AFTER_WORD})(?:{_MONTH}|spring|summer|autumn|winter)(?!\w))"
    rf"|(?P<han_date>(?:{_HAN_DATE})(?:\s?(?:{_HAN_DATE})){{0,3}})"
    rf"|(?P<number>(?<![\w.]){_DIGITS})(?={_UNIT}?(?![A-Za-z0-9_])|[\u4e00-\u9fff])"
    rf"|(?<=[\u4e00-\u9fff])(?P<code>{_DIGITS})(?={_UNIT}?(?![A-Za-z0-9_]))"
    rf"|(?P<han>{_HAN_DIGITS})(?={_MEASURE})|(?<=百分之){_HAN_DIGITS}"
    r"|(?P<large>[一二两三四五六七八九十百千半]{1,11}[百千万亿](?![\u4e00-\u9fff]))"
    rf"|(?P<word>\b{_NUMERAL}(?:[\s-]{_NUMERAL}){{0,4}}\b)"
)
"""Values in lower-case text."""
_CODED = caseless(r"\b(?:code|password|passcode|pin|passphrase|serial)\b|密码|口令|验证码")
_CODE = expression(
    r"(?<=\sis\s)[\w-]{0,40}?[0-9][\w-]{0,40}(?!\w)|(?:(?<=[:=是为]\s)|(?<=[:=：是为]))[A-Za-z0-9-]{2,40}(?!\w)"
)
_DESIGNATED = caseless(
    r"(?:\s*(?:the|in|on|at)\s)?\s*(?:rooms?|bus|line|tram|train|chapter|page|form|gate|platform|track|seat|table|house"
    r"|building|block|task|ticket|issue|step|item|section|part|level|exercise|question|number|no\.?|nr\.?|lesson|episode"
    r"|season|grade|class|team|group|player|lane|exit|route|zone|phase|option|case|order|invoice|bug|sprint|floor|flat"
    r"|apartment|unit|locker|door|box|key|server|printer|port|day|week|quarter|#)\s?#?\Z"
)
_LONGEST_DESIGNATOR = 24
_HAN_DESIGNATED = expression(
    "第?(?:[0-9]+|[一二三四五六七八九十]+)(?:号|路|单元|室|楼|层|章|班|组|页|节|区|库|门|栋|幢|期|课|轮|版|届)"
)

_VERB = caseless(
    r"\b(?:is|are|am|was|were|be|been|has|have|had|will|would|can|could|may|might|must|should|shall|costs?|takes?|took|gets?"
    r"|needs?|weighs?|measures?|lasts?|pays?|starts?|begins?|ends?|opens?|closes?|leaves?|arrives?|departs?|goes|go|comes?"
    r"|meets?|wakes?|eats?|drinks?|sleeps?|works?|lives?|moved|moves?|changed|changes?|became|becomes?|switched|runs?|uses?"
    r"|listens?|wants?|prefers?|owns?|owes?|earns?|charges?|holds?|keeps?|stands?|stays?|sits?|hangs?|lies|reads?|sends?"
    r"|receives?|expires?|renews?|happens?|publishes|ships?|delivers?|allows?|accepts?|returns?|contains?|equals?|says?"
    r"|rose|fell|grew|dropped|raised|lowered|set|due|scheduled|planned|booked|moved|postponed|limited|capped|expects?)\b"
    r"|['’]s\s(?=[0-9])|[:=→]|(?<=[a-z]\s)(?<!\bthe\s)(?<!\bour\s)(?<!\bmy\s)(?<!\bno\s)[a-z]{3,20}s(?=\s)"
)
"""What may precede a value, also a word in -s that may be a verb; a number before all of these names the subject."""
_QUANTITY = caseless(
    r"\b(?:price|rent|fee|dose|dosage|salary|wage|weight|height|budget|limit|rate|temperature|deadline|phone|mobile)"
    r"\s(?:of\s)?[^\w\s]?\Z"
)
_CODE_WORD = caseless(r"\b(?:code|password|passcode|pin|passphrase)\s\Z")
_CODE_CHARS = 4
"""With fewer characters, a number after `pin` is the number of a pin."""
_HAN_VERB = expression("[是为在要有吃喝服用每共约改到从需花付住放等于最调降升减加换订定：:=]|开始|结束|出发")
_HAN_AMOUNT = expression(
    "\\s?(?:片|粒|颗|次|天|小时|分钟|元|块|毛|万|亿|杯|瓶|岁|公斤|千克|毫克|微克|克|斤|米|公里|厘米|毫米|度|倍|折|成|毫升|升|平方米|平米|英里|美元|欧元)"
)
_AMOUNT = caseless(
    rf"\s?(?:{_UNIT}|euros?|dollars?|pounds?|hours?|minutes?|days?|weeks?|months?|years?|times|cups?|tablets?|pills?|spoons?"
    r"|tsp|tbsp|degrees|percent|people|words|characters|chars)(?![A-Za-z0-9_])"
)

_NOT = caseless(
    r"\b(?:no\slonger|never|not)\b|n['’]t\b|(?P<han>不再|[不没](?![过错断管论少仅]|同(?!意))|(?<![特区个性分])别(?=[给去来吃做用买]))"
)
_WIDE = {ord(wide): narrow for wide, narrow in zip("０１２３４５６７８９．：", "0123456789.:", strict=True)}
_ANY_MORE = caseless(r"\s(?:any\s?more|any\slonger)\b")
_DOES_NOT = caseless(r"\bdoes(?:\snot|n['’]t)\s(?P<verb>[a-z]{2,30})\b")
_DO_NOT = caseless(r"\b(?:do(?:\snot|n['’]t))\s(?=[a-z])")
_CONTRACTED = caseless(r"\b(?:can['’]t|cannot|(?P<will>won['’]t))\b")
_TODAY = caseless(
    r"\b(?:now|nowadays|currently|today|from\snow\son|these\sdays)\b[,]?\s?|现在起?|目前|如今|从今天起|从现在起"
)
"""Words that only mean the day of the line."""
_WORDS = expression(r"\w+|[^\w\s.,;:!?。，；：！？、\"'“”‘’()（）]")

_PLAIN_WORD = expression(r"(?<!\w)[a-z]{4,}(?!\w)")
_HAN_PLAIN = expression(
    "[\u4e00-\u9fff](?<![零〇一二两三四五六七八九十百千万亿半年月日号周星期礼拜上下这凌晨早午中晚点分天末不没再别])"
)
_OF_VALUES = word_set("""
january february march april june july august sept september october november december monday tuesday wednesday thursday
friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays spring summer autumn winter zero
three four five seven eight nine eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
thirty forty fifty sixty seventy eighty ninety hundred thousand half dozen once twice clock from until
""")


class FactSkeleton(Struct, frozen=True):
    """The words of a statement without its values, and the values in order, followed by the number of negations."""

    words: str
    values: tuple[str, ...]


def fact_skeleton(text: str) -> FactSkeleton | None:
    """Return the skeleton of a statement; None if it contains too much to have versions."""
    if len(text) > MAX_CHARS or _SLOT in text:
        return None
    plain, negations = _affirmed(" ".join(unicodedata.normalize("NFC", text).translate(_WIDE).split()))
    if next(islice(_VALUE.finditer(plain.lower()), _MAX_NUMBERS, None), None) is not None:
        return None
    values: list[str] = []

    def slot(match: TextMatch) -> str:
        if _names_a_thing(match):
            return match[0]
        values.append(match[0])
        return f" {_SLOT} "

    rest = _VALUE.sub(slot, (_CODE.sub(slot, plain) if _CODED.search(plain) else plain).lower())
    if len(values) > MAX_VALUES or is_past_event(plain):
        return None
    return FactSkeleton(" ".join(_WORDS.findall(rest)), (*values, str(negations)))


def rough_words(text: str) -> str:
    """Return words that are equal if two skeletons have equal words.

    The condition is necessary, not sufficient, but computed much faster.
    """
    if _CODED.search(text):
        return ""
    plain = _affirmed(unicodedata.normalize("NFC", text))[0].lower()
    words = " ".join(word for word in _PLAIN_WORD.findall(plain) if word not in _OF_VALUES)
    return words if plain.isascii() else words + "".join(_HAN_PLAIN.findall(plain))


def _names_a_thing(match: TextMatch) -> bool:
    """Return whether a number or date is part of the name of the thing that a statement is about."""
    text, start = match.string, match.start()
    if _DESIGNATED.fullmatch(text, 0, start) or (start <= 1 and _HAN_DESIGNATED.match(text, start)):
        return True
    if HAN_SIGN.search(text):
        is_behind = _HAN_VERB.search(text, 0, start) or _VERB.search(text, 0, start)
        is_value = is_behind or match["date"] or match["han_date"] or match["month"] or match["large"]
        return not (is_value or _HAN_AMOUNT.match(text, match.end()))
    if _VERB.search(text, 0, start):
        return False
    if match["date"] or match["month"]:
        # in a statement without any verb it is the value
        return _VERB.search(text, match.end()) is not None
    before = text[max(0, start - _LONGEST_DESIGNATOR) : start]
    is_code = len(match[0]) >= _CODE_CHARS and _CODE_WORD.search(before)
    return not (is_code or _AMOUNT.match(text, match.end()) or _QUANTITY.search(before))


def _affirmed(text: str) -> tuple[str, int]:
    """Return a statement without its negations, and how many it had."""
    plain = " ".join(_TODAY.sub("", text).split()) or text
    plain, does = _DOES_NOT.subn(lambda match: _third_person(match["verb"]), plain)
    plain, do = _DO_NOT.subn("", plain)
    plain, cannot = _CONTRACTED.subn(lambda match: "will" if match["will"] else "can", plain)
    plain, others = _NOT.subn(lambda match: "" if match["han"] else " ", plain)
    count = does + do + cannot + others
    return (_ANY_MORE.sub("", plain) if count else plain), count


def _third_person(verb: str) -> str:
    small = verb.lower()
    if small == "have":
        return "has"
    if small.endswith("y") and small[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if small.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


IRREGULAR = (
    "arose|ate|awoke|became|began|bent|bit|bled|blew|bore|born|bought|bound|bred|broke|brought|built|burnt|came|caught"
    "|chose|clung|crept|dealt|did|drank|drew|dreamt|drove|dug|fed|fell|felt|fled|flew|flung|forbade|forgot|forgave"
    "|fought|found|froze|gave|got|grew|ground|had|heard|hid|held|hung|kept|knelt|knew|laid|lay|leapt|learnt|led|left"
    "|lent|lit|lost|made|meant|met|overcame|overslept|paid|ran|rang|rode|rose|said|sang|sank|sat|saw|sent|shone|shook"
    "|shot|shrank|slept|slid|smelt|sold|sought|spelt|spent|spilt|spoilt|spoke|sprang|spun|stank|stole|stood|struck|stuck"
    "|stung|strode|strove|swam|swept|swore|swung|taught|thought|threw|told|took|tore|understood|undid|was|went|wept"
    "|were|withdrew|woke|won|wore|wound|wove|wrote"
)
"""Simple pasts that differ from the base form."""
PARTICIPLE = (
    r"(?:[a-z]{2,}ed|been|begun|bitten|blown|broken|chosen|come|cut|done|drawn|driven|drunk|eaten|fallen|flown|forgotten"
    r"|frozen|given|gone|grown|hidden|hit|known|put|ridden|risen|run|rung|seen|set|shaken|shown|shut|spoken|stolen|sung"
    r"|sunk|swum|sworn|taken|thrown|torn|woken|won|worn|written|"
    rf"{IRREGULAR})"
)
_BASE_ALIKE = "beat|bet|cast|cost|cut|hit|hurt|let|put|quit|read|set|shut|split|spread"
"""Pasts that differ from the present only by the missing -s of the third person."""
PRESENT = (
    "is|are|am|be|has|have|will|would|can|could|(?-i:may)|might|must|should|shall|does|do|costs|takes|gets|needs|weighs|measures"
    "|lasts|pays|starts|begins|ends|opens|closes|leaves|arrives|departs|goes|comes|meets|wakes|eats|drinks|sleeps|works"
    "|lives|moves|changes|becomes|runs|uses|listens|wants|prefers|owns|owes|earns|charges|holds|keeps|stands|stays|sits"
    "|hangs|lies|reads|sends|receives|expires|renews|happens|publishes|ships|delivers|allows|accepts|returns|contains"
    "|equals|says|expects|asks|answers"
)
_NO_FINITE_BEHIND = (
    r"(?<!\bthe\s)(?<!\ba\s)(?<!\ban\s)(?<!\bmy\s)(?<!\bour\s)(?<!\bhis\s)(?<!\bher\s)(?<!\bits\s)(?<!\btheir\s)"
    r"(?<!\byour\s)(?<!\bthis\s)(?<!\bthat\s)(?<!\bas\s)(?<!\bof\s)(?<!\bin\s)(?<!\bwith\s)(?<!\bfor\s)(?<!['’]s\s)"
    r"(?<!\bno\s)(?<!\bthan\s)(?<!\bif\s)"
)
"""After these a form in -ed is an adjective: `the limited edition`, `my left monitor`, `as planned`."""
_FINITE = caseless(
    rf"\b(?P<perfect>(?:has|have|['’]ve)\s(?:(?:not|just|already|never|also|ever|now)\s)*{PARTICIPLE}\b)(?:\s\w+ed)?"
    rf"(?P<to>\s(?:back\s)?to\b)?|\b(?:{PRESENT})\b"
    rf"|(?P<past>{_NO_FINITE_BEHIND}\b(?:{IRREGULAR}|[a-z]{{2,}}(?<!e)ed(?<!\bbed)(?<!\bred))\b)"
    rf"|\b(?:he|she|it)\s(?P<bare>{_BASE_ALIKE})\b"
)
"""Finite verbs; the first match decides."""
_NAME_BEFORE = expression(rf"\b[A-Z][a-z]+\s(?:{_BASE_ALIKE})\b")
PAST_TIME = caseless(
    r"(?<!since )\b(?:yesterday|last\s(?:night|week|month|year|spring|summer|autumn|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|ago|used\sto|born)\b|昨[天晚日]|前天|上(?:周|个?星期|个?月)|去年|前年"
)
_HAN_ASPECT = expression(
    "(?<![为除罢到成至回])了(?![解不])(?!\\s*[，。！；,.!;]*\\s*\\Z)"
    "|(?<=[\u4e00-\u9fff])(?<![不通超经越路])过(?![敏期年程去来于度滤节世户道错])"
)
_HAN_END = expression("了\\s*[，。！；,.!;]*\\s*\\Z")
_HAN_HOLDS = expression("[到成为至回给是不没别叫归]")
"""Verbs that lead to a state, or deny one: with 了 at the end, the state holds from now on."""


def is_past_event(text: str) -> bool:
    """Return whether a statement is about a past event, which stays true whatever later statements say."""
    if PAST_TIME.search(text):
        return True
    if not text.isascii() and (_HAN_ASPECT.search(text) or (_HAN_END.search(text) and not _HAN_HOLDS.search(text))):
        return True
    finite = _FINITE.search(text)
    if finite is None:
        return _NAME_BEFORE.search(text) is not None
    if finite["perfect"]:
        return not finite["to"]
    return bool(finite["past"] or finite["bare"])
