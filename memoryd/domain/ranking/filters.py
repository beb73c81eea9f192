"""Filters of a search: which documents may answer."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

from memoryd.domain.documents import Source
from memoryd.domain.expressions import expression

_AGE = expression(r"(?P<number>[0-9]{1,5})\s*(?P<unit>[hdwmy])\Z")
_UNIT_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_DATE_IN_NAME = expression(r"(?:^|/)(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[^/]*\Z")


class Filters(Struct, frozen=True):
    """Filters that a document must all satisfy; an empty one admits everything.

    `since` and `until` are inclusive. `zone` is the time zone of the day in a note's name. One of `paths` must match,
    and one pattern of each group in `within`.
    """

    sources: Sequence[str] = ()
    paths: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    zone: tzinfo = UTC
    within: tuple[tuple[str, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.sources or self.paths or self.since or self.until or self.within)

    def admits_source(self, source: str) -> bool:
        """Return whether documents of a source may answer."""
        return not self.sources or source in self.sources

    def admits(self, path: str, source: str, mtime_ns: int) -> bool:
        """Return whether a document may answer. Its time is the date in its name, else its modification time.

        For a conversation or a part of one, the time is that of the last message, whatever its name is.
        """
        if not self.admits_source(source):
            return False
        groups = (*self.within, self.paths) if self.paths else self.within
        if not all(any(_is_below(path, pattern) for pattern in group) for group in groups):
            return False
        if self.since is None and self.until is None:
            return True
        first, last = document_span("" if source == Source.SESSIONS else path, mtime_ns, self.zone)
        return (self.since is None or last >= self.since) and (self.until is None or first <= self.until)


def parse_instant(text: str, now: datetime, *, is_end: bool = False) -> datetime:
    """Read `30d`, `12h`, `2w`, `3m`, `1y` (that long before `now`), a date, or an ISO 8601 instant.

    A bare date means its first instant, its last one if `is_end`. Raises ValueError for anything else.
    """
    stripped = text.strip()
    try:
        if match := _AGE.match(stripped.lower()):
            return now - timedelta(days=int(match["number"]) * _UNIT_DAYS[match["unit"]])
        with suppress(ValueError):
            day = date.fromisoformat(stripped)
            return datetime.combine(day, time.max if is_end else time.min, tzinfo=now.tzinfo)
        instant = datetime.fromisoformat(stripped)
    except (ValueError, OverflowError) as exc:
        raise ValueError(f"not a time: {text!r} (expected 30d, 12h, 2026-01-31 or an ISO 8601 instant)") from exc
    return instant if instant.tzinfo else instant.replace(tzinfo=now.tzinfo)


def document_span(path: str, mtime_ns: int, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the first and last instant of a document: of the day in its name, else its modification time."""
    day = date_in_name(path)
    if day is None:
        changed = datetime.fromtimestamp(mtime_ns / 1e9, UTC)
        return changed, changed
    return datetime.combine(day, time.min, tzinfo=zone), datetime.combine(day, time.max, tzinfo=zone)


@lru_cache(maxsize=4096)  # called for each line of the memory book, but few documents have many lines
def date_in_name(path: str) -> date | None:
    """Return the date that a document's name starts with (`memory/2026-10-18-trip.md`), or None."""
    match = _DATE_IN_NAME.search(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match["date"])
    except ValueError:
        return None


def _is_below(path: str, pattern: str) -> bool:
    """Return whether `pattern` is the document, a folder above it, or a glob that matches it."""
    bare = pattern.rstrip("/")
    return path == bare or path.startswith(f"{bare}/") or fnmatchcase(path, pattern)
