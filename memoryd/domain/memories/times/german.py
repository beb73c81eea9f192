"""Times as German tells them, told in English: `vorgestern`, `letzten Dienstag`, `vor drei Wochen`, `bis Ende März`.

The rules of English times read what comes out, so that both languages mean the same days. Texts are in plain spelling,
without umlauts. Dates and names of months are read as they are: `domain/text/dates.py`.
"""

import re
from collections.abc import Callable

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.text.dates import MONTH

_UNITS = {
    "tag": "day",
    "woche": "week",
    "wochenende": "weekend",
    "monat": "month",
    "jahr": "year",
    "fruhling": "spring",
    "fruhjahr": "spring",
    "sommer": "summer",
    "herbst": "autumn",
    "winter": "winter",
}
_WEEKDAYS = {
    "montag": "Monday",
    "dienstag": "Tuesday",
    "mittwoch": "Wednesday",
    "donnerstag": "Thursday",
    "freitag": "Friday",
    "samstag": "Saturday",
    "sonnabend": "Saturday",
    "sonntag": "Sunday",
}
_NAMES = _UNITS | _WEEKDAYS
_NUMBERS = ("ein", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf")
_WHICH = {"letzt": "last", "vorig": "last", "vergangen": "last", "dies": "this", "nachst": "next", "kommend": "next"}
_WORDS = {
    "anfang": "early",
    "mitte": "mid",
    "ende": "late",
    "seit": "since",
    "bis": "until",
    "ab": "from",
    "von": "from",
    "vom": "from",
    "vor": "before",
    "nach": "after",
    "zwischen": "between",
    "im": "in",
    "am": "on",
}
_COUNT = f"(?P<count>[0-9]{{1,4}}|ein(?:e[mnrs]?)?|{'|'.join(_NUMBERS[1:])})"
_UNIT = "(?P<unit>tag|woche|monat|jahr)(?:e?n|e?s|e)?"
_PART = r"(?:\s?(?:fruh|morgens?|vormittags?|mittags?|nachmittags?|abends?|nachts?)\b)?"
_NAME = rf"(?P<name>{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?:s|es|en|n)?{_PART}"
_WEEKDAY = "|".join(_WEEKDAYS)
_DAY = "[0-9]{1,2}"
_TO = r"\s?(?:-|–|bis(?:\szum)?|und(?:\sdem)?)\s?"
_TIME = (
    rf"(?:the\s)?(?:{_DAY}(?:\.|\sto\s)|(?:19|20)[0-9]{{2}}\b|[0-9]{{4}}-[0-9]|{MONTH}\b|(?:yesterday|today|tomorrow|day)\b"
    r"|Q[1-4]\b|(?:early|mid|late|last|this|next|since|until)\s|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
)


def _count(match: TextMatch) -> str:
    said = match["count"].lower()
    return said if said.isdecimal() else str(next(at for at, one in enumerate(_NUMBERS, 1) if said.startswith(one)))


def _units(match: TextMatch) -> str:
    return f"{_count(match)} {_UNITS[match['unit'].lower()]}s"


def _named(match: TextMatch) -> str:
    return _NAMES[match["name"].lower()]


def _word(match: TextMatch) -> str:
    return f"{_WORDS[match['word'].lower()]} "


_Told = str | Callable[[TextMatch], str]
_ROWS: tuple[tuple[re.Pattern[str], _Told], ...] = (
    (caseless(rf"\bvorgestern\b{_PART}"), "the day before yesterday"),
    (caseless(rf"\bgestern\b{_PART}"), "yesterday"),
    (caseless(r"\b(?:letzte|vergangene|heute)\snacht\b"), "last night"),
    (caseless(rf"\bheute\b(?!-|\sjournal\b){_PART}"), "today"),
    (caseless(rf"\bue?bermorgen\b{_PART}"), "the day after tomorrow"),
    (caseless(r"\bdiese[nr]?\s(?:morgen|vormittag|nachmittag|abend)\b"), "this morning"),
    # a capital makes it the morning, but where it opens a sentence; a greeting is none
    (
        expression(
            r"(?<!uten\s)(?<!chonen\s)(?<!\bam\s)(?<!eden\s)\bmorgen\b(?!\s(?:zusammen|allerseits|ihr|alle)\b)" + _PART
        ),
        "tomorrow",
    ),
    (expression(r"(?:(?<=[.!?]\s)|\A)Morgen(?=\s[a-z])(?!\s(?:zusammen|allerseits|ihr|alle)\b)" + _PART), "tomorrow"),
    (
        caseless(r"\bvorletzte[nrsm]?\s(?P<name>wochenende|woche|monat|jahr)(?:e?s)?\b"),
        lambda match: f"the {_named(match)} before last",
    ),
    (caseless(rf"\bvor\s{_COUNT}\s{_UNIT}\b"), lambda match: f"{_units(match)} ago"),
    (caseless(rf"\bin\s{_COUNT}\s{_UNIT}\b"), lambda match: f"in {_units(match)}"),
    (
        caseless(rf"\b(?:seit|(?:in\s)?de[nr]\sletzten|die\sletzten)\s{_COUNT}\s{_UNIT}\b"),
        lambda match: f"the last {_units(match)}",
    ),
    (caseless(r"\banfang\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"beginning of the {_named(match)}"),
    (caseless(r"\bmitte\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"middle of the {_named(match)}"),
    (caseless(r"\bende\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"end of the {_named(match)}"),
    (caseless(r"\bam\swochenende\b"), "at the weekend"),
    (caseless(r"\bkommendes\swochenende\b"), "this weekend"),
    (
        caseless(rf"\b(?P<which>{'|'.join(_WHICH)})e[nrsm]?\s{_NAME}\b"),
        lambda match: f"{_WHICH[match['which'].lower()]} {_named(match)}",
    ),
    (caseless(rf"\bjede[nrsm]?\s(?P<name>{_WEEKDAY})\b"), lambda match: f"every {_named(match)}"),
    (caseless(rf"\b(?P<name>{_WEEKDAY})s\b"), lambda match: f"every {_named(match)}"),
    (caseless(rf"\b(?P<name>{_WEEKDAY}){_PART}\b"), _named),
    (caseless(r"\b(?P<name>fruhling|fruhjahr|sommer|herbst|winter)(?=\s(?:19|20)[0-9]{2}\b)"), _named),
    (caseless(r"\b([1-4])\.\squartal\b"), r"Q\1"),
    (caseless(rf"\b({_DAY})\.?{_TO}({_DAY})\.\s(?={MONTH}\b)"), r"\1 to \2 "),
    # chapters and versions are counted so, too: two of one month are days
    (
        caseless(
            rf"(?:\bvom\s({_DAY}\.{_DAY}\.)|(?<![0-9.])(?<!el\s)(?<!tt\s)({_DAY}\.(?P<month>{_DAY})\.)"
            rf"(?=\s?(?:-|–|bis)\s?{_DAY}\.(?P=month)\.))\s?(?:-|–|bis)\s?(?={_DAY}\.{_DAY}\.)"
        ),
        lambda match: f"from {match[1] or match[2]} to ",
    ),
    (caseless(rf"(?<![0-9.])({_DAY}\.{_DAY}\.){_TO}(?={_DAY}\.{_DAY}\.)"), r"\1 to "),
    (caseless(rf"(?<![0-9.])({_DAY})\.{_TO}(?={_DAY}\.\s?({_DAY}\.(?:\s?(?:19|20)[0-9]{{2}})?))"), r"\1.\2 to "),
    (caseless(r"(?<=day)\sbis\s(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"), " to "),
    (caseless(r"\bim\sjahre?\s(?=(?:19|20)[0-9]{2}\b)"), "in "),
    (caseless(rf"\b(?P<word>anfang|mitte|ende)\s(?:de[rs]\s)?(?={_TIME})"), _word),
    (caseless(rf"\b(?P<word>seit|bis|ab|vo[mnr]|nach|zwischen|im|am)(?:\sde[mn]|\szu[mr])?\s(?={_TIME})"), _word),
)
"""What German says, and what English does instead; each after those above it."""
_ASIDE = (
    (caseless(r"\btermine?\b"), "appointments"),
    (caseless(r"\b(?:steht|stehen)(?=[^.!?]{0,60}\ban\b)"), "is planned"),
    (caseless(r"\bhaben?(?=[^.!?]{0,60}\bvor\W*\Z)|\bgeplant\b"), "planned"),
    (caseless(r"\bwas\b"), "what"),
    (caseless(r"\bwann\b"), "when"),
    (caseless(r"\bwer\b"), "who"),
    (caseless(r"\bwo\b"), "where"),
    (caseless(r"\bwelche[nrsm]?\b"), "which"),
    # behind a verb they would begin a clause of their own
    (caseless(r"(?:\A|(?<=[.,;!?]\s))(?:ich|wir|er|sie|es)\b"), "we"),
    (caseless(r"\b(?:ware?n?|hatten?|wurden?|ging(?:en)?|kam(?:en)?)\b"), "was"),
    (caseless(r"\b(?:habe?n?|hat|ist|sind|bin)\b(?=[^.!?]{0,120}?\b\w{0,5}(?:ge|be|ver|er)\w{1,20}(?:t|en)\b)"), "did"),
    (caseless(r"\b(?:ist|sind)\b"), "is"),
    (
        caseless(r"\b(?:wird|werden?|muss|mussen|soll(?:en)?|kommt|kommen|habe?n?|hat|machen?|macht|gehe?n?|geht)\b"),
        "will",
    ),
)
"""Where German names a time: what tells a question from a statement, and what was from what will be."""
_SIGNS = (
    *("gestern", "heute", "morgen", "nacht", "tag", "woch", "abend", "monat", "jahr", "quartal", "sommer", "herbst"),
    *(
        " fruh",
        " winter ",
        " seit ",
        " bis ",
        " vo",
        " nach ",
        " zwischen ",
        " im ",
        " anfang ",
        " mitte ",
        " ende ",
        ".-",
        ".–",
    ),
)
"""What of a text must be there for a time in it: looked for much faster."""


def in_english(plain: str) -> str:
    """Return a text with the times that it tells in German told in English; any other text as it is."""
    small = f" {plain.lower()}"
    if not any(sign in small for sign in _SIGNS):
        return plain
    found = 0
    for pattern, told in _ROWS:
        plain, count = pattern.subn(told, plain)
        found += count
    for pattern, told in _ASIDE if found else ():
        plain = pattern.sub(told, plain)
    return plain
