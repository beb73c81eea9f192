"""Seasons, as they are counted north of the equator: spring from March, summer from June, autumn from September, winter
from December. A winter is of the year in which it begins."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from memoryd.domain.memories.day_spans import DaySpan, month_of
from memoryd.domain.memories.time_mentions import Calendar, TimeMention, mentioned

_BEGINS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12} | {
    "春": 3,
    "夏": 6,
    "秋": 9,
    "冬": 12,
}
_MONTHS: Final = 3
_YEAR: Final = "(?:19|20)[0-9]{2}"
ENGLISH_SEASON: Final = re.compile(
    r"(?<!\bher\s)(?<!\bhis\s)(?<!\bmy\s)(?<!\btheir\s)(?<!\bour\s)(?<!\byour\s)\b(?:"
    r"(?P<which>last|past|previous|this|next|coming)\s(?P<near>spring|summer|autumn|fall|winter)"
    r"|the\s(?P<before>spring|summer|autumn|fall|winter)\sbefore\slast"
    rf"|(?P<named>spring|summer|autumn|fall|winter)(?:\sof)?\s(?P<year>{_YEAR}))(?!\w|-\w|[.,:/][0-9])",
    re.ASCII | re.IGNORECASE,
)
CHINESE_SEASON: Final = re.compile(
    rf"(?:(?P<away>大前年|前年|去年|今年|明年|后年|後年)|(?<![0-9])(?P<year>{_YEAR})\s?年|(?P<which>上一?个|这个|下一?个))"
    "的?(?P<season>[春夏秋冬])(?:天|季)"
)
_YEARS_AWAY: Final = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2}
_AWAY: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1} | {
    "上": -1,
    "这": 0,
    "下": 1,
}


def english_season(match: re.Match[str], calendar: Calendar) -> Iterator[TimeMention]:
    """Yield the season of `last summer`, `the winter before last` or `autumn 2024`."""
    if match["year"]:
        yield from mentioned(match.span(), _season(int(match["year"]), _BEGINS[match["named"].lower()]))
        return
    away = _AWAY[match["which"].lower()] if match["which"] else -2
    begins = _BEGINS[(match["near"] or match["before"]).lower()]
    yield from mentioned(match.span(), _near(calendar.day, away, begins))


def chinese_season(match: re.Match[str], calendar: Calendar) -> Iterator[TimeMention]:
    """Yield the season of `去年夏天`, `2024年冬天` or `上个春天`."""
    begins = _BEGINS[match["season"]]
    if match["which"]:
        yield from mentioned(match.span(), _near(calendar.day, _AWAY[match["which"][0]], begins))
    else:
        year = int(match["year"]) if match["year"] else calendar.day.year + _YEARS_AWAY[match["away"]]
        yield from mentioned(match.span(), _season(year, begins))


def _season(year: int, begins: int) -> DaySpan | None:
    first, last = month_of(year, begins), month_of(year, begins + _MONTHS - 1)
    return DaySpan(first.first, last.last) if first and last else None


def _near(day: date, away: int, begins: int) -> DaySpan | None:
    """Return a season near to a day: the last one is over, the next one has not begun, this one is of the year."""
    around = [_season(day.year + offset, begins) for offset in range(-3, 3)]
    found = [one for one in around if one is not None]
    over, to_come = [one for one in found if one.last < day], [one for one in found if one.first > day]
    if away < 0:
        return over[away] if len(over) >= -away else None
    if away > 0:
        return to_come[0] if to_come else None
    now = [one for one in found if one.first <= day <= one.last]
    return now[0] if now else _season(day.year, begins)
