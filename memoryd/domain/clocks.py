"""What two looks at the clocks tell: the machine slept, this process was stopped, or the time of day was set."""

from dataclasses import dataclass

TOLERANCE = 1.0
"""Seconds: a busy machine is late too, and a file's times are trusted only if it was read two seconds after."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """One look, in seconds."""

    running: float
    """Stands still while the machine sleeps."""
    elapsed: float
    """Goes on while the machine sleeps."""
    wall: float
    """The time of day, which may be set."""


@dataclass(frozen=True, slots=True)
class Jump:
    """Something happened between two looks, and nobody may have seen what changed meanwhile."""

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
