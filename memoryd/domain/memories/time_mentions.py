"""A place in a text that names a time, and the day from which relative ones are counted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import IntEnum

from memoryd.domain.memories.day_spans import DaySpan, in_year, month_of, nearest_year, shifted, weekend_of


class Lean(IntEnum):
    """Where a bare weekday is looked for: what was, what is nearest, what will be."""

    PAST = -1
    NEAREST = 0
    FUTURE = 1


@dataclass(frozen=True, slots=True)
class Calendar:
    """The day from which times are counted, where a weekday without a word to it lies, and how many days ahead a date
    without a year may lie (None: any number)."""

    day: date
    lean: Lean = Lean.NEAREST
    ahead: int | None = None

    def weekday(self, number: int, lean: Lean) -> date:
        """Return the nearest day of that number (Monday is 0), or the next one that has been, or will be."""
        ahead = (number - self.day.weekday()) % 7
        if lean is Lean.PAST:
            return shifted(self.day, ahead - 7)
        if lean is Lean.FUTURE:
            return shifted(self.day, ahead or 7)
        return shifted(self.day, ahead if ahead <= 3 else ahead - 7)

    def day_of_month(self, number: int, *, is_past: bool) -> DaySpan | None:
        """Return the nearest day of that number in a month, or the last one; None if no month near has it.

        Two months have no 31st one after the other, so that one of three has.
        """
        months = (month_of(self.day.year, self.day.month + away) for away in (-2, -1, 0, 1))
        found = (in_year(month.first.year, month.first.month, number) for month in months if month is not None)
        days = [one for one in found if one is not None and not (is_past and one.first > self.day)]
        return min(days, key=lambda one: (one.distance(self.day), one.first)) if days else None

    def weekend(self) -> DaySpan:
        """Return the weekend of this week, or the last one that has begun if what was is meant."""
        found = weekend_of(self.day)
        return weekend_of(shifted(self.day, -7)) if self.lean is Lean.PAST and found.first > self.day else found


@dataclass(frozen=True, slots=True)
class TimeMention:
    """What stands from `start` to `end` names these days; `yearless` says month and day of one without a year."""

    start: int
    end: int
    span: DaySpan
    yearless: tuple[int, int | None] | None = None
    is_weekday: bool = False


def mentioned(place: tuple[int, int], span: DaySpan | None) -> Iterator[TimeMention]:
    """Yield the mention of a span, if the calendar has it."""
    if span is not None:
        yield TimeMention(*place, span)


def mentioned_date(place: tuple[int, int], calendar: Calendar, month: int, day: int | None) -> Iterator[TimeMention]:
    """Yield the mention of a day or month without a year, if the calendar has it."""
    span = nearest_year(calendar.day, month, day)
    if span is not None and calendar.ahead is not None and (span.first - calendar.day).days > calendar.ahead:
        span = in_year(span.first.year - 1, month, day) or span
    if span is not None:
        yield TimeMention(*place, span, yearless=(month, day))
