"""Recency: dated notes fade by half-lives; what is meant to last does not.

The formula is the one of the OpenClaw configuration reference: score × e^(−ln 2 / halfLife × age in days).
"""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

from memoryd.domain.documents import CORE_FILES, Source
from memoryd.domain.ranking.filters import date_in_name

EVERGREEN_FOLDER = "bank/"


@dataclass(frozen=True, slots=True)
class Decay:
    """What age takes from a score: the factor, 0 to 1, and the whole days; None for what lasts."""

    factor: float = 1.0
    age_days: int | None = None


def decay_of(path: str, source: str, mtime_ns: int, *, half_life_days: float, now: datetime) -> Decay:
    """Return the decay of a document today, which is the day of `now` in its own zone."""
    day = decay_day(path, source, mtime_ns, now.tzinfo or UTC)
    age = age_in_days(day, now.date())
    return Decay(decay_factor(age, half_life_days), None if day is None else age)


def decay_factor(age_days: float, half_life_days: float) -> float:
    """Return 0 to 1: 1 today and for the future, 0.5 after one half-life. A half-life not above 0 turns it off."""
    if not half_life_days > 0:
        return 1.0
    return math.exp2(-max(0.0, age_days) / half_life_days)


def decay_day(path: str, source: str, mtime_ns: int, zone: tzinfo = UTC) -> date | None:
    """Return the day from which a document ages, None if it does not.

    That is the date in its name; for a conversation, the day on which something was said last: it goes on for longer
    than a name tells. `bank/`, the core file and notes without a date last.
    """
    if source == Source.SESSIONS:
        return datetime.fromtimestamp(mtime_ns / 1e9, zone).date()
    if path.startswith(EVERGREEN_FOLDER) or path in CORE_FILES:
        return None
    return date_in_name(path)


def age_in_days(day: date | None, today: date) -> int:
    """Return whole days from `day` to `today`; 0 for what does not age or lies ahead."""
    return 0 if day is None else max(0, (today - day).days)
