"""Read when something was said, as programs write it: RFC 3339, or seconds or milliseconds since 1970."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from memoryd.domain.sessions.turn_times import AHEAD, EARLIEST, LATEST

_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""No program that keeps transcripts is as old: a time before it is a clock that nobody set."""
_SECONDS_BELOW: Final = 1e11
"""A smaller number counts seconds, not milliseconds: as milliseconds it would be before March 1973."""


def first_time(*records: Mapping[str, object]) -> datetime | None:
    """Return the first `timestamp` of the records that makes sense, None if there is none."""
    for record in records:
        if (time := as_instant(record.get("timestamp"))) is not None:
            return time
    return None


def as_instant(value: object) -> datetime | None:
    """Return an instant from 2000 to before 2262 with its zone, UTC where none is told; None for anything else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            time = EARLIEST + timedelta(milliseconds=value * 1000 if value < _SECONDS_BELOW else value)
        else:
            return None
        return time if _FIRST <= time < LATEST else None
    except (ValueError, OverflowError):
        return None


def believed(time: datetime | None, now: datetime) -> datetime | None:
    """Return when something was said, None if that is more than a day after `now`: as of a turn that is reported."""
    return time if time is not None and time <= now + AHEAD else None
