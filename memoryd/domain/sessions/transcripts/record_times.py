"""Read when something was said, as programs write it: RFC 3339, or seconds or milliseconds since 1970."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from memoryd.domain.sessions.turn_times import EARLIEST, LATEST

_SECONDS_BELOW: Final = 1e11
"""A smaller number counts seconds, not milliseconds: as milliseconds it would be before March 1973."""


def first_time(*records: Mapping[str, object]) -> datetime | None:
    """Return the first `timestamp` of the records that makes sense, None if there is none."""
    for record in records:
        if (time := as_instant(record.get("timestamp"))) is not None:
            return time
    return None


def as_instant(value: object) -> datetime | None:
    """Return an instant after 1970 and before 2262 with its zone, UTC where none is told; None for anything else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            time = EARLIEST + timedelta(milliseconds=value * 1000 if value < _SECONDS_BELOW else value)
        else:
            return None
        return time if EARLIEST < time < LATEST else None
    except (ValueError, OverflowError):
        return None
