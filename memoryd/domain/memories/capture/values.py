"""Typed values of a statement, and the content words of a text with their rarity.

A value may be replaced by another value of its type: a time, days, a date, a phone number, an amount of a unit, a
number or a name after the same noun. Two statements about one thing that have different values of one type are an old
and a new version.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.facts.values import HAN, WEEKDAY
from memoryd.domain.text.dates import MONTH
from memoryd.domain.text.words import STOP_WORDS

_NUMERALS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half"
)
NUMERAL = rf"(?:(?:{_NUMERALS})(?:[ -](?:{_NUMERALS}))*)"
HAN_NUMBER = r"(?:\d+(?:[.,]\d+)*|[零〇一二两三四五六七八九十百千万半]+)"
_HAN_DAY = "[一二三四五六日天]"
_PART = "(?:凌晨|清晨|清早|早晨|早上|上午|中午|下午|傍晚|晚上|夜里)"
_ONE_OCLOCK = (
    "(?=一[点时](?:半|整|钟|[一二三]刻|(?:开[会始门车]|见面|出发|集合|[上下][课班]|起飞|到[达场]|结束|关门)))"
    "|(?<=[号午])(?!一[点时][也都儿不没])|(?<=[今明后当][天晚早])(?!一[点时][也都儿不没])|(?<=[周期拜][一二三四五六日天])"
    "|(?<=[到在是于为从至])(?=一[点时](?:了|[到至]|以?[前后]|\\s*(?:[，。；！、,.;!]|\\Z)))"
)
"""Contexts in which 一点 is one o'clock; elsewhere it means *a bit*."""
MEASURE = (
    "(?:个月|个小时|小时|分钟|公斤|千克|毫克|微克|公里|厘米|毫米|毫升|平方米|平米|美元|欧元|号楼|单元|块钱|万元|元"
    "|块|毛|年|天|周|岁|斤|克|片|粒|颗|次|人|位|个人"
    "|名|层|楼|室|号|度|米|倍|折|杯|瓶|本|张|条|家|辆|台|件|份|套|门|路|码|寸|升|级)"
)
_TITLE = (
    "(?:主任|老师|医生|大夫|教授|师傅|经理|总监|阿姨|叔叔|护士|教练|律师|会计|老板|主管|科长|处长|局长|院长|校长|警官"
    "|师兄|师姐|姐|哥|总)"
)
_TYPED = caseless(
    rf"(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\bwww\.\S+)"
    rf"|(?P<date>\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b(?: \d{{4}})?"
    rf"|\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|\b\d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|\b\d{{1,2}}\. {MONTH}\b(?: \d{{4}})?|(?:(?<=\bam )|(?<=\bden )|(?<=\bzum )|(?<=\bvom ))\d{{1,2}}\.(?!\d)"
    rf"|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b"
    rf"|(?:{HAN_NUMBER}年)?{HAN_NUMBER}月(?:{HAN_NUMBER}[日号]|[初中底]|份)?|{HAN_NUMBER}(?:日"
    rf"|号(?![楼线店门院室桌馆厅])))"
    rf"|(?P<time>\b\d{{1,2}}[:.]\d{{2}}(?:\s?[ap]\.?m\b\.?)?(?!\d|\.\d)|\b\d{{1,2}}\s?(?:[ap]\.?m\b\.?|o['’]clock|uhr\b)"
    rf"|(?:(?<=\bat )|(?<=\bby )|(?<=\buntil )|(?<=\btill )|(?<=\bfrom )|(?<=\bbefore )|(?<=\bafter )|(?<=\bto ))"
    rf"(?:(?:half|quarter|\d{{1,2}}|{NUMERAL})(?: past| to) )?(?:{NUMERAL}|\d{{1,2}}|noon|midnight)(?: o['’]clock)?\b"
    rf"(?=\s*(?:\Z|[,.;!)](?!\d)|(?:on|in|at|from|to|and|until|till|as|now|sharp|every|each|since|with|again|instead|not)\b))"
    rf"|(?:{_PART}|(?!一[点时])|{_ONE_OCLOCK}){HAN_NUMBER}[点时](?:半|整|钟|[一二三]刻|{HAN_NUMBER}分?)?(?!间))"
    rf"|(?P<days>\b{WEEKDAY}(?:(?:,\s*| and | or | to | until | till | through |\s?[–-]\s?| & ){WEEKDAY})*\b"
    rf"|(?<![一二两三四五六七八九十\d])(?:星期|周|礼拜){_HAN_DAY}(?!次|个|天|遍|回)"
    rf"(?:(?:[、和与到至跟]|[,，](?=(?:星期|周|礼拜){_HAN_DAY}))?(?:星期|周|礼拜)?{_HAN_DAY}(?![个次点号楼]))*)"
    rf"|(?P<phone>(?<![A-Za-z0-9.,-])\+?\(?\d(?:[ ()/-]{{0,2}}\d){{6,}}(?![A-Za-z0-9]|[.,]\d))"
    rf"|(?P<money>[£€$¥￥]\s?\d[\d.,]*\d|[£€$¥￥]\s?\d)"
    rf"|(?P<amount>(?<![\w.,-])(?:\d+(?:[.,]\d+)*|{NUMERAL})(?:[ -](?P<unit>%|°C?|[a-z]{{1,12}})|(?P<short>%|°C?"
    rf"|[mk]?g|m?l|[kcm]?m|h|min|s|[kmgt]b|k))(?![\w]))|(?P<han_amount>{HAN_NUMBER}(?P<measure>{MEASURE}))"
    rf"|(?P<daypart>\bin the (?:morning|afternoon|evening)s?\b"
    rf"|\bat (?:night|bedtime|lunch(?:time)?|breakfast|dinner(?:time)?|noon|dawn|dusk)\b"
    rf"|\b(?:before|after|with) (?:breakfast|lunch|dinner|supper|meals?|food|bed(?:time)?|school|work)\b"
    rf"|{_PART}|(?:早饭|午饭|晚饭|饭|睡|餐|早餐|晚餐|午餐)[前后])"
    rf"|(?P<titled>\b(?:dr|mr|mrs|ms|miss|prof)\b\.? [^\W\d_][\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?"
    rf"|(?![换找问是叫跟和当请的个位名新让给由见])[{HAN}](?P<title>{_TITLE}))"
    rf"|(?P<number>(?<![A-Za-z0-9.,/-])[a-z]{{0,3}}-?\d[\w.-]*(?<![.-])(?![\w@]))"
)
_KINDS = "email date time days phone money amount han_amount daypart titled number"
_NO_UNIT = caseless(
    rf"(?:and|or|on|in|at|to|of|for|from|until|is|are|not|now|the|a|by|with|as|since|again|instead|these|those|this|that|next|last|if|when|so|because|{MONTH}"
    r"|st|nd|rd|th|am|pm)\Z"
)
_NAMED = expression(
    r"\b(?P<anchor>[a-z][a-z'’-]{2,20}) (?!(?:Port|Version) \d)"
    r"(?P<name>[A-Z](?:[\w.'’-]*\w)?(?![\w'’])(?: [A-Z][\w.'’-]*\w)*)"
    r"|\b(?:on|at|in|with|by|from|to|via|through|under|of|for) (?:the )?(?P<noun>[a-z]{3,20}) (?P<low>[a-z][\w-]{2,24})"
    r"(?=\s*(?:\Z|[,.;!)]|(?:since|now|from|at|on|in|with|until|as|again|instead|not|because|and)\b))"
)
"""A capitalised name after a noun, or a word at the end of its phrase after a noun; case matters."""
_NO_ANCHOR = expression(
    r"(?:is|are|was|were|be|been|to|not|no|and|or|but|the|an?|of|in|on|at|by|with|from|for|as|than|it|its|my|our|his"
    r"|her|their|your|we|they|she|he|you|that|this|who|which|now|then|again|to|into|over|use|uses|used|using|via"
    r"|through|under|called|named|\w+(?:ed|ing|ly)"
    r"|(?:k?ein|mein|dein|sein|ihr|unser|euer)\w{0,2}|der|die|das|den|dem|des|nicht|hat|haben|ist|sind|mag|braucht)\Z"
)


_PLURAL_DAY = expression(r"(?<=day)s\b")


class TypedValue(Struct, frozen=True):
    """A value in a text. `anchor` is the stem of the content word before it, empty if there is none."""

    kind: str
    text: str
    start: int
    end: int
    anchor: str = ""

    @property
    def key(self) -> str:
        """Normalised text, which is equal for the same value in different texts."""
        key = " ".join(re.findall(rf"[\w.:@%£€$]+|[{HAN}]+", self.text.casefold())).rstrip(".")
        return _PLURAL_DAY.sub("", key)


ContentWords = frozenset[str]
"""Content words of a text, as returned by `content`."""
ValuePair = tuple[TypedValue, TypedValue]
"""An old value and the new value that replaces it."""
ValueReader = Callable[[str], list[TypedValue]]
"""`values_in`, or a cached form of it."""


def values_in(text: str) -> list[TypedValue]:
    """Return the typed values of a text, in order; names after a noun come last."""
    typed = [value for match in _TYPED.finditer(text) if (value := _value(match))]
    names = (
        name for name in _names(text) if not any(name.start < value.end and value.start < name.end for value in typed)
    )
    return [*typed, *names]


def _value(match: TextMatch) -> TypedValue | None:
    kind = next(kind for kind in _KINDS.split() if match[kind])
    text, start, anchor = match[0], match.start(), _anchor(match.string, match.start())
    if kind == "amount" and match["unit"] and _NO_UNIT.match(match["unit"]):
        kind, text = "number", match.string[start : match.start("unit")].rstrip(" -")
    elif kind == "amount":
        unit = (match["unit"] or match["short"]).lower()
        kind = f"amount {'pound' if unit == 'quid' else stem(unit)}"
    elif kind == "han_amount":
        kind = f"amount {match['measure']}"
    elif kind == "titled":
        kind = f"titled {match['title'] or ''}".strip()
    if kind == "number":
        kind = f"number {anchor}" if anchor else ""
    return TypedValue(kind, text, start, start + len(text), anchor) if kind else None


def _names(text: str) -> Iterator[TypedValue]:
    for match in _NAMED.finditer(text):
        group, anchor = ("name", match["anchor"]) if match["name"] else ("low", match["noun"])
        if not _NO_ANCHOR.match(anchor) and anchor not in STOP_WORDS:
            yield TypedValue(f"name {stem(anchor)}", match[group], *match.span(group), stem(anchor))


_WORD_BEFORE = expression(r"([A-Za-z][\w'’-]*)\W*\Z")
_NEAR = 80


def _anchor(text: str, start: int) -> str:
    """Return the stem of the last content word before `start`; empty if there is none nearby."""
    before = text[max(0, start - _NEAR) : start]
    while match := _WORD_BEFORE.search(before):
        word = match[1].lower()
        if word not in STOP_WORDS and word not in _JOINS:
            return stem(word)
        before = before[: match.start()]
    return ""


_JOINS = word_set("now new about around only exactly currently number no nr then still again already say since")


def new_value(old: str, new: str, *, is_loose: bool = False, read: ValueReader = values_in) -> ValuePair | None:
    """Return the value of an old statement and the new value of the same type, if there is exactly one such pair.

    If a statement has several values of a type, values with the same anchor belong together. `is_loose`: the final
    phrases of both statements may be the pair, too, if they follow the same preposition and are both measures or both
    not.
    """
    before, after = read(old), read(new)
    known = {value.key for value in before}
    pairs = []
    for kind in dict.fromkeys(value.kind for value in after):
        mine, theirs = _distinct(after, kind), _distinct(before, kind)
        fresh = [value for key, value in mine.items() if key not in known]
        replaced = [value for key, value in theirs.items() if key not in mine]
        if len(fresh) == 1 and len(replaced) > 1:
            replaced = [value for value in replaced if value.anchor and value.anchor == fresh[0].anchor]
        if len(fresh) == 1 and len(replaced) == 1:
            pairs.append((replaced[0], fresh[0]))
    pairs = pairs or list(_bare_numbers(before, after)) or list(_han_named(old, new, read))
    if is_loose and not pairs:
        earlier, later = _last_phrase(old, before), _last_phrase(new, after)
        if earlier and later and earlier.kind == later.kind and earlier.key != later.key:
            return earlier, later
    return pairs[0] if len(pairs) == 1 else None


_NUMBER = expression(r"\d+(?:[.,]\d+)*")


def _bare_numbers(before: Sequence[TypedValue], after: Sequence[TypedValue]) -> Iterator[ValuePair]:
    """Yield pairs of an amount and a number without its unit after the same word: `it costs 35`."""
    for later in after:
        amounts = [value for value in before if value.kind.startswith("amount ") and value.anchor == later.anchor]
        if later.kind.startswith("number ") and len(amounts) == 1 and (number := _NUMBER.match(amounts[0].text)):
            start = amounts[0].start
            bare = TypedValue(later.kind, number[0], start, start + number.end(), later.anchor)
            if bare.key != later.key:
                yield bare, later


def _distinct(values: Sequence[TypedValue], kind: str) -> dict[str, TypedValue]:
    return {value.key: value for value in values if value.kind == kind}


_HAN_NAMED = expression(
    rf"(?P<noun>[{HAN}]{{2,8}}?)(?:已经|现在|也)?(?:是|为|叫|在|用的是|(?:换|改|变|搬|移|调|挪)(?:成|到|为|在|去))了?"
    rf"(?P<value>[{HAN}\w]{{1,12}}?)(?:了)?(?=[，,。；;！!]|\Z)"
)
_MIN_NOUN = 2


def _han_named(old: str, new: str, read: ValueReader) -> Iterator[ValuePair]:
    """Yield pairs of values that two clauses state of the same noun before their verbs."""
    for later in _HAN_NAMED.finditer(new):
        for earlier in _HAN_NAMED.finditer(old):
            noun = later["noun"]
            noun = noun[len(noun) - common_start(noun[::-1], earlier["noun"][::-1]) :]
            if len(noun) >= _MIN_NOUN and earlier["value"] != later["value"]:
                old_value, value = (
                    TypedValue(f"name {noun}", match["value"], *match.span("value"), noun) for match in (earlier, later)
                )
                if _is_measure(old_value, read(old)) == _is_measure(value, read(new)):
                    yield old_value, value


def common_start(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the common beginning of two sequences, or strings."""
    unlike = (at for at, (mine, theirs) in enumerate(zip(first, second, strict=False)) if mine != theirs)
    return next(unlike, min(len(first), len(second)))


_WORDS = expression(r"[^\W_]+(?:['’-][^\W_]+)*")
_NOW = frozenset({"now", "these", "days", "nowadays", "again", "jetzt", "inzwischen"})
_FEWEST = 2


def has_another_word(old: str, new: str) -> bool:
    """Return whether two statements differ in one word within them: *I like window seats*, *I like aisle seats now*.

    The old one may begin with words of its own.
    """
    before, after = ([word for word in _WORDS.findall(text.lower()) if word not in _NOW] for text in (old, new))
    tail = common_start(before[::-1], after[::-1])
    mine, theirs = after[: -tail - 1], before[: -tail - 1]
    is_named = not STOP_WORDS.issuperset(after[-tail:])
    # *the red roses*, *the white roses* are two things
    is_value = len(mine) >= _FEWEST and mine[-1] != "the"
    return bool(tail) and is_named and is_value and theirs[-len(mine) :] == mine


_END = caseless(
    r"\b(?P<join>on|at|in|with|by|from|through|via|under|to|for) (?P<value>(?:the )?[\w'’.& -]{2,40}?)"
    r"(?:,? (?:since|now|these days|from now on|instead|again|as of)\b[^,.;]*)?\W*\Z"
    rf"|(?P<han_join>(?<!现)在|用|由|归|找|走|去|到|坐|喝|吃|订|叫|是)(?P<han_value>[{HAN}\w]{{1,12}}?)了?\W*\Z"
)


_HAS_VERB = caseless(r"\s(?:is|are|was|were|has|have|does|ist|sind|hat|haben)\s")
_MEASURED = caseless(
    rf"(?:the )?(?:early |mid-?|late |next |last )?(?:{MONTH}|spring|summer|autumn|winter|mornings?|afternoons?"
    r"|evenings?|nights?|weekdays?|weekends?|week|month|year|term|today|tomorrow"
    r"|(?:port|version) [\w.]*\d[\w.]*)\Z"
)
"""A time, port or version after a preposition, rather than a thing or place."""


def _last_phrase(text: str, values: Iterable[TypedValue]) -> TypedValue | None:
    """Return the phrase after the last preposition as a value; None if it has a verb, or there is none."""
    matches = list(_END.finditer(text))
    if not matches or _HAS_VERB.search(matches[-1][0]):
        return None
    last = matches[-1]
    group, join = ("value", last["join"].lower()) if last["value"] else ("han_value", last["han_join"])
    phrase = TypedValue(f"end {join}", last[group], *last.span(group), join)
    return replace(phrase, kind=f"{phrase.kind} of a measure") if _is_measure(phrase, values) else phrase


def _is_measure(value: TypedValue, typed: Iterable[TypedValue]) -> bool:
    """Return whether a value is within a time, a number or an amount."""
    is_within = any(
        other.start <= value.start and value.end <= other.end for other in typed if not other.kind.startswith("name")
    )
    return is_within or _MEASURED.match(value.text) is not None


_SAYS_WHEN = caseless(
    rf"\b(?:{MONTH}|spring|summer|autumn|winter|week|weekend|month|today|tonight|tomorrow|morning|afternoon|evening"
    r"|heute|morgen|woche|monat)s?\b|[今明后]天|[这下上本]个?(?:周|月|星期|学期)|周末|[月年初底]"
)
_VERSION = expression(r"\d+\.\d+")
"""A version number, which looks like a time of day."""
_ONLY_WHEN = caseless(rf"\A[^,;]*?\b(?:is|are) (?:on|at) (?:the )?(?:{WEEKDAY}|\d{{1,2}}(?::\d\d|th|st|nd|rd)?)\W*\Z")
TIMES = word_set("time days date daypart")
"""Kinds of values that are times."""


def may_change_to(old: str, new: str, *, read: ValueReader = values_in) -> bool:
    """Return whether a new value may replace the value of a statement: a date replaces neither a time nor a place."""
    known, spoken = ({value.kind for value in read(text)} & TIMES for text in (old, new))
    if known and spoken:
        return not known.isdisjoint(spoken)
    if spoken:
        return bool(_VERSION.match(new) or _SAYS_WHEN.search(old))
    return not (known and _ONLY_WHEN.search(old)) or bool(_SAYS_WHEN.search(new) or re.search(r"\d", new[:2]))


_SUFFIX = expression(r"(?<=[^\W\d_]{3})(?:ements?|ments?|ings?|ations?|ers?|ors?|ies|ied|ed|es|['’]?s|(?<=.{4})[ey])\Z")
_TOKEN = expression(rf"[^\W_{HAN}](?:[^\W{HAN}]|['’.:,/@-](?=[^\W_{HAN}]))*|[{HAN}]+")
_OTHER_STOPS = word_set("""
time date number name place now longer any more anymore again back still also already yet ever instead rather actually
please correction sorry typo wrong right new old last next ago week month year yesterday just got get go goes went gone
going come comes came since everything else everyone same stay stays thing one use uses using used mr mrs ms dr let's
it's that's there's she's he's they're i'm i've we're we've isn't aren't wasn't weren't doesn't don't didn't hasn't
haven't can't another ll isn wasn aren doesn don didn weren hasn haven its
remember remind forget
kein keine keinen keinem keiner keines
jetzt nun ab doch nein statt anstatt sondern mehr wieder wurde auf nehmen nehme nutzen nutze benutzen verwenden
verschoben verlegt geändert gewechselt umgestiegen kommt kommen die den in an im am um uhr merk dir vergiss denk daran
""")
"""Stop words besides those of the index: words of corrections, and general nouns."""
_HAN_STOPS = expression(
    "其实|时间|日期|地点|号码|名字|不是|而是|不再|不用|不需要|不必|没有|已经|现在|目前|以后|今后|以前|之前"
    "|从今天起|从现在起|今年|上个?月|上个?星期|上周|昨天|最近|刚刚"
    "|我们|你们|他们|她们|咱们|这个|那个|就是|还是|不过|但是|换成|换到|换为|换回|改成|改为|改到|改回|改在|改用"
    "|搬到|搬去|搬回|推迟到|提前到|调到|变成|变为"
    "|更正|说错|记错|写错|时候|什么|不变|照旧|一样|[的了是在这那我你他她它就也都还又把被从到由给让和与不没很太改换去]"
)
_HAN_RUN = expression(rf"[{HAN}]+")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return an English word without its ending for number, tense or agent."""
    plain = word.replace("-", "")
    bare = _SUFFIX.sub("", plain)
    return bare if bare == plain else _SUFFIX.sub("", bare)


def content(text: str) -> ContentWords:
    """Return the content words of a text: stems, and for Chinese the pairs of characters between stop words."""
    words = set[str]()
    for token in _TOKEN.findall(text):
        if _HAN_RUN.match(token):
            words.update(_pairs(token))
            continue
        word = token.casefold().replace("’", "'").removesuffix("'s").removesuffix("'").rstrip(".")
        if word and word not in STOP_WORDS and word not in _OTHER_STOPS:
            words.add(stem(word))
    return frozenset(words)


def _pairs(run: str) -> Iterator[str]:
    for piece in _HAN_STOPS.split(run):
        if len(piece) == 1:
            yield piece
        yield from (piece[at : at + 2] for at in range(len(piece) - 1))


class Rarity(Struct, frozen=True):
    """Weights of words in a collection of texts: the fewer texts contain a word, the more it weighs.

    `counts` are the numbers of texts by word, `texts` is the number of all texts.
    """

    counts: Mapping[str, int]
    texts: int

    def weight(self, words: Iterable[str]) -> float:
        """Return the total weight of words."""
        return sum(log((self.texts + 2) / (self.counts.get(word, 1) + 0.5)) for word in words)

    def share(self, part: ContentWords, all_words: ContentWords) -> float:
        """Return the share of the weight of all words that is in `part`; 0 without words.

        A pair of Chinese characters that spans two words of the part does not count.
        """
        ends, starts = {word[-1] for word in part}, {word[0] for word in part}
        words = [
            word
            for word in all_words
            if word in part or not (_HAN_RUN.match(word) and word[0] in ends and word[-1] in starts)
        ]
        total = self.weight(words)
        return self.weight(part) / total if total else 0.0


def states_value(text: str, value: str) -> bool:
    """Return whether a text contains a value: a Chinese value literally, any other by its content words."""
    words = content(value)
    return value in text if _HAN_RUN.search(value) else bool(words) and words <= content(text)
