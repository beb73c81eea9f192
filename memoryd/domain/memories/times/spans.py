"""Spans of days, the arithmetic of the calendar, and work that is due at a time of day.

Weeks begin on Monday (ISO 8601). Work is due once a day, also after the machine slept or a clock was set.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct


def last_due(now: datetime, at: time, zone: ZoneInfo | None) -> datetime:
    """Return the last moment, not after `now`, at which the clocks of a zone showed a time; None: the system's zone.

    A time that the clocks leave out in spring counts as the one after the gap, and of one that comes twice in autumn
    the first counts.
    """
    today = now.astimezone(zone).date()
    due = _moment(today, at, zone)
    return due if due <= now else _moment(today - timedelta(days=1), at, zone)


def is_due(last: datetime | None, now: datetime, at: time, zone: ZoneInfo | None) -> bool:
    """Tell whether the last run was before the time of day came last; however often it was missed, it is due once."""
    return last is None or last < last_due(now, at, zone)


def _moment(day: date, at: time, zone: ZoneInfo | None) -> datetime:
    local = datetime.combine(day, at)
    # through the zone's own clocks: a time that does not exist comes out behind the gap
    return (local.replace(tzinfo=zone) if zone else local).astimezone()


_WEEK = 7
_SATURDAY = 5


class DaySpan(Struct, frozen=True, order=True):
    """Days from `first` to `last`, both included; an open end is `date.min` or `date.max`."""

    first: date
    last: date

    def meets(self, other: "DaySpan") -> bool:
        """Tell whether two spans have a day in common."""
        return self.first <= other.last and other.first <= self.last

    @property
    def is_open(self) -> bool:
        return self.first == date.min or self.last == date.max

    def distance(self, day: date) -> int:
        """Return how many days lie between a day and the span; 0 within it."""
        return max((self.first - day).days, (day - self.last).days, 0)


class Unit(StrEnum):
    """What time is counted in."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    YEAR = "year"


def one_day(day: date) -> DaySpan:
    """Return the span of one day."""
    return DaySpan(day, day)


def shifted(day: date, days: int) -> date:
    """Return a day so many days later; the first or last day there is, where the calendar ends."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def month_of(year: int, month: int) -> DaySpan | None:
    """Return a month, which is counted on beyond 12 and below 1; None beyond the years 1 to 9999."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if not date.min.year <= year <= date.max.year:
        return None
    return DaySpan(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def year_of(year: int) -> DaySpan | None:
    """Return a year; None beyond the years 1 to 9999."""
    if not date.min.year <= year <= date.max.year:
        return None
    return DaySpan(date(year, 1, 1), date(year, 12, 31))


def week_of(day: date) -> DaySpan:
    """Return the week that a day lies in."""
    return DaySpan(shifted(day, -day.weekday()), shifted(day, _WEEK - 1 - day.weekday()))


def weekend_of(day: date) -> DaySpan:
    """Return Saturday and Sunday of the week that a day lies in."""
    return DaySpan(shifted(day, _SATURDAY - day.weekday()), shifted(day, _WEEK - 1 - day.weekday()))


def unit_away(day: date, count: int, unit: Unit) -> DaySpan | None:
    """Return the day, week, weekend, month or year that lies so many of them away: negative ones before `day`."""
    if unit is Unit.DAY:
        return one_day(shifted(day, count))
    if unit is Unit.WEEK:
        return week_of(shifted(day, _WEEK * count))
    if unit is Unit.WEEKEND:
        return weekend_of(shifted(day, _WEEK * count))
    if unit is Unit.MONTH:
        return month_of(day.year, day.month + count)
    return year_of(day.year + count)


def units_back(day: date, count: int, unit: Unit) -> DaySpan | None:
    """Return the days since so many units ago, up to `day`."""
    if unit in (Unit.DAY, Unit.WEEK):
        return DaySpan(shifted(day, -count * (_WEEK if unit is Unit.WEEK else 1)), day)
    month = month_of(day.year, day.month - count * (12 if unit is Unit.YEAR else 1))
    return month and DaySpan(shifted(month.first, min(day.day, month.last.day) - 1), day)


def in_year(year: int, month: int, day: int | None) -> DaySpan | None:
    """Return a month, or a day in it; None if no calendar has it."""
    found = month_of(year, month)
    if found is None or day is None:
        return found
    return one_day(shifted(found.first, day - 1)) if 1 <= day <= found.last.day else None


def nearest_year(near: date, month: int, day: int | None) -> DaySpan | None:
    """Return the day or month without a year that lies nearest to `near`, the earlier one of two; None if none has it.

    29 February is looked for in the eight years around, of which one has it.
    """
    found = [span for span in _years_around(near, month, day) if span is not None]
    return min(found, key=lambda span: (span.distance(near), span.first)) if found else None


def _years_around(near: date, month: int, day: int | None) -> Iterator[DaySpan | None]:
    visibility = 8 if (month, day) == (2, 29) else 1
    for year in range(near.year - visibility, near.year + visibility + 1):
        yield in_year(year, month, day)
