"""Parsing of times in texts and questions: spans of days, in three languages, relative to the day of the text.

A number alone is not a year, a date that does not exist is ignored, and a missing year is the one nearest to the day.
Doubtful times are ignored, since a guessed time would match memories that the question is not about.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.line import RetainedLine, written_span
from memoryd.domain.memories.times.english import NO_PART, count_of, english_direction, english_times
from memoryd.domain.memories.times.grammar import (
    DayRelevance,
    DayWord,
    asks_ahead,
    asks_for_plans,
    clauses_of,
    question_part,
    relevance_of,
)
from memoryd.domain.memories.times.languages import (
    chinese_direction,
    chinese_times,
    holds_chinese,
    translate_german_times,
)
from memoryd.domain.memories.times.spans import (
    Calendar,
    DaySpan,
    Direction,
    TimeMention,
    in_year,
    mask_paths,
    mask_recurring,
    mask_titles,
    narrow_to_part,
    shift_day,
    single_day,
    week_of,
    weekend_of,
    yearless_mention,
)
from memoryd.domain.text.dates import MONTH, placed_dates
from memoryd.domain.text.words import normalised

MAX_SPANS = 16
"""Most times of one text."""
MAX_CHARS = 20_000
"""Length of text that is parsed; a longer memory names its times at the beginning."""
AROUND = 3
"""Days that `around` adds on both sides."""
FURTHEST_AHEAD = 60
"""Days; in a question about the past, a date without a year means last year if the nearest is further ahead."""
LONGEST_EVENT = 45
"""Days; times further apart belong to several events, and the first counts."""

_TO = caseless(r"\s*(?:-|–|—|~|〜|\bto\b|\buntil\b|\btill\b|\bthrough\b|一?直?到|至)\s*\Z")
_AND = caseless(r"\s*(?:\band\b|和|与|與|跟)\s*\Z")
_OPENS = caseless(r"\bbetween\s(?:the\s)?\Z")
_BETWEEN = expression(r"\s*之?间|\s*之?間")
_FROM = caseless(r"(?:\bfrom\s(?:the\s)?|自从?|從|从)\Z")
_YEAR = expression(r"[0-9]{4}")
_SINCE = caseless(r"(?:\b(?:ever\s)?since\s(?:the\s)?|自从?)\Z")
_SINCE_IT = caseless(r"\s*(?:以来|以來|起|开始|開始|至今|到现在|到現在)|\s(?:onwards?|on)\b(?!\s\w)")
_AFTER = caseless(r"\b(?:after|following)\s(?:the\s)?\Z")
_AFTER_IT = expression("(?:之|以)[后後]|[后後](?![天来续面])")
_BEFORE = caseless(r"\b(?:before|prior\sto|earlier\sthan)\s(?:the\s)?\Z")
_BEFORE_IT = expression("(?:之|以)前|前(?![天后後面年几]|一[天日周])")
_UNTIL = caseless(r"(?:\b(?:until|till|up\sto|by)\s(?:the\s)?|直?到|截至|截止)\Z")
_AROUND = caseless(r"(?:\b(?:around|about|near|circa|approximately|roughly|close\sto)\s(?:the\s)?|大[约約概])\Z")
_ABOUT = caseless(r"\babout\s\Z")
_RELATIVE = caseless(r"(?:yesterday|today|tonight|tomorrow|(?:this|last|next)\s)")
"""Times that `about` does not widen: in `about yesterday` it introduces the topic."""
_AROUND_IT = expression("的?(?:前[后後]|左右|附近|上下)|那几天|那幾天|\\s(?:or\\sso|or\\sthereabouts)\\b")
_SHIFT = caseless(
    rf"\b(?:{NO_PART}(?P<count>[0-9]{{1,4}}|an?|one|two|three|four|five|six|seven)\s(?P<unit>day|week)s?|the\sday)"
    r"\s(?P<sense>before|after)\s(?:the\s)?\Z"
)
_WEEK_OF = caseless(r"\bweek\s(?:of|around)\s(?:the\s)?\Z")
_WEEKEND_OF = caseless(r"\bweekend\s(?:of|around)\s(?:the\s)?\Z")
_WEEK_OF_IT = expression("的?[那这這][一个個]?(?:周|週|星期|礼拜|禮拜)")
_BEFORE_CHARS, _BEHIND_CHARS = 40, 12
_MAY_HOLD_WEEKDAYS = caseless("day|weekend|[MTWFS](?:on|ue|ed|hu|ri|at|un)|[周週期拜]")
_MAY_HOLD_DATES = expression("[0-9月월]")
_DAY_AND_DATE = caseless(r"\s*[,(（]?\s*(?:the\s)?\Z")
_SAYS_WHICH = caseless("last|past|this|next|coming|[上下这這本]")
_IS_DATE = caseless(rf"\b{MONTH}\b|[0-9]{{4}}|[0-9](?:st|nd|rd|th)\b|[0-9一二三四五六七八九十]\s?[月号號日]")
_QUESTION_FUTURE = caseless(r"\b(?:will|going\sto|plan(?:s|ned)?|upcoming)\b|'ll\b|会|要|打算|计划|将|安排(?![了过])")


def spans_in(text: str, day: date) -> tuple[DaySpan, ...]:
    """Return the first `MAX_SPANS` distinct spans of days that a text written on `day` names, in order.

    A span with `since` ends on the day of the text, a span with `until` begins on it.
    """
    plain = mask_recurring(mask_titles(mask_paths(_plain(text))))
    direction = Direction.NEAREST
    if _MAY_HOLD_WEEKDAYS.search(plain):
        direction = chinese_direction(plain) if holds_chinese(plain) else english_direction(plain)
    spans = (_span_in_text(plain, mention, day) for mention in _mentions(plain, Calendar(day, direction)))
    return tuple(dict.fromkeys(spans))[:MAX_SPANS]


def event_span(line: RetainedLine, day: date | None) -> DaySpan | None:
    """Return the days of the event in a line: its `at`, else the times in its text, relative to the line's `day`.

    Several times within `LONGEST_EVENT` days are one event; otherwise the first counts. None if the line names no time,
    or has no day to which its times refer.
    """
    if line.attributes.at:
        return DaySpan(*written_span(line.attributes.at))
    spans = spans_in(line.text, day) if day is not None else ()
    if not spans:
        return None
    hull = _hull(spans)
    return hull if (hull.last - hull.first).days <= LONGEST_EVENT else spans[0]


class QueryDays(Struct, frozen=True):
    """The days that a question names."""

    span: DaySpan
    is_matter: bool
    """Whether the question is about these days; otherwise they are only a hint."""
    is_ahead: bool = False
    """Whether it asks for plans for these days; for those, the day on which a memory was written is no evidence."""


def query_days(question: str, today: date) -> QueryDays | None:
    """Return the days that a question asks about; None if it names no time, or only times of plans.

    `since`, `after`, `before` and `until` leave an end open: `date.min` or `date.max`. `around` adds three days on both
    sides. Unless the question is about the future, a weekday is in the past, and a date without a year is not far
    ahead.
    """
    plain = mask_recurring(mask_titles(_plain(question)))
    mentions = _mentions(plain, Calendar(today, Direction.PAST, FURTHEST_AHEAD))
    if not mentions:
        return None
    clauses = clauses_of(plain)
    if _QUESTION_FUTURE.search(question_part(plain, clauses)):
        mentions = _mentions(plain, Calendar(today, Direction.FUTURE))
    elif asks_ahead(clauses):
        mentions = _mentions(plain, Calendar(today, Direction.FUTURE, FURTHEST_AHEAD))
    relevances = [
        (relevance_of(_day_word(plain, mention, today), plain, clauses), mention) for mention in mentions[:MAX_SPANS]
    ]
    best = max((relevance for relevance, _ in relevances), default=DayRelevance.PASSING)
    if best is DayRelevance.PASSING:
        return None
    span = _combine([_span_in_question(plain, mention) for relevance, mention in relevances if relevance is best])
    is_matter = best is DayRelevance.MATTER
    return QueryDays(span, is_matter, is_matter and span.last >= today and asks_for_plans(clauses))


def _combine(spans: Sequence[DaySpan]) -> DaySpan:
    """Return the intersection of the open spans if there is one, else the hull of the open, or of all, spans."""
    if unbounded := [span for span in spans if span.is_open]:
        first, last = max(span.first for span in unbounded), min(span.last for span in unbounded)
        if first <= last:
            return DaySpan(first, last)
    return _hull(unbounded or spans)


def _day_word(plain: str, mention: TimeMention, today: date) -> DayWord:
    return DayWord(
        mention.start,
        mention.end,
        is_over=mention.span.last < today,
        is_weekday=mention.is_weekday and not _says_which(plain, mention),
        is_date=_IS_DATE.search(plain[mention.start : mention.end]) is not None,
    )


def _says_which(plain: str, weekday: TimeMention) -> bool:
    return _SAYS_WHICH.match(plain, weekday.start) is not None


def _plain(text: str) -> str:
    return translate_german_times(normalised(text[:MAX_CHARS]).replace("..", " – "))


def _mentions(plain: str, calendar: Calendar) -> list[TimeMention]:
    """Return the times that a text names, in order: the longest of overlapping ones, with neighbours joined."""
    mentions = sorted(_all_mentions(plain, calendar), key=lambda mention: (mention.start, -mention.end))
    apart: list[TimeMention] = []
    for mention in mentions:
        if apart and mention.start < apart[-1].end:
            if mention.end - mention.start > apart[-1].end - apart[-1].start:
                apart[-1] = mention
        else:
            apart.append(mention)
    joined: list[TimeMention] = []
    for mention in apart:
        if joined and (both := _join(plain, joined[-1], mention, calendar)):
            joined[-1] = both
        else:
            joined.append(mention)
    return joined


def _all_mentions(plain: str, calendar: Calendar) -> Iterator[TimeMention]:
    for start, end, written in placed_dates(plain) if _MAY_HOLD_DATES.search(plain) else ():
        end -= len(plain[start:end]) - len(plain[start:end].rstrip())
        if written.year is None:
            if mention := yearless_mention((start, end), calendar, written.month, written.day):
                yield mention
        elif span := in_year(written.year, written.month, written.day):
            yield TimeMention(start, end, span)
    yield from english_times(plain, calendar)
    if holds_chinese(plain):
        yield from chinese_times(plain, calendar)


def _join(plain: str, first: TimeMention, second: TimeMention, calendar: Calendar) -> TimeMention | None:
    """Return the range of two neighbouring mentions, or the date in `Friday, Nov 28`; None if they are two times."""
    gap = plain[first.end : second.start]
    if len(gap) > _BEHIND_CHARS:
        return None
    if first.is_weekday and not second.is_weekday and _DAY_AND_DATE.match(gap):
        return replace(second, start=first.start)
    if not (_TO.match(gap) or (_AND.match(gap) and _is_between(plain, first, second))):
        return None
    begins, ends = _same_years(first, second)
    if first.is_weekday and second.is_weekday and _says_which(plain, first) and not _says_which(plain, second):
        # the second weekday is in the week of the first: 下周一到周三
        ends = single_day(shift_day(begins.first, (ends.first - begins.first).days % 7))
    if ends.last < begins.first and first.is_weekday and second.is_weekday:
        begins, ends = _in_one_week(begins, ends, calendar)
    if ends.last < begins.first:
        return None
    return TimeMention(first.start, second.end, DaySpan(begins.first, ends.last))


def _in_one_week(begins: DaySpan, ends: DaySpan, calendar: Calendar) -> tuple[DaySpan, DaySpan]:
    """Return two weekdays whose first is after the second, in order: one of them is moved by a week."""
    is_nearer = (calendar.day - ends.last) <= (begins.first - calendar.day)
    is_past = is_nearer if calendar.direction is Direction.NEAREST else calendar.direction is Direction.PAST
    return (begins.shifted(-7, -7), ends) if is_past else (begins, ends.shifted(7, 7))


def _same_years(first: TimeMention, second: TimeMention) -> tuple[DaySpan, DaySpan]:
    """Return the days of a range; a date without a year gets its neighbour's, or the year that puts them in order."""
    begins, ends = first.span, second.span
    if second.yearless and (span := in_year(begins.first.year, *second.yearless)):
        ends = span if span.last >= begins.first else in_year(begins.first.year + 1, *second.yearless) or ends
    elif first.yearless and (span := in_year(ends.last.year, *first.yearless)):
        begins = span if span.first <= ends.last else in_year(ends.last.year - 1, *first.yearless) or begins
    return begins, ends


def _is_between(plain: str, first: TimeMention, second: TimeMention) -> bool:
    before = plain[max(0, first.start - _BEFORE_CHARS) : first.start]
    return _OPENS.search(before) is not None or _BETWEEN.match(plain, second.end) is not None


def _narrow(plain: str, mention: TimeMention) -> tuple[str, DaySpan, str]:
    """Return the days of a mention, or of a part of them, with the text before and behind, as `narrow_to_part` does."""
    start, end = mention.start, mention.end
    return narrow_to_part(plain[max(0, start - _BEFORE_CHARS) : start], mention.span, plain[end : end + _BEHIND_CHARS])


def _span_in_text(plain: str, mention: TimeMention, day: date) -> DaySpan:
    """Return the days of a mention in a text written on `day`."""
    before, part, behind = _narrow(plain, mention)
    span = _shift(before, part)
    if _SINCE.search(before) or _SINCE_IT.match(behind):
        first = span.first
        is_exact = _YEAR.search(plain, mention.start, mention.end) or _RELATIVE.match(plain, mention.start)
        # `since` a future date without a year means the year before
        if first > day and not is_exact and (earlier := in_year(first.year - 1, first.month, first.day)):
            first = earlier.first
        if first <= day:
            return DaySpan(first, day)
    if _UNTIL.search(before) and day <= span.last:
        return DaySpan(min(day, span.first), span.last)
    return span


def _span_in_question(plain: str, mention: TimeMention) -> DaySpan:
    """Return the days of a mention in a question."""
    before, part, behind = _narrow(plain, mention)
    span = _shift(before, part)
    if span != part:
        return span
    if _WEEK_OF.search(before) or _WEEK_OF_IT.match(behind):
        return week_of(span.first)
    if _WEEKEND_OF.search(before):
        return weekend_of(span.first)
    is_exact = _ABOUT.search(before) and _RELATIVE.match(plain, mention.start)
    if (_AROUND.search(before) and not is_exact) or _AROUND_IT.match(behind):
        return span.shifted(-AROUND, AROUND)
    if _SINCE.search(before) or _SINCE_IT.match(behind):
        return DaySpan(span.first, date.max)
    if _BEFORE.search(before) or _BEFORE_IT.match(behind):
        return DaySpan(date.min, shift_day(span.first, -1))
    if _AFTER.search(before) or _AFTER_IT.match(behind):
        return DaySpan(shift_day(span.last, 1), date.max)
    if _UNTIL.search(before):
        return DaySpan(date.min, span.last)
    is_day = mention.span.first == mention.span.last
    return DaySpan(span.first, date.max) if is_day and _FROM.search(before) else span


def _shift(before: str, span: DaySpan) -> DaySpan:
    """Return the days of `three days before Nov 27` or `the day after Nov 27`, given those of `Nov 27`."""
    match = _SHIFT.search(before)
    if match is None:
        return span
    days = count_of(match) * (7 if match["unit"].lower() == "week" else 1) if match["count"] else 1
    days = -days if match["sense"].lower() == "before" else days
    return span.shifted(days, days)


def _hull(spans: Sequence[DaySpan]) -> DaySpan:
    return DaySpan(min(span.first for span in spans), max(span.last for span in spans))
