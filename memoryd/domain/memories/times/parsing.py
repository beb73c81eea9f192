"""When something was, as a text tells it: spans of days, in three languages, relative to the day it was written.

A number alone is no year, a date that no calendar has is none, and a year that is missing is the one nearest to the
day. In doubt nothing is said: a time that was guessed finds what nobody asked for.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.line import RetainedLine, written_span
from memoryd.domain.memories.times.english import NO_PART, counted, english_lean, english_times
from memoryd.domain.memories.times.grammar import (
    Bearing,
    DayWord,
    asks_ahead,
    asks_for_plans,
    bearing_of,
    clauses_of,
    question_part,
)
from memoryd.domain.memories.times.languages import chinese_lean, chinese_times, holds_chinese, in_english
from memoryd.domain.memories.times.spans import (
    Calendar,
    DaySpan,
    Lean,
    TimeMention,
    dated,
    in_year,
    one_day,
    part_named,
    shifted,
    week_of,
    weekend_of,
    without_places,
    without_repeated,
    without_titles,
)
from memoryd.domain.text.dates import MONTH, placed_dates
from memoryd.domain.text.words import normalised

MAX_SPANS = 16
"""Of one text."""
MAX_CHARS = 20_000
"""Of a text that are looked at: a memory that is longer tells its times at the beginning."""
AROUND = 3
"""Days on both sides of what is asked about with `around`."""
FURTHEST_AHEAD = 60
"""Days: a question about what was means last year's date, if the nearest one lies further ahead."""
LONGEST_EVENT = 45
"""Days: times further apart are several events, of which the first one counts."""

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
"""Nobody means three days more by `about yesterday`: it is what was talked about."""
_AROUND_IT = expression("的?(?:前[后後]|左右|附近|上下)|那几天|那幾天|\\s(?:or\\sso|or\\sthereabouts)\\b")
_SHIFT = caseless(
    rf"\b(?:{NO_PART}(?P<count>[0-9]{{1,4}}|an?|one|two|three|four|five|six|seven)\s(?P<unit>day|week)s?|the\sday)"
    r"\s(?P<sense>before|after)\s(?:the\s)?\Z"
)
_WEEK_OF = caseless(r"\bweek\s(?:of|around)\s(?:the\s)?\Z")
_WEEKEND_OF = caseless(r"\bweekend\s(?:of|around)\s(?:the\s)?\Z")
_WEEK_OF_IT = expression("的?[那这這][一个個]?(?:周|週|星期|礼拜|禮拜)")
_LOOK_BACK, _LOOK_AHEAD = 40, 12
_MAY_HOLD_WEEKDAYS = caseless("day|weekend|[MTWFS](?:on|ue|ed|hu|ri|at|un)|[周週期拜]")
_MAY_HOLD_DATES = expression("[0-9月월]")
_DAY_AND_DATE = caseless(r"\s*[,(（]?\s*(?:the\s)?\Z")
_SAYS_WHICH = caseless("last|past|this|next|coming|[上下这這本]")
_IS_DATE = caseless(rf"\b{MONTH}\b|[0-9]{{4}}|[0-9](?:st|nd|rd|th)\b|[0-9一二三四五六七八九十]\s?[月号號日]")
_QUESTION_FUTURE = caseless(r"\b(?:will|going\sto|plan(?:s|ned)?|upcoming)\b|'ll\b|会|要|打算|计划|将|安排(?![了过])")


def spans_in(text: str, day: date) -> tuple[DaySpan, ...]:
    """Return the distinct spans of days that a text of this day names, in order, the first `MAX_SPANS` of them.

    What is `since` a day goes on to the day of the text, what is `until` one begins there.
    """
    plain = without_repeated(without_titles(without_places(_plain(text))))
    lean = (chinese_lean if holds_chinese(plain) else english_lean)(plain) if _MAY_HOLD_WEEKDAYS.search(plain) else 0
    found = (_span_in_text(plain, one, day) for one in _mentions(plain, Calendar(day, Lean(lean))))
    return tuple(islice(dict.fromkeys(found), MAX_SPANS))


def event_span(line: RetainedLine, day: date | None) -> DaySpan | None:
    """Return when what a line states was so: its `at`, else what its text says, relative to the day it stands under.

    Several times within `LONGEST_EVENT` days are one event, of others the first counts. None if it says nothing, or
    nothing that can be told without a day.
    """
    if line.attributes.at:
        return DaySpan(*written_span(line.attributes.at))
    spans = spans_in(line.text, day) if day is not None else ()
    if not spans:
        return None
    hull = _hull(spans)
    return hull if (hull.last - hull.first).days <= LONGEST_EVENT else spans[0]


class QueryDays(Struct, frozen=True):
    """The days that a question speaks of; `is_matter`: it is about them, else they only say a little more.

    `is_ahead`: it asks what is planned for them, which nothing says by the day of its writing alone.
    """

    span: DaySpan
    is_matter: bool
    is_ahead: bool = False


def query_days(question: str, today: date) -> QueryDays | None:
    """Return the days that a question asks about; None if it names no time, or only that of somebody's plan.

    `since`, `after`, `before` and `until` leave an end open: `date.min` or `date.max`. `around` takes three days on
    both sides. A weekday is the one that has been, and a date without a year is not far ahead, unless the question
    is about what will be.
    """
    plain = without_repeated(without_titles(_plain(question)))
    mentions = _times(plain, Calendar(today, Lean.PAST, FURTHEST_AHEAD))
    if not mentions:
        return None
    clauses = clauses_of(plain)
    if _QUESTION_FUTURE.search(question_part(plain, clauses)):
        mentions = _times(plain, Calendar(today, Lean.FUTURE))
    elif asks_ahead(clauses):
        mentions = _times(plain, Calendar(today, Lean.FUTURE, FURTHEST_AHEAD))
    bearings = [bearing_of(_day_word(plain, one, today), plain, clauses) for one in mentions]
    best = max(bearings, default=Bearing.PASSING)
    if best is Bearing.PASSING:
        return None
    spans = [_span_in_question(plain, one) for one, bearing in zip(mentions, bearings, strict=True) if bearing is best]
    span, is_matter = _combine(spans), best is Bearing.MATTER
    return QueryDays(span, is_matter, is_matter and span.last >= today and asks_for_plans(clauses))


def _times(plain: str, calendar: Calendar) -> list[TimeMention]:
    return list(islice(_mentions(plain, calendar), MAX_SPANS))


def _combine(spans: Sequence[DaySpan]) -> DaySpan:
    open_ones = [span for span in spans if span.is_open]
    if open_ones:
        first, last = max(span.first for span in open_ones), min(span.last for span in open_ones)
        return DaySpan(first, last) if first <= last else _hull(open_ones)
    return _hull(spans)


def _day_word(plain: str, mention: TimeMention, today: date) -> DayWord:
    said = plain[mention.start : mention.end]
    return DayWord(
        mention.start,
        mention.end,
        is_over=mention.span.last < today,
        is_weekday=mention.is_weekday and not _says_which(plain, mention),
        is_date=_IS_DATE.search(said) is not None,
    )


def _says_which(plain: str, weekday: TimeMention) -> bool:
    return _SAYS_WHICH.match(plain, weekday.start) is not None


def _plain(text: str) -> str:
    return in_english(normalised(text[:MAX_CHARS]).replace("..", " – "))


def _mentions(plain: str, calendar: Calendar) -> Iterator[TimeMention]:
    """Yield what a text names, longest first where two overlap, neighbours joined to ranges."""
    mentions = sorted(_all_mentions(plain, calendar), key=lambda one: (one.start, -one.end))
    apart: list[TimeMention] = []
    for one in mentions:
        if apart and one.start < apart[-1].end:
            if one.end - one.start > apart[-1].end - apart[-1].start:
                apart[-1] = one
        else:
            apart.append(one)
    yield from _join_neighbours(plain, apart, calendar)


def _all_mentions(plain: str, calendar: Calendar) -> Iterator[TimeMention]:
    for start, end, written in placed_dates(plain) if _MAY_HOLD_DATES.search(plain) else ():
        end -= len(plain[start:end]) - len(plain[start:end].rstrip())
        if written.year is None:
            found = dated((start, end), calendar, written.month, written.day)
        else:
            span = in_year(written.year, written.month, written.day)
            found = None if span is None else TimeMention(start, end, span)
        if found is not None:
            yield found
    yield from english_times(plain, calendar)
    if holds_chinese(plain):
        yield from chinese_times(plain, calendar)


def _join_neighbours(plain: str, apart: Sequence[TimeMention], calendar: Calendar) -> Iterator[TimeMention]:
    pending: TimeMention | None = None
    for one in apart:
        joined = None if pending is None else _join(plain, pending, one, calendar)
        if pending is not None and joined is None:
            yield pending
        pending = joined or one
    if pending is not None:
        yield pending


def _join(plain: str, first: TimeMention, second: TimeMention, calendar: Calendar) -> TimeMention | None:
    """Return the range of two neighbours, or the date of `Friday, Nov 28`; None if they are two times."""
    gap = plain[first.end : second.start]
    if len(gap) > _LOOK_AHEAD:
        return None
    if first.is_weekday and not second.is_weekday and _DAY_AND_DATE.match(gap):
        return replace(second, start=first.start)
    if not (_TO.match(gap) or (_AND.match(gap) and _is_between(plain, first, second))):
        return None
    begins, ends = _same_years(first, second)
    if first.is_weekday and second.is_weekday and _says_which(plain, first) and not _says_which(plain, second):
        # of the week that the first says: 下周一到周三
        ends = one_day(shifted(begins.first, (ends.first - begins.first).days % 7))
    if ends.last < begins.first and first.is_weekday and second.is_weekday:
        begins, ends = _in_one_week(begins, ends, calendar)
    if ends.last < begins.first:
        return None
    return TimeMention(first.start, second.end, DaySpan(begins.first, ends.last))


def _in_one_week(begins: DaySpan, ends: DaySpan, calendar: Calendar) -> tuple[DaySpan, DaySpan]:
    """Return two weekdays, the first of which was found behind the second, in order: in the nearer week that fits."""
    is_nearer = (calendar.day - ends.last) <= (begins.first - calendar.day)
    is_past = is_nearer if calendar.lean is Lean.NEAREST else calendar.lean is Lean.PAST
    return (begins.shifted(-7, -7), ends) if is_past else (begins, ends.shifted(7, 7))


def _same_years(first: TimeMention, second: TimeMention) -> tuple[DaySpan, DaySpan]:
    """Give a date without a year that of its neighbour, or the one that makes the range run forwards."""
    begins, ends = first.span, second.span
    if second.yearless and (found := in_year(begins.first.year, *second.yearless)):
        ends = found if found.last >= begins.first else in_year(begins.first.year + 1, *second.yearless) or ends
    elif first.yearless and (found := in_year(ends.last.year, *first.yearless)):
        begins = found if found.first <= ends.last else in_year(ends.last.year - 1, *first.yearless) or begins
    return begins, ends


def _is_between(plain: str, first: TimeMention, second: TimeMention) -> bool:
    before = plain[max(0, first.start - _LOOK_BACK) : first.start]
    return _OPENS.search(before) is not None or _BETWEEN.match(plain, second.end) is not None


def _part_named(plain: str, one: TimeMention) -> tuple[str, DaySpan, str]:
    """Return the days of a mention, or the part of a month that it names, with the text right before and behind."""
    before, behind = plain[max(0, one.start - _LOOK_BACK) : one.start], plain[one.end : one.end + _LOOK_AHEAD]
    return part_named(before, one.span, behind)


def _span_in_text(plain: str, one: TimeMention, day: date) -> DaySpan:
    """Return the span that a mention has in a text of this day."""
    before, part, behind = _part_named(plain, one)
    span = _shift(before, part)
    if _SINCE.search(before) or _SINCE_IT.match(behind):
        first = span.first
        if first > day and not (_YEAR.search(plain, one.start, one.end) or _RELATIVE.match(plain, one.start)):
            # the one before the nearest
            earlier = in_year(first.year - 1, first.month, first.day)
            first = first if earlier is None else earlier.first
        if first <= day:
            return DaySpan(first, day)
    if _UNTIL.search(before) and day <= span.last:
        return DaySpan(min(day, span.first), span.last)
    return span


def _span_in_question(plain: str, one: TimeMention) -> DaySpan:
    """Return the span that a question means by a mention."""
    before, part, behind = _part_named(plain, one)
    span = _shift(before, part)
    if span != part:
        return span
    if _WEEK_OF.search(before) or _WEEK_OF_IT.match(behind):
        return week_of(span.first)
    if _WEEKEND_OF.search(before):
        return weekend_of(span.first)
    is_exact = _ABOUT.search(before) and _RELATIVE.match(plain, one.start)
    if (_AROUND.search(before) and not is_exact) or _AROUND_IT.match(behind):
        return span.shifted(-AROUND, AROUND)
    if _SINCE.search(before) or _SINCE_IT.match(behind):
        return DaySpan(span.first, date.max)
    if _BEFORE.search(before) or _BEFORE_IT.match(behind):
        return DaySpan(date.min, shifted(span.first, -1))
    if _AFTER.search(before) or _AFTER_IT.match(behind):
        return DaySpan(shifted(span.last, 1), date.max)
    if _UNTIL.search(before):
        return DaySpan(date.min, span.last)
    is_day = one.span.first == one.span.last
    return DaySpan(span.first, date.max) if is_day and _FROM.search(before) else span


def _shift(before: str, span: DaySpan) -> DaySpan:
    """Return the span of `three days before Nov 27`, or `the day after Nov 27`."""
    match = _SHIFT.search(before)
    if match is None:
        return span
    days = counted(match) * (7 if match["unit"].lower() == "week" else 1) if match["count"] else 1
    days = -days if match["sense"].lower() == "before" else days
    return span.shifted(days, days)


def _hull(spans: Sequence[DaySpan]) -> DaySpan:
    return DaySpan(min(span.first for span in spans), max(span.last for span in spans))
