"""Clocks: whether the machine slept, the process was stopped or the time was set; debouncing; and signs of life.

A part that has nothing to do is well. One that is at work must give a sign from time to time, and only time in which
this process ran counts: after a sleep of the machine, or a stop by a signal, nobody is blamed for the silence.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
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


LOOP_SECONDS = 60.0
"""Of the event loop: nobody is answered while it is blocked."""
WRITER_SECONDS = 300.0
"""Of a writer: a slow disk takes many seconds for one commit."""
WATCHER_SECONDS = 180.0
"""Of the watcher, which proves every half a minute that events flow."""
SCANNER_SECONDS = 900.0
"""Of whoever follows the notes: one look at all of them on a slow disk, or the cutting of a huge one."""


class Pulse:
    """The signs of life of one part: counted only, so that to give one costs nothing, from whatever thread."""

    __slots__ = ("signs", "tasks")

    def __init__(self) -> None:
        self.signs = 0
        self.tasks = 0
        """How much work is begun and not ended."""

    def beat(self) -> None:
        """Give a sign."""
        self.signs += 1

    def begin(self) -> None:
        """Say that there is work from now on, until `end`."""
        self.tasks += 1
        self.beat()

    def end(self) -> None:
        """Say that one of the works begun is over, however it ended."""
        self.tasks -= 1
        self.beat()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Be at work in the block."""
        self.begin()
        try:
            yield
        finally:
            self.end()


class LivingPart(Struct, frozen=True):
    """A part that gives signs, and for how many seconds it may be silent while it is at work."""

    name: str
    pulse: Pulse
    limit_seconds: float


class HeartState(StrEnum):
    """How a part does."""

    IDLE = "idle"
    """Nothing to do."""
    WORKING = "working"
    """At work, and getting on."""
    STALLED = "stalled"
    """At work, and silent for longer than it may be."""


class Heartbeat(Struct, frozen=True):
    """One part at one moment; `silent_seconds` is 0 while it has nothing to do."""

    name: str
    state: HeartState
    silent_seconds: float
    limit_seconds: float


class Stethoscope:
    """Compares each look at the parts with the one before."""

    def __init__(self) -> None:
        self._heard: dict[Pulse, tuple[int, float]] = {}
        """The signs that each had given at the last look, and for how many seconds it was silent by then."""

    def listen(self, parts: Sequence[LivingPart], seconds: float) -> list[Heartbeat]:
        """Return how the parts do, `seconds` of running time after the last look."""
        before, self._heard = self._heard, {}
        return [self._heartbeat(part, before.get(part.pulse), seconds) for part in parts]

    def _heartbeat(self, part: LivingPart, before: tuple[int, float] | None, seconds: float) -> Heartbeat:
        signs, is_at_work = part.pulse.signs, part.pulse.tasks > 0
        silent = before[1] + seconds if is_at_work and before is not None and before[0] == signs else 0.0
        self._heard[part.pulse] = signs, silent
        state = HeartState.WORKING if is_at_work else HeartState.IDLE
        return Heartbeat(
            part.name, HeartState.STALLED if silent > part.limit_seconds else state, silent, part.limit_seconds
        )
