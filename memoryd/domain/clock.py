"""Clocks: whether the machine slept, the process was stopped or the time was set; and debouncing a stream of events."""

from datetime import datetime
from typing import overload

from msgspec import Struct

TOLERANCE = 1.0
"""Seconds: a busy machine is late too, and a file's times are trusted only if it was read two seconds after."""


@overload
def rfc3339(moment: datetime) -> str: ...
@overload
def rfc3339(moment: datetime | None) -> str | None: ...
def rfc3339(moment: datetime | None) -> str | None:
    """Write an instant as RFC 3339 does, such as `2026-01-30T18:16:00Z`; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


class Clocks(Struct, frozen=True):
    """One look, in seconds."""

    running: float
    """Stands still while the machine sleeps."""
    elapsed: float
    """Goes on while the machine sleeps."""
    wall: float
    """The time of day, which may be set."""


class Jump(Struct, frozen=True):
    """Something happened between two looks, so that changes may have been missed."""

    reason: str
    was_set_back: bool = False
    """Whether the time of day may come a second time."""


def jump(before: Clocks, after: Clocks, pause: float) -> Jump | None:
    """Compare two looks that should lie `pause` seconds apart; None if nothing but that pause lies between them."""
    elapsed, running = after.elapsed - before.elapsed, after.running - before.running
    set_by = after.wall - before.wall - elapsed
    if set_by < -TOLERANCE:
        return Jump(f"the clock was set back by {-set_by:.0f} s", was_set_back=True)
    if elapsed - running > TOLERANCE:
        return Jump(f"the machine slept for {elapsed - running:.0f} s")
    if set_by > TOLERANCE:
        return Jump(f"the clock was set forward by {set_by:.0f} s")
    if running > pause + TOLERANCE:
        return Jump(f"the process was stopped for {running - pause:.0f} s")
    return None


class Debounce(Struct):
    """Collects hints. `quiet` and `hold` are seconds; times come from one monotonic clock."""

    quiet: float
    hold: float
    first: float | None = None
    last: float = 0.0

    def hint(self, now: float) -> None:
        """Note that something may have changed."""
        self.first = now if self.first is None else self.first
        self.last = now

    def clear(self) -> None:
        """Forget the hints: they are being acted upon."""
        self.first = None

    @property
    def due(self) -> float | None:
        """The time to act, None when no hint waits."""
        return None if self.first is None else min(self.last + self.quiet, self.first + max(self.hold, self.quiet))
