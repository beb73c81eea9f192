"""Spans of days, calendar arithmetic, and work that is due at a time of day.

Weeks begin on Monday (ISO 8601). Work is due once a day, also after the machine slept or a clock was set.

The second half is shared by the time parsers of all languages: mentions of times, parts of months and years, seasons,
and names of days that are not times of events. `see memory/2025-11-27.md` is a path, and `every Monday` and `每周三`
name no calendar day. Seasons are those of the northern hemisphere: spring begins in March, and a winter belongs to the
year of the December in which it begins.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from enum import IntEnum, StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.text.dates import MONTH


def last_due(now: datetime, at: time, zone: ZoneInfo | None) -> datetime:
    """Return the last moment, not after `now`, at which the local time of a zone was `at`; None for the system's zone.

    A local time skipped in spring counts as the time after the gap; of a time repeated in autumn, the first counts.
    """
    today = now.astimezone(zone).date()
    due = _moment(today, at, zone)
    return due if due <= now else _moment(today - timedelta(days=1), at, zone)


def is_due(last: datetime | None, now: datetime, at: time, zone: ZoneInfo | None) -> bool:
    """Return whether the last run was before the last due moment; several missed runs are due once."""
    return last is None or last < last_due(now, at, zone)


def _moment(day: date, at: time, zone: ZoneInfo | None) -> datetime:
    local = datetime.combine(day, at)
    # `astimezone` moves a local time that does not exist behind the gap
    return (local.replace(tzinfo=zone) if zone else local).astimezone()


_WEEK = 7
_SATURDAY = 5


class DaySpan(Struct, frozen=True, order=True):
    """Days from `first` to `last`, both included; an open end is `date.min` or `date.max`."""

    first: date
    last: date

    def overlaps(self, other: "DaySpan") -> bool:
        """Return whether two spans have a day in common."""
        return self.first <= other.last and other.first <= self.last

    def shifted(self, first: int, last: int) -> "DaySpan":
        """Return the span with its first and last day moved by so many days."""
        return DaySpan(shift_day(self.first, first), shift_day(self.last, last))

    @property
    def is_open(self) -> bool:
        return self.first == date.min or self.last == date.max

    def distance(self, day: date) -> int:
        """Return the number of days between a day and the span; 0 within it."""
        return max((self.first - day).days, (day - self.last).days, 0)


class Unit(StrEnum):
    """Unit of calendar time."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    YEAR = "year"


def single_day(day: date) -> DaySpan:
    """Return the span of one day."""
    return DaySpan(day, day)


def shift_day(day: date, days: int) -> date:
    """Return the day `days` later, clamped to the calendar: `date.min` to `date.max`."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def month_of(year: int, month: int) -> DaySpan | None:
    """Return a month; a number above 12 or below 1 continues in other years. None outside the years 1 to 9999."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if not date.min.year <= year <= date.max.year:
        return None
    return DaySpan(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def year_of(year: int) -> DaySpan | None:
    """Return a year; None outside the years 1 to 9999."""
    if not date.min.year <= year <= date.max.year:
        return None
    return DaySpan(date(year, 1, 1), date(year, 12, 31))


def week_of(day: date) -> DaySpan:
    """Return the week of a day."""
    return DaySpan(shift_day(day, -day.weekday()), shift_day(day, _WEEK - 1 - day.weekday()))


def weekend_of(day: date) -> DaySpan:
    """Return Saturday and Sunday of the week of a day."""
    return DaySpan(shift_day(day, _SATURDAY - day.weekday()), shift_day(day, _WEEK - 1 - day.weekday()))


def unit_away(day: date, count: int, unit: Unit) -> DaySpan | None:
    """Return the day, week, weekend, month or year that is `count` units after that of `day`; before, if negative."""
    if unit is Unit.DAY:
        return single_day(shift_day(day, count))
    if unit is Unit.WEEK:
        return week_of(shift_day(day, _WEEK * count))
    if unit is Unit.WEEKEND:
        return weekend_of(shift_day(day, _WEEK * count))
    if unit is Unit.MONTH:
        return month_of(day.year, day.month + count)
    return year_of(day.year + count)


def last_units(day: date, count: int, unit: Unit) -> DaySpan | None:
    """Return the days from `count` units ago up to `day`."""
    if unit in (Unit.DAY, Unit.WEEK):
        return DaySpan(shift_day(day, -count * (_WEEK if unit is Unit.WEEK else 1)), day)
    month = month_of(day.year, day.month - count * (12 if unit is Unit.YEAR else 1))
    return month and DaySpan(shift_day(month.first, min(day.day, month.last.day) - 1), day)


def in_year(year: int, month: int, day: int | None) -> DaySpan | None:
    """Return a month, or a day in it; None if it does not exist."""
    span = month_of(year, month)
    if span is None or day is None:
        return span
    return single_day(shift_day(span.first, day - 1)) if 1 <= day <= span.last.day else None


def nearest_year(near: date, month: int, day: int | None) -> DaySpan | None:
    """Return the day or month nearest to `near` in any year, the earlier at a tie; None if it does not exist.

    29 February is searched in the eight years before and after, since the distance of leap years is at most eight.
    """
    distance = 8 if (month, day) == (2, 29) else 1
    years = range(near.year - distance, near.year + distance + 1)
    spans = filter(None, (in_year(year, month, day) for year in years))
    return min(spans, key=lambda span: (span.distance(near), span.first), default=None)


_HIDDEN = "#"
_EXTENSION = "(?:md|markdown|txt|json5?|ya?ml|toml|csv|pdf|png|jpe?g|html?|py|log)"
_PLACE = expression(
    r"\]\([^()\s]{1,2000}+\)|\b[a-z][a-z0-9+.-]{1,20}://[^\s()<>]++"
    rf"|(?<![\w.~/-])(?=[A-Za-z~._])[\w.~-]++(?:/[\w.~@:+-]++)++(?:\#[\w-]+)?"
    rf"|(?<![\w.~/-])[\w~-]{{1,200}}+\.{_EXTENSION}\b(?:\#[\w-]+)?",
    re.ASCII | re.IGNORECASE,
)
_TITLE = expression("《[^《》]{1,80}》|明天[会將将]?更加?美?好")
_DIGIT = expression("[0-9]")

_WEEKDAY = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_ORDINAL = "(?:first|second|third|fourth|fifth|last|other|[0-9]{1,2}(?:st|nd|rd|th))"
_TIME = (
    rf"(?:{_ORDINAL}\s)?(?:{_WEEKDAY}|{MONTH}(?:\s[0-9]{{1,2}}(?:st|nd|rd|th)?)?"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{MONTH})\b"
)
_TIMES = rf"{_TIME}(?:(?:,?\s(?:and|or|to|through|until)\s|,\s?|\s?[&/–-]\s?)(?:on\s|the\s){{0,2}}{_TIME}){{0,6}}"
_UNIT = "(?:day|week|month|quarter|year|term|season|morning|evening|weekend)"
_ENGLISH = expression(
    rf"\b(?:every|each)\s(?:(?:{_ORDINAL}|two|three|four|single|[0-9]{{1,2}})\s)?"
    rf"(?:{_UNIT}s?,?\s(?:(?:on|in|at|the|of)\s){{0,2}})?{_TIMES}"
    rf"|\b(?:the\s)?{_ORDINAL}\s(?:(?:and|or)\s(?:the\s)?{_ORDINAL}\s)?{_WEEKDAY}\s(?:of|in)\s(?:the|each|every|a)\s{_UNIT}\b"
    r"|\b(?:daily|weekly|fortnightly|biweekly|monthly|quarterly|yearly|annually|(?:once|twice|times)\sa\s(?:week|month|year)),?"
    rf"\s(?:(?:on|in|at|the)\s){{0,2}}{_TIMES}|\b(?:on\s)?{_WEEKDAY}\s(?:of\s)?(?:every|each)\s{_UNIT}\b"
    rf"|\b(?:a|an|any|some|no|most|all)\s{_WEEKDAY}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
    re.ASCII | re.IGNORECASE,
)
_WEEK_WORD = "(?:周|週|星期|礼拜|禮拜)"
_NUMBER = "[一二两兩三四五六七八九十0-9]"
_EASTERN_TIME = (
    rf"(?:第?{_NUMBER}个|第{_NUMBER}個|最后一?个|最後一?個)?"
    rf"(?:{_WEEK_WORD}[一二三四五六日天末]|{_NUMBER}{{1,3}}月份?(?:{_NUMBER}{{1,3}}[日号號])?|{_NUMBER}{{1,3}}[日号號]|[一二三四五六日天])"
)
_EASTERN = expression(
    rf"(?:每逢?|逢|隔){_NUMBER}{{0,2}}[个個]?(?:{_WEEK_WORD}|月|年|季度)?份?的?"
    rf"{_EASTERN_TIME}(?:(?:[、和与與及或到至,，-]|以及){{0,1}}{_EASTERN_TIME}){{0,6}}"
)


def mask_paths(plain: str) -> str:
    """Return a text of the same length with `#` for paths and links with digits, which may contain names of days."""
    if "/" not in plain and "." not in plain and "](" not in plain:
        return plain
    return _PLACE.sub(lambda match: _HIDDEN * len(match[0]) if _DIGIT.search(match[0]) else match[0], plain)


def mask_titles(plain: str) -> str:
    """Return a text of the same length with `#` for titles of works and set phrases: `《昨日重现》`, `明天会更好`."""
    return _TITLE.sub(_hidden, plain) if "《" in plain or "更" in plain else plain


def mask_recurring(plain: str) -> str:
    """Return a text of the same length with `#` for recurring times, such as `every Monday`."""
    return _EASTERN.sub(_hidden, _ENGLISH.sub(_hidden, plain)) if plain else plain


def _hidden(match: TextMatch) -> str:
    return _HIDDEN * len(match[0])


_BEFORE = caseless(
    r"\b(?:(?P<part>early|mid|late|(?:beginning|start|middle|end)\sof)[\s-](?:in\s)?(?:the\s)?"
    r"|(?P<week>first|second|third|fourth|last|1st|2nd|3rd|4th)\sweek\s(?:of|in)\s(?:the\s)?)\Z"
)
_BEHIND = expression("的?年?(?:(?P<early>初|上旬)|(?P<mid>中旬?)|(?P<late>底|末|下旬))")
_THIRD = 10
_EARLY = ("early", "beginning", "start")
_MID = ("mid", "middle")
_WEEKS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "1st": 0, "2nd": 1, "3rd": 2, "4th": 3}


def narrow_to_part(before: str, span: DaySpan, behind: str) -> tuple[str, DaySpan, str]:
    """Return the part of a month or year that the text around `span` names, and the remaining text around it.

    Without such a part, all three values are returned unchanged. Early and mid are the first and second ten days of a
    month, late its remaining days; in a year, each is four months. Weeks are counted from the first of the month.
    """
    if span.is_open or span not in (month_of(span.first.year, span.first.month), year_of(span.first.year)):
        return before, span, behind
    if match := _BEFORE.search(before):
        week, part = match["week"], (match["part"] or "").lower()
        third = 0 if part.startswith(_EARLY) else 1 if part.startswith(_MID) else 2
        return before[: match.start()], _week(span, week.lower()) if week else _third(span, third), behind
    if match := _BEHIND.match(behind):
        third = 0 if match["early"] else 1 if match["mid"] else 2
        return before, _third(span, third), behind[match.end() :]
    return before, span, behind


def _third(span: DaySpan, number: int) -> DaySpan:
    """Return the early (0), mid (1) or late (2) part of a month or a year."""
    if span.first.month != span.last.month:
        return _months(span.first.year, 4 * number + 1, 4 * number + 4)
    first = shift_day(span.first, _THIRD * number)
    return DaySpan(first, span.last if number == 2 else shift_day(first, _THIRD - 1))


def _months(year: int, first: int, last: int) -> DaySpan:
    """Return the months `first` to `last`, 1 to 12, of a year from 1 to 9999."""
    return DaySpan(date(year, first, 1), date(year, last, monthrange(year, last)[1]))


def _week(month: DaySpan, which: str) -> DaySpan:
    if which not in _WEEKS:
        return DaySpan(shift_day(month.last, 1 - _WEEK), month.last)
    first = shift_day(month.first, _WEEK * _WEEKS[which])
    return DaySpan(first, shift_day(first, _WEEK - 1))


class Direction(IntEnum):
    """Direction from the calendar's day in which a bare weekday is searched."""

    PAST = -1
    NEAREST = 0
    FUTURE = 1


class Calendar(Struct, frozen=True):
    """Reference for relative times."""

    day: date
    """Day from which times are counted."""
    direction: Direction = Direction.NEAREST
    """Direction of a weekday without a word such as `last`."""
    ahead: int | None = None
    """Most days in the future for a date without a year; None for any number."""

    def weekday(self, number: int, direction: Direction) -> date:
        """Return the nearest weekday with that number (Monday is 0), or the nearest before or after the day."""
        ahead = (number - self.day.weekday()) % 7
        if direction is Direction.PAST:
            return shift_day(self.day, ahead - 7)
        if direction is Direction.FUTURE:
            return shift_day(self.day, ahead or 7)
        return shift_day(self.day, ahead if ahead <= 3 else ahead - 7)

    def day_of_month(self, number: int, *, is_past: bool) -> DaySpan | None:
        """Return the nearest day with that number in a month, or the last such day; None if there is none.

        Of any three consecutive months, at least one has a 31st.
        """
        months = filter(None, (month_of(self.day.year, self.day.month + away) for away in (-2, -1, 0, 1)))
        days = filter(None, (in_year(month.first.year, month.first.month, number) for month in months))
        fitting = (day for day in days if not is_past or day.first <= self.day)
        return min(fitting, key=lambda day: (day.distance(self.day), day.first), default=None)

    def nearest(self, month: int, day: int | None) -> DaySpan | None:
        """Return the nearest day or month in any year, at most `ahead` days ahead; None if it does not exist."""
        span = nearest_year(self.day, month, day)
        if span is not None and self.ahead is not None and (span.first - self.day).days > self.ahead:
            span = in_year(span.first.year - 1, month, day) or span
        return span

    def quarter(self, number: int, year: int | None) -> DaySpan:
        """Return a quarter, 1 to 4, of a year from 1 to 9999; without a year the nearest, at most `ahead` days off."""
        first, last = 3 * number - 2, 3 * number
        if year is not None:
            return _months(year, first, last)
        years = range(max(self.day.year - 1, date.min.year), min(self.day.year + 1, date.max.year) + 1)
        ends = date.max if self.ahead is None else shift_day(self.day, self.ahead)
        spans = [span for near in years if (span := _months(near, first, last)).first <= ends]
        return min(spans, key=lambda span: span.distance(self.day))

    def weekend(self) -> DaySpan:
        """Return the weekend of this week; if the direction is the past and it has not begun, that of the last week."""
        weekend = weekend_of(self.day)
        return (
            weekend_of(shift_day(self.day, -7))
            if self.direction is Direction.PAST and weekend.first > self.day
            else weekend
        )


class TimeMention(Struct, frozen=True):
    """A mention of days in the characters `start` to `end` of a text."""

    start: int
    end: int
    span: DaySpan
    yearless: tuple[int, int | None] | None = None
    """Month and day, if the mention has no year."""
    is_weekday: bool = False


TimeReading = TimeMention | DaySpan | None
"""Result of a rule: the days of the full match, a mention for a part of it, or None if it is not an existing time."""
TimeRule = tuple[re.Pattern[str], Callable[[TextMatch, Calendar], TimeReading]]


def apply_rules(rules: Iterable[TimeRule], text: str, calendar: Calendar) -> Iterator[TimeMention]:
    """Yield the times in a text that match the rules."""
    for pattern, read in rules:
        for match in pattern.finditer(text):
            if reading := read(match, calendar):
                yield TimeMention(*match.span(), reading) if isinstance(reading, DaySpan) else reading


def yearless_mention(place: tuple[int, int], calendar: Calendar, month: int, day: int | None) -> TimeMention | None:
    """Return a mention of a day or month without a year, at `place` in the text; None if it does not exist."""
    span = calendar.nearest(month, day)
    return None if span is None else TimeMention(*place, span, yearless=(month, day))


def days_of_month(calendar: Calendar, year: str | None, month: int, first: int, last: int) -> DaySpan | None:
    """Return the days `first` to `last` of a month, in `year` or else the nearest year; None if they do not exist."""
    begins = in_year(int(year), month, first) if year else calendar.nearest(month, first)
    ends = begins and in_year(begins.first.year, month, last)
    return DaySpan(begins.first, ends.last) if begins and ends and first <= last else None


_BEGINS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_MONTHS = 3
_YEAR = "(?:19|20)[0-9]{2}"
ENGLISH_SEASON = expression(
    r"(?<!\bher\s)(?<!\bhis\s)(?<!\bmy\s)(?<!\btheir\s)(?<!\bour\s)(?<!\byour\s)\b(?:"
    r"(?P<which>last|past|previous|this|next|coming)\s(?P<near>spring|summer|autumn|fall|winter)"
    r"|the\s(?P<before>spring|summer|autumn|fall|winter)\sbefore\slast"
    rf"|(?P<named>spring|summer|autumn|fall|winter)(?:\sof)?\s(?P<year>{_YEAR}))(?!\w|-\w|[.,:/][0-9])",
    re.ASCII | re.IGNORECASE,
)
CHINESE_SEASON = expression(
    rf"(?:(?P<away>大前年|前年|去年|今年|明年|后年|後年)|(?<![0-9])(?P<year>{_YEAR})\s?年|(?P<which>上一?[个個]|[这這][个個]|下一?[个個]))"
    "的?(?P<season>[春夏秋冬])(?:天|季)"
)
YEARS_AWAY = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2}
AWAY = (
    {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
    | dict.fromkeys("这這本", 0)
    | {"上上": -2, "上": -1, "下": 1, "下下": 2}
)
"""Distance of a week, month, season or year, by the word before it."""


def english_season(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    """Return the season of `last summer`, `the winter before last` or `autumn 2024`."""
    if match["year"]:
        return _season(int(match["year"]), _BEGINS[match["named"].lower()])
    away = AWAY[match["which"].lower()] if match["which"] else -2
    return _near_season(calendar.day, away, _BEGINS[(match["near"] or match["before"]).lower()])


def chinese_season(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    """Return the season of `去年夏天`, `2024年冬天` or `上个春天`."""
    begins = _BEGINS[match["season"]]
    if match["which"]:
        return _near_season(calendar.day, AWAY[match["which"][0]], begins)
    return _season(int(match["year"]) if match["year"] else calendar.day.year + YEARS_AWAY[match["away"]], begins)


def _season(year: int, begins: int) -> DaySpan | None:
    first, last = month_of(year, begins), month_of(year, begins + _MONTHS - 1)
    return DaySpan(first.first, last.last) if first and last else None


def _near_season(day: date, away: int, begins: int) -> DaySpan | None:
    """Return the season `away` from a day: the last is over, the next has not begun.

    For 0 it is the season that contains the day, else the season of the day's year. None outside the calendar.
    """
    seasons = list(filter(None, (_season(day.year + offset, begins) for offset in range(-3, 3))))
    if away < 0:
        over = [season for season in seasons if season.last < day]
        return over[away] if len(over) >= -away else None
    if away > 0:
        return next((season for season in seasons if season.first > day), None)
    return next((season for season in seasons if season.first <= day <= season.last), _season(day.year, begins))
