"""When a turn was said, as a caller tells it."""

from datetime import UTC, datetime, timedelta
from typing import Final

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2262, 1, 1, tzinfo=UTC)
"""No time we keep lies here or later: in ns since 1970 an index has 63 bits for it."""
AHEAD: Final = timedelta(days=1)
"""Clocks and zones differ by so much at most; a later turn would keep its session from ever growing old."""


def said_at(text: str | None, now: datetime) -> datetime:
    """Read an instant, ISO 8601, in the zone of `now` where it names none; None is now. Raises ValueError."""
    if text is None:
        return now
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as exc:
        raise ValueError(f"not a time: {text!r} (expected ISO 8601 such as 2026-01-30T18:16:00Z)") from exc
    instant = found if found.tzinfo else found.replace(tzinfo=now.tzinfo)
    if not EARLIEST <= instant <= now + AHEAD:
        raise ValueError(f"a turn cannot have been said at {text.strip()}: before 1970, or more than a day from now")
    return instant


def time_of_file(mtime_ns: int) -> datetime:
    """Return when a file was written, in UTC, as far as we keep times: disks hold any."""
    last = LATEST - timedelta(seconds=1)
    return datetime.fromtimestamp(min(max(mtime_ns / 1e9, 0.0), last.timestamp()), UTC)
