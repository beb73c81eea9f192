"""Signs of life: what each part gives, and how long it may be silent before it counts as stuck.

A part that has nothing to do is well. One that is at work must give a sign from time to time, and only time in which
this process ran counts: after a sleep of the machine, or a stop by a signal, nobody is blamed for the silence.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from msgspec import Struct

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
