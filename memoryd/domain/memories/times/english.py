"""English times relative to a day: `yesterday`, `last Wednesday`, `two weeks ago`, `since May`.

Texts are normalised. No pattern repeats an ambiguous part, so that each is a single pass without backtracking.
"""

import re
from collections.abc import Iterator

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.memories.times.spans import (
    AWAY,
    ENGLISH_SEASON,
    Calendar,
    DaySpan,
    Direction,
    TimeMention,
    TimeReading,
    Unit,
    apply_rules,
    days_of_month,
    english_season,
    in_year,
    last_units,
    month_of,
    shift_day,
    single_day,
    unit_away,
    year_of,
    yearless_mention,
)
from memoryd.domain.text.dates import MONTH, month_named

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_COUNTS = {
    "a": 1,
    "an": 1,
    "couple": 2,
    **{word: at for at, word in enumerate((*_ONES, *_TEENS), start=1)},
    **{word: 10 * at for at, word in enumerate(_TENS, start=2)},
}
NO_PART = r"(?<![0-9][.,/\u2044])(?<!\bhalf\s)(?<!\bhundred\s)(?<!\bhundred\sand\s)" + "".join(
    rf"(?<!\b{tens}[\s-])" for tens in _TENS
)
"""Before a number: it is not the end of another number, as in `2.5`, `1,500` or `twenty-one`, and not after `half`."""
_COUNT = (
    rf"{NO_PART}(?P<count>[0-9]{{1,4}}|(?:{'|'.join(_TENS)})[\s-](?:{'|'.join(_ONES)})"
    rf"|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})(?:\sof)?"
)
_UNIT = "(?P<unit>day|week|month|year)s?"
_WEEKDAY = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_SHORT_WEEKDAY = "(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_YEAR = "(?:19|20)[0-9]{2}"
_ENDS = r"(?!\w|[.,:/-][0-9])"
_FLAGS = re.ASCII | re.IGNORECASE

_NAMED_DAY = expression(
    r"\b(?:the\s)?day\s(?P<far>before\syesterday|after\stomorrow)\b"
    r"|\b(?P<near>yesterday|today|tomorrow|tonight|last\snight|this\s(?:morning|afternoon|evening))\b",
    _FLAGS,
)
_DAYS_AWAY = {"yesterday": -1, "last night": -1, "tomorrow": 1, "before yesterday": -2, "after tomorrow": 2}
_UNIT_NEXT_TO = expression(
    r"\b(?P<which>last|past|previous|this|current|next|coming)\s(?P<unit>week|month|year|weekend)\b(?!-)"
    rf"(?!\s(?:of|in)\s{MONTH}\b)|\bthe\s(?P<before>week|month|year|weekend)\sbefore\slast\b"
    r"|\b(?:beginning|start|middle|end)\sof\s(?P<whole>the\s(?P<now>month|year))\b(?!-)",
    _FLAGS,
)
_NEAR_WEEKEND = expression(
    r"\b(?:(?:over|on|at|during|for|since|until|till|by|before|after|around)\s)?the\sweekend\b"
    r"(?!\s(?:before|after|of|edition|paper|house|home|shift|trip|course|ticket|market|rate)\b|-)",
    _FLAGS,
)
"""Without a preposition it is a time only if `_GOES_ON` matches after it: the end of a clause, or a verb or subject."""
_GOES_ON = expression(
    r"\s*(?:[^\w\s]|\Z)|\s(?:was|is|were|will|did|had|we|i|you|he|she|they|it|with|and|or|when|at|in|to|go|went)\b",
    _FLAGS,
)
_UNITS_AGO = expression(rf"\b{_COUNT}\s{_UNIT}\s(?P<sense>ago|from\snow)\b", _FLAGS)
_IN_UNITS = expression(rf"\bin\s{_COUNT}\s{_UNIT}(?:'?\stime)?\b(?!\s(?:ago|of)\b)", _FLAGS)
_PAST_UNITS = expression(
    rf"\b(?:(?:the|these|in|for|over|during)\s(?:the\s)?)?(?P<which>last|past|previous|next|coming)\s{_COUNT}\s{_UNIT}\b",
    _FLAGS,
)
_WEEKDAYS = expression(
    rf"\b(?:(?P<which>last|past|this|next|coming|on|every|each|since|until|till|by|before|after|from)\s)?"
    rf"(?:(?P<name>{_WEEKDAY})|(?P<short>{_SHORT_WEEKDAY}))\b(?!-)",
    _FLAGS,
)
_REPEATED = frozenset({"every", "each"})
_BARE_MONTH = expression(
    rf"\b(?P<which>(?:week|beginning|start|middle|end)\s(?:of|in)|last|this|next|in|during|since|until|till|before|after|around|early|mid|late)[\s-](?P<name>{MONTH})\b"
    r"(?!\.?\s?[0-9]|-)(?P<end>\.?(?=\s*(?:[^\w\s]|\Z)))?",
    _FLAGS,
)
_IS_WORD_TOO = frozenset({"may", "march", "mar"})
_MONTHS = expression(
    rf"\b(?P<between>between|from)?\s?(?P<first>{MONTH})\.?\s?(?P<to>-|–|—|\band\b|\bto\b|\buntil\b|\btill\b|\bthrough\b)\s?"
    rf"(?P<second>{MONTH})\b\.?(?:,?\s(?:(?P<year>{_YEAR}){_ENDS}|(?:of\s)?(?P<which>last|this|next)\syear\b))?"
    r"(?!\.?\s?[0-9])",
    _FLAGS,
)
_DAYS_OF_MONTH = expression(
    rf"(?<![\w./:-])(?:(?P<one>[0-9]{{1,2}})(?:st|nd|rd|th)?\s?(?:-|–|—|to|and|until|till|through)\s?(?:the\s)?"
    rf"(?P<two>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<before>{MONTH})\b"
    rf"|(?P<behind>{MONTH})\b\.?\s(?P<three>[0-9]{{1,2}})(?:st|nd|rd|th)?\s?(?:-|–|—|to|and|until|till|through)\s?"
    rf"(?P<four>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![\w:]|[./-][0-9]|\s?%|\s?(?:am|pm|{MONTH})\b))"
    rf"(?:,?\s(?P<year>{_YEAR}){_ENDS})?",
    _FLAGS,
)
_YEARS = expression(
    r"\b(?:in|during|since|until|till|before|after|early|mid|late|(?:beginning|start|middle|end)(?=\sof)|spring|summer|autumn"
    r"|fall|winter|(?:the\s)?year)(?:\sof)?[\s-]"
    rf"(?P<year>{_YEAR})(?=\s*(?:[^\w\s.,:/%°$€£+-]|[.,](?![0-9])|\Z)"
    r"|\s(?:and|or|but|we|i|you|he|she|they|it|the|my|our|his|her|their|when|to|was|were|did|with|at|on|for|as|there|by)\b)",
    _FLAGS,
)
_QUARTERS = expression(
    rf"\b(?P<lead>(?:in|during|for|since|until|till|by|before|after|of|this|last|next)\s(?:the\s)?)?"
    rf"(?P<it>(?:(?P<first>{_YEAR})[\s-]?)?(?:(?-i:Q)(?P<number>[1-4])|(?P<name>first|second|third|fourth)\squarter)"
    rf"(?:(?:\s|/|-)?(?:of\s)?(?:(?P<year>{_YEAR}){_ENDS}|(?P<which>last|this|next)\syear\b))?)(?![\w-])"
    r"(?!\sof\s(?!the\syear\b))",
    _FLAGS,
)
"""`Q1 2026`, `the first quarter of next year`; without a year only after a word such as `in` or `since`."""
_OF_NEAR_YEAR = expression(
    rf"\b(?:(?P<in>(?:in|of|since|until|till|before|after|early|mid|late)[\s-])?"
    rf"(?:(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?)?(?P<name>{MONTH})\b(?:\.(?!\s(?-i:[A-Z])))?"
    r"(?:\s(?P<late_day>[0-9]{1,2})(?:st|nd|rd|th)?)?,?\s(?:of\s)?(?P<which>last|this|next)\syear\b"
    rf"|(?P<before>last|this|next)\syear,?\sin\s(?P<behind>{MONTH})\b(?!\.?\s?[0-9]))",
    _FLAGS,
)
"""`in May last year`, `May 5 this year`, `last year in May`."""
_ISO_MONTH = expression(rf"(?<![\w./-])(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])(?!\w|[-./][0-9])", _FLAGS)
_ENDS_DAY = r"(?=\s*(?:[^\w\s-]|\Z)|\s(?:with|at|for|did|was|were|is|will|when|we|i|you|he|she|they|and|or|but)\b)"
_DAY_OF_IT = expression(
    r"\b(?:(?P<word>on|around|about|near|circa|since|until|till|by|before|after|from|week\sof|weekend\sof)\s)?"
    rf"(?P<it>the\s(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)(?:\sof\s(?P<which>last|this|next)\smonth\b|{_ENDS_DAY}))",
    _FLAGS,
)
_DAYS_OF_IT = expression(
    r"\b(?:between|from)\s(?P<it>the\s(?P<one>[0-9]{1,2})(?:st|nd|rd|th)\s(?:and|to|until|till|through)\s(?:the\s)?"
    rf"(?P<two>[0-9]{{1,2}})(?:st|nd|rd|th){_ENDS_DAY})",
    _FLAGS,
)
"""`the 27th` without a month means the nearest such day; in a text about the past, the last one."""

_FUTURE = expression(
    r"\b(?:will|won't|shall|going\sto|plans?|planned|due|must|needs?\sto|appointment|upcoming|tomorrow|next)\b|'ll\b",
    _FLAGS,
)
_NO_VERB = "need|shed|bed|red|seed|speed|feed|weed|deed|breed|reed|wed|sled|exceed|proceed|succeed|hundred|naked|sacred"
"""Words in `-ed` that are not past tenses of verbs."""
PAST = expression(
    rf"\b(?:was|were|had|did|didn't|went|came|saw|met|got|said|made|took|told|gave|bought|brought|found|left|ate|ran|wrote"
    r"|paid|spent|drove|flew|knew|kept|felt|sent|lost|slept|broke|fell|spoke|chose|sold|caught|taught|thought|began|sang"
    r"|swam|drank|held|stood|sat|rose|grew|threw|blew|wore|won|hid|built|meant|heard|led|rode|stole|sank|forgot|shook"
    rf"|(?!(?:{_NO_VERB})\b)\w{{2,20}}ed)\b",
    _FLAGS,
)
"""A verb in the past tense: a common irregular verb, or a word in `-ed`."""


def english_direction(text: str) -> Direction:
    """Return whether a text is about the past or the future, by its verbs."""
    if _FUTURE.search(text):
        return Direction.FUTURE
    return Direction.PAST if PAST.search(text) else Direction.NEAREST


def english_times(text: str, calendar: Calendar) -> Iterator[TimeMention]:
    """Yield the times that a text names relative to a day, without a year, or by a month or year alone."""
    lower = text.lower()
    rules = ((pattern, rule) for pattern, rule, parts in _RULES if any(part in lower for part in parts))
    return apply_rules(rules, text, calendar)


def _named_day(match: TextMatch, calendar: Calendar) -> DaySpan:
    name = " ".join((match["far"] or match["near"]).lower().split())
    return single_day(shift_day(calendar.day, _DAYS_AWAY.get(name, 0)))


def _unit_next_to(match: TextMatch, calendar: Calendar) -> TimeReading:
    if match["now"]:
        now = unit_away(calendar.day, 0, Unit(match["now"].lower()))
        return now and TimeMention(*match.span("whole"), now)
    if match["before"]:
        return unit_away(calendar.day, -2, Unit(match["before"].lower()))
    return unit_away(calendar.day, AWAY[match["which"].lower()], _unit(match))


def _near_weekend(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    start = match.end() - len("the weekend")
    is_time = start > match.start() or _GOES_ON.match(match.string, match.end())
    return TimeMention(start, match.end(), calendar.weekend()) if is_time else None


def _units_ago(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    sense = -1 if match["sense"].lower() == "ago" else 1
    return unit_away(calendar.day, sense * count_of(match), _unit(match))


def _in_units(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    return unit_away(calendar.day, count_of(match), _unit(match))


def _past_units(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    unit, count = _unit(match), count_of(match)
    if AWAY[match["which"].lower()] < 0:
        return last_units(calendar.day, count, unit)
    end = unit_away(calendar.day, count, unit)
    return end and DaySpan(calendar.day, end.last)


def _weekdays(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    which, name = (match["which"] or "").lower(), match["name"] or match["short"]
    is_short = match["name"] is None
    if which in _REPEATED or (is_short and (not which or not name[0].isupper())):
        return None
    number = _WEEKDAYS_BY_NAME.index(name[:3].lower())
    start = match.start() if which in AWAY or which == "on" else match.start("name" if not is_short else "short")
    if which == "this":
        day = shift_day(calendar.day, number - calendar.day.weekday())
    else:
        day = calendar.weekday(number, _DIRECTIONS.get(which, calendar.direction))
    return TimeMention(start, match.end(), single_day(day), is_weekday=True)


def _bare_month(match: TextMatch, calendar: Calendar) -> TimeReading:
    name, which = match["name"], match["which"].lower()
    if name.lower() in _IS_WORD_TOO and not name[0].isupper() and match["end"] is None:
        return None
    month = month_named(name)
    if which not in AWAY:
        return yearless_mention((match.start("name"), match.end()), calendar, month, None)
    away = AWAY[which]
    year = calendar.day.year
    if away < 0 and month >= calendar.day.month:
        year -= 1
    elif away > 0 and month <= calendar.day.month:
        year += 1
    return in_year(year, month, None)


def _months(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    """Return a range of months; it needs a year, or `between` or `from` before it."""
    year = int(match["year"]) if match["year"] else _near_year(match["which"], calendar)
    if year is None and match["between"] is None:
        return None
    first, second = month_named(match["first"]), month_named(match["second"])
    begins = calendar.nearest(first, None) if year is None else in_year(year - (first > second), first, None)
    ends = begins and in_year(begins.first.year + (first > second), second, None)
    return DaySpan(begins.first, ends.last) if begins and ends else None


def _days_of_month(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    first, last = int(match["one"] or match["three"]), int(match["two"] or match["four"])
    return days_of_month(calendar, match["year"], month_named(match["before"] or match["behind"]), first, last)


def _years(match: TextMatch, _calendar: Calendar) -> TimeMention | None:
    span = year_of(int(match["year"]))
    return None if span is None else TimeMention(*match.span("year"), span)


def _quarters(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    year_text = match["first"] or match["year"]
    year = int(year_text) if year_text else _near_year(match["which"], calendar)
    if year is None and match["lead"] is None:
        return None
    number = int(match["number"]) if match["number"] else _QUARTER_NAMES.index(match["name"].lower()) + 1
    return TimeMention(*match.span("it"), calendar.quarter(number, year))


def _of_near_year(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    year, day = _near_year(match["which"] or match["before"], calendar), match["day"] or match["late_day"]
    name = match["name"] or match["behind"]
    is_word = name.lower() in _IS_WORD_TOO and not name[0].isupper()
    if year is None or (is_word and not (day or match["in"] or match["behind"])):
        return None
    span = in_year(year, month_named(name), int(day) if day else None)
    start = match.end("in") if match["in"] else match.start()
    return None if span is None else TimeMention(start, match.end(), span)


def _near_year(which: str | None, calendar: Calendar) -> int | None:
    return calendar.day.year + AWAY[which.lower()] if which else None


def _iso_month(match: TextMatch, _calendar: Calendar) -> DaySpan | None:
    return in_year(int(match["year"]), int(match["month"]), None)


def _day_of_it(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    number, which = int(match["day"]), (match["which"] or "").lower()
    if not (which or match["word"]):
        return None
    if which:
        month = month_of(calendar.day.year, calendar.day.month + AWAY[which])
        day = month and in_year(month.first.year, month.first.month, number)
    else:
        day = calendar.day_of_month(number, is_past=english_direction(match.string) is Direction.PAST)
    # other words than `on` stay outside, since a question is parsed by them
    start = match.start() if match["word"] and match["word"].lower() == "on" else match.start("it")
    return None if day is None else TimeMention(start, match.end(), day)


def _days_of_it(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    begins = calendar.day_of_month(int(match["one"]), is_past=english_direction(match.string) is Direction.PAST)
    ends = begins and in_year(begins.first.year, begins.first.month, int(match["two"]))
    if begins and ends and begins.first <= ends.first:
        return TimeMention(*match.span("it"), DaySpan(begins.first, ends.last))
    return None


def _unit(match: TextMatch) -> Unit:
    return Unit(match["unit"].lower())


def count_of(match: TextMatch) -> int:
    """Return the number in the group `count` of a match, written in digits or words."""
    text = match["count"].lower()
    return int(text) if text.isdecimal() else sum(_COUNTS[word] for word in text.replace("-", " ").split())


_WEEKDAYS_BY_NAME = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_DIRECTIONS = dict.fromkeys(("last", "past", "since"), Direction.PAST) | dict.fromkeys(
    ("next", "coming", "until", "till", "by"), Direction.FUTURE
)
_QUARTER_NAMES = ("first", "second", "third", "fourth")
_NAMES = (
    "jan",
    "feb",
    "mar",
    "may",
    "mai",
    "maerz",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "okt",
    "nov",
    "dec",
    "dez",
)
_OF_UNITS = ("day", "week", "month", "year")
_RULES = (
    (_NAMED_DAY, _named_day, ("day", "tomorrow", "night", "this")),
    (_UNIT_NEXT_TO, _unit_next_to, ("week", "month", "year")),
    (_NEAR_WEEKEND, _near_weekend, ("the weekend",)),
    (ENGLISH_SEASON, english_season, ("spring", "summer", "autumn", "fall", "winter")),
    (_UNITS_AGO, _units_ago, ("ago", "from now")),
    (_IN_UNITS, _in_units, _OF_UNITS),
    (_PAST_UNITS, _past_units, _OF_UNITS),
    (_DAYS_OF_MONTH, _days_of_month, _NAMES),
    (_MONTHS, _months, _NAMES),
    (_WEEKDAYS, _weekdays, _WEEKDAYS_BY_NAME),
    (_BARE_MONTH, _bare_month, _NAMES),
    (_DAY_OF_IT, _day_of_it, ("the ",)),
    (_DAYS_OF_IT, _days_of_it, ("the ",)),
    (_OF_NEAR_YEAR, _of_near_year, (" year",)),
    (_YEARS, _years, ("19", "20")),
    (_QUARTERS, _quarters, ("q1", "q2", "q3", "q4", "quarter")),
    (_ISO_MONTH, _iso_month, ("-0", "-1")),
)
"""Rules: a pattern, the reading of a match, and strings, one of which the text must contain (a much faster check)."""
