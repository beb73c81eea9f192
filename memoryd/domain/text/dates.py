"""Dates in questions, and how notes write them: `7 May 2023` is the day of `memory/2023-05-07.md`.

Recognised are English, German, Chinese, Japanese, Korean, ISO 8601, numbers with dots (`5.11.2025`, and `5.11.` after
a word that introduces a day), and numbers with slashes if only one reading is a date. Not dates are versions
(`v2023.5.7`), verbs (`it may 5 times`), clock times, and days that no calendar has.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.words import Phrase, is_single_character, normalised, phrase_words, query_terms

MAX_DATES = 4
"""Dates used per question: each costs the index several phrases."""
_LEAP_YEAR = 2024
"""Year in which a day without a year is checked, so that 29 February is valid."""
_ENGLISH_MONTHS = "january february march april may june july august september october november december"
_MONTHS = _ENGLISH_MONTHS.split()
_OTHER_NAMES = {"mai": 5, "okt": 10, "dez": 12, "mae": 3, "mär": 3}
"""Beginnings of German month names that no English month has."""
MONTH = (
    "(?:jan(?:uary?)?|feb(?:ruary?)?|m(?:ar(?:ch|z)?|a[iy]|aerz|ärz)|apr(?:il)?|ju(?:ne?|ni|ly?|li)|aug(?:ust)?"
    "|sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
"""Pattern for the name of a month, English or German, in full or abbreviated."""
_NUMERALS = {sign: value for value, sign in enumerate("零一二三四五六七八九十")} | {"〇": 0, "○": 0}

# With these flags, text outside ASCII is no part of a word: in `在2023-05-07我` the date is a word of its own.
_FLAGS = re.ASCII | re.IGNORECASE
_YEAR = "(?:1[6-9]|20)[0-9]{2}"
_DAY = "[0-9]{1,2}"
_IS_OF_MONTH = expression("[0-9]{1,2}(?:st|nd|rd|th)?\\Z")
_NUMERAL = "[〇零○一二三四五六七八九十廿]"
_ISO = expression(
    rf"(?<![\w.-])(?P<year>{_YEAR})(?P<sign>[-/])(?P<month>{_DAY})(?P=sign)(?P<day>{_DAY})(?=T[0-9]|(?!\w|[-./][0-9]))",
    _FLAGS,
)
_SLASHED = expression(rf"(?<![\w./-])(?P<first>{_DAY})/(?P<second>{_DAY})/(?P<year>{_YEAR})(?!\w|[-./][0-9])", _FLAGS)
_DOTTED = expression(
    r"(?P<lead>\b(?:am|vom|zum|bis|seit|ab|de[nmr]|\w{2,7}tag|mittwoch|on|since|until|from|to|\w{2,6}day),?\s)?"
    rf"(?<![\w./-])(?P<day>{_DAY})\.\s?(?P<month>{_DAY})\.(?:\s?(?P<year>{_YEAR})(?!\w|[-./][0-9])|(?!\s?[0-9]))",
    _FLAGS,
)
_MAY_HOLD_DOTTED = expression(r"[0-9]\.\s?[0-9]{1,2}\.")
_EASTERN = expression(
    rf"(?<![\w.{_NUMERAL[1:-1]}])(?:(?P<year>{_YEAR}|{_NUMERAL}{{4}})\s?[年년]的?\s?)?"
    rf"(?P<month>{_DAY}|{_NUMERAL}{{1,2}})\s?[月월]份?(?:\s?(?P<day>{_DAY}|{_NUMERAL}{{1,3}})\s?[日号號일])?",
    _FLAGS,
)
_ENGLISH = expression(
    rf"(?:(?<![\w./:-])(?<![0-9],)(?P<day>{_DAY})(?:st|nd|rd|th|\.(?!\s?(?:may|mar|march)\b))?(?P<of>(?:\sof)?\s|-))?"
    rf"(?<!\w)(?P<name>{MONTH})(?!\w)\.?"
    rf"(?(day)|(?:[\s-](?P<late_day>{_DAY})(?P<ordinal>st|nd|rd|th)?(?!\w|[.:/][0-9]|-[0-9]{{1,2}}(?!\w)|,[0-9]{{3}}(?!\w)|\s?%))?)"
    rf"(?:(?:,\s?|-|\s(?:(?:of|in)\s)?)(?P<year>{_YEAR})(?!\w|[.,:/-][0-9]))?",
    _FLAGS,
)
_IS_VERB_TOO = frozenset({"mar", "march", "may"})
_BEFORE_A_DATE = expression(
    r"\b(?:on|in|of|since|until|till|by|before|after|from|between|during|for|early|mid|late|last|this|next)[\s-]\Z",
    _FLAGS,
)
_LONGEST_BEFORE = len("between ") + 1
_AFTER_A_DATE = expression(r"\s*(?:[^\w\s]|\Z)", _FLAGS)
_STARTS_A_SENTENCE = expression(r"(?:\A|[.!?])[\s\"'(]*\Z")


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A day or a month that a text names; a day may be without its year, a month always has one."""

    month: int
    day: int | None = None
    year: int | None = None
    words: tuple[str, ...] = field(default=(), compare=False)
    """The search terms of the date as written."""
    written: Phrase = field(default=(), compare=False)
    """The words of the date as written, without the sign after a day, which varies."""

    @property
    def weak_words(self) -> frozenset[str]:
        """Those of `words` that mean nothing on their own: the `7` of `7 May`, the `月` of `5月4日`."""
        return frozenset(word for word in self.words if is_single_character(word) or _IS_OF_MONTH.match(word))

    @property
    def file_name_spellings(self) -> tuple[Phrase, ...]:
        """Spellings in file names, as the index splits them: `2023-05-07`, `2023-5-7`, `20230507`."""
        month, day = f"{self.month:02}", f"{self.day or 0:02}"
        if self.day is None:
            return ((str(self.year), month),)
        if self.year is None:
            return ((month, day),)
        year = str(self.year)
        plain = (year, str(self.month), str(self.day))
        return tuple(dict.fromkeys([(year, month, day), plain, (f"{year}{month}{day}",)]))

    @property
    def text_spellings(self) -> tuple[Phrase, ...]:
        """Spellings in text: `May 7 2023`, `7 May 2023`, both also with the month abbreviated, `2023年5月7`."""
        year = () if self.year is None else (str(self.year),)
        day = () if self.day is None else (str(self.day),)
        names = (_MONTHS[self.month - 1], _MONTHS[self.month - 1][:3])
        orders: list[Phrase] = [order for name in names for order in ((name, *day, *year), (*day, name, *year))]
        orders.append((*(sign for digits in year for sign in (digits, "年")), str(self.month), "月", *day))
        return tuple(
            phrase for phrase in dict.fromkeys([*orders, self.written]) if phrase not in ((), *self.file_name_spellings)
        )


PlacedDate = tuple[int, int, WrittenDate]
"""Start and end of a date in its text, and the date."""


def dates_in(text: str) -> tuple[WrittenDate, ...]:
    """Return the distinct dates that a text names, the first `MAX_DATES` of them."""
    return tuple(islice(dict.fromkeys(day for _, _, day in placed_dates(normalised(text))), MAX_DATES))


def placed_dates(text: str) -> Iterator[PlacedDate]:
    """Yield all dates in a text that `normalised` returned, grouped by notation."""
    for match in _ISO.finditer(text):
        yield from _dates(match, match["year"], int(match["month"]), match["day"])
    for match in _SLASHED.finditer(text):
        first, second = int(match["first"]), int(match["second"])
        if max(first, second) > len(_MONTHS) or first == second:
            month, day = sorted((first, second))
            yield from _dates(match, match["year"], month, str(day))
    for match in _DOTTED.finditer(text) if _MAY_HOLD_DOTTED.search(text) else ():
        if match["year"] or match["lead"]:
            yield from _dates(match, match["year"], int(match["month"]), match["day"], start=match.start("day"))
    for match in _EASTERN.finditer(text):
        yield from _dates(match, match["year"], eastern_number(match["month"]), match["day"])
    for match in _ENGLISH.finditer(text):
        if not _is_verb(match, text):
            yield from _dates(match, match["year"], month_named(match["name"]), match["day"] or match["late_day"])


def month_named(name: str) -> int:
    """Return the number of a month, 1 to 12, from its English or German name or the first three letters of it."""
    short = name[:3].lower()
    return _OTHER_NAMES.get(short) or next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(short))


def eastern_number(text: str) -> int:
    """Return a number up to 39: `7`, `七`, `十二`, `二十`, `二十一`, `廿一`; 0 if the text is no such number."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.replace("廿", "二十").rpartition("十")
    if not {tens, ones} <= {"", *_NUMERALS}:
        return 0
    return (_NUMERALS[tens] if tens else 1) * 10 * bool(ten) + (_NUMERALS[ones] if ones else 0)


def _dates(
    match: TextMatch, year: str | None, month: int, day: str | None, *, start: int | None = None
) -> Iterator[PlacedDate]:
    """Yield the date if it is valid and not only the name of a month; `start` overrides its start."""
    if year is None and day is None:
        return
    number = None if day is None else eastern_number(day)
    # `2023`, `二〇二三`
    years = None if year is None else int("".join(str(_NUMERALS.get(sign, sign)) for sign in year))
    try:
        date(_LEAP_YEAR if years is None else years, month, 1 if number is None else number)
    except ValueError:
        return
    start = match.start() if start is None else start
    phrase = match.string[start : match.end()]
    words, written = tuple(query_terms(phrase)), tuple(phrase_words(phrase.rstrip("日号號일")))
    yield start, match.end(), WrittenDate(month, number, years, words, written)


def _is_verb(match: TextMatch, text: str) -> bool:
    """Return whether `may` or `march` is a verb: lower case among other words, or at the start of a question."""
    name, start = match["name"], match.start()
    if name.lower() not in _IS_VERB_TOO or match["ordinal"] or (match["year"] and (match["day"] or match["late_day"])):
        return False
    if name.lower() != "may" and match["year"]:
        return False
    if _AFTER_A_DATE.match(text, match.end()) or _BEFORE_A_DATE.search(text, max(0, start - _LONGEST_BEFORE), start):
        return False
    if not name[0].isupper():
        return (match["of"] or "").strip() != "of"
    return "?" in text and _STARTS_A_SENTENCE.search(text, max(0, start - 5), start) is not None
