"""Clocks: detection of sleep, stops and changes of the time of day; debouncing; and heartbeats of parts.

An idle part is healthy. A working part must beat from time to time. Only time in which this process ran counts: after a
sleep of the machine, or a stop by a signal, no part counts as stalled.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import overload

from msgspec import Struct

TOLERANCE = 1.0
"""Seconds: a busy machine is late, too, and a file's times are trusted only if it was read two seconds after them."""


@overload
def rfc3339(moment: datetime) -> str: ...
@overload
def rfc3339(moment: datetime | None) -> str | None: ...
def rfc3339(moment: datetime | None) -> str | None:
    """Return an instant in RFC 3339 format, such as `2026-01-30T18:16:00Z`; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


class Clocks(Struct, frozen=True):
    """A reading of three clocks, in seconds."""

    running: float
    """Stops while the machine sleeps."""
    elapsed: float
    """Continues while the machine sleeps."""
    wall: float
    """Time of day, which may be set."""


class Jump(Struct, frozen=True):
    """An irregularity between two readings, during which file changes may have been missed."""

    reason: str
    was_set_back: bool = False
    """Whether the same time of day may occur a second time."""


def jump(before: Clocks, after: Clocks, pause: float) -> Jump | None:
    """Compare two readings that should lie `pause` seconds apart; return None if they do."""
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
    """Delay of an action: `quiet` seconds after the last hint, but at most `hold` seconds after the first.

    A `hold` below `quiet` counts as `quiet`. Times come from one monotonic clock, in seconds.
    """

    quiet: float
    hold: float
    first: float | None = None
    last: float = 0.0

    def hint(self, now: float) -> None:
        """Note that something may have changed."""
        self.first = now if self.first is None else self.first
        self.last = now

    def clear(self) -> None:
        """Remove all hints, because they are being acted upon."""
        self.first = None

    @property
    def due(self) -> float | None:
        """Time to act; None without hints."""
        return None if self.first is None else min(self.last + self.quiet, self.first + max(self.hold, self.quiet))


LOOP_SECONDS = 60.0
"""Silence limit of the event loop: no request is answered while it is blocked."""
WRITER_SECONDS = 300.0
"""Silence limit of a writer: a slow disk takes many seconds for one commit."""
WATCHER_SECONDS = 180.0
"""Silence limit of the watcher, which checks every 30 seconds that events arrive."""
SCANNER_SECONDS = 900.0
"""Silence limit of the scanner and the indexer: one scan of all notes on a slow disk, or chunking a huge note."""


class Pulse:
    """Beats of one part. They are only counted, so that a beat is cheap, from any thread."""

    __slots__ = ("beats", "tasks")

    def __init__(self) -> None:
        self.beats = 0
        self.tasks = 0
        """Number of tasks begun and not ended."""

    def beat(self) -> None:
        """Count a beat."""
        self.beats += 1

    def begin(self) -> None:
        """Begin a task, which lasts until `end`."""
        self.tasks += 1
        self.beat()

    def end(self) -> None:
        """End a task, whether it succeeded or not."""
        self.tasks -= 1
        self.beat()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run the block as a task."""
        self.begin()
        try:
            yield
        finally:
            self.end()


class MonitoredPart(Struct, frozen=True):
    """A part with a pulse, and the seconds for which it may be silent while it works."""

    name: str
    pulse: Pulse
    limit_seconds: float


class HeartState(StrEnum):
    """State of a part."""

    IDLE = "idle"
    """No task."""
    WORKING = "working"
    """A task, and silent for no longer than allowed."""
    STALLED = "stalled"
    """A task, and silent for longer than allowed."""


class Heartbeat(Struct, frozen=True):
    """State of one part at one moment; `silent_seconds` is 0 while it is idle."""

    name: str
    state: HeartState
    silent_seconds: float
    limit_seconds: float


class HeartbeatChecker:
    """Determines heartbeats by comparing the pulses of parts with their previous values."""

    def __init__(self) -> None:
        self._previous: dict[Pulse, tuple[int, float]] = {}
        """Beats of each pulse at the last call, and its silent seconds until then."""

    def check(self, parts: Sequence[MonitoredPart], seconds: float) -> list[Heartbeat]:
        """Return the heartbeats of the parts, `seconds` of running time after the last call."""
        before, self._previous = self._previous, {}
        return [self._heartbeat(part, before.get(part.pulse), seconds) for part in parts]

    def _heartbeat(self, part: MonitoredPart, before: tuple[int, float] | None, seconds: float) -> Heartbeat:
        signs, is_at_work = part.pulse.beats, part.pulse.tasks > 0
        silent = before[1] + seconds if is_at_work and before is not None and before[0] == signs else 0.0
        self._previous[part.pulse] = signs, silent
        state = HeartState.WORKING if is_at_work else HeartState.IDLE
        return Heartbeat(
            part.name, HeartState.STALLED if silent > part.limit_seconds else state, silent, part.limit_seconds
        )
