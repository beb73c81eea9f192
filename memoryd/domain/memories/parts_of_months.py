"""Parts of a month: `early November`, `the first week of April`, `11月底`."""

import re
from typing import Final

from memoryd.domain.memories.day_spans import DaySpan, month_of, shifted

_BEFORE: Final = re.compile(
    r"\b(?:(?P<part>early|mid|late|(?:beginning|start|middle|end)\sof)[\s-](?:in\s)?(?:the\s)?"
    r"|(?P<week>first|second|third|fourth|last|1st|2nd|3rd|4th)\sweek\s(?:of|in)\s(?:the\s)?)\Z",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile("的?(?:(?P<early>初|上旬)|(?P<mid>中旬)|(?P<late>底|末|下旬))")
_THIRD: Final = 10
_WEEK: Final = 7
_EARLY: Final = ("early", "beginning", "start")
_MID: Final = ("mid", "middle")
_WEEKS: Final = {"first": 0, "second": 1, "third": 2, "fourth": 3, "1st": 0, "2nd": 1, "3rd": 2, "4th": 3}


def part_of_month(before: str, span: DaySpan, behind: str) -> tuple[str, DaySpan, str]:
    """Return the part of a month that a text names with what stands around it, and what stands around that.

    Where it names no part of a month, all stays as it is. Early and late are ten days, or what is left of them; weeks
    are counted from the first of the month.
    """
    if span.is_open or span != month_of(span.first.year, span.first.month):
        return before, span, behind
    if (said := _BEFORE.search(before)) is not None:
        week, part = said["week"], (said["part"] or "").lower()
        third = 0 if part.startswith(_EARLY) else 1 if part.startswith(_MID) else 2
        return before[: said.start()], _week(span, week.lower()) if week else _third(span, third), behind
    if (shown := _BEHIND.match(behind)) is not None:
        third = 0 if shown["early"] else 1 if shown["mid"] else 2
        return before, _third(span, third), behind[shown.end() :]
    return before, span, behind


def _third(month: DaySpan, number: int) -> DaySpan:
    first = shifted(month.first, _THIRD * number)
    return DaySpan(first, month.last if number == 2 else shifted(first, _THIRD - 1))


def _week(month: DaySpan, which: str) -> DaySpan:
    if which not in _WEEKS:
        return DaySpan(shifted(month.last, 1 - _WEEK), month.last)
    first = shifted(month.first, _WEEK * _WEEKS[which])
    return DaySpan(first, shifted(first, _WEEK - 1))
