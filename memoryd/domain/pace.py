"""How fast a queue is worked off, told by what was done in the last minute."""

from collections import deque
from typing import Final

WINDOW_SECONDS: Final = 60.0
LEAST_SECONDS: Final = 1.0
"""Less than this says nothing."""


class Pace:
    """Counts what is done; times come from one monotonic clock, in seconds."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done: deque[tuple[float, int]] = deque()

    def note(self, now: float, done: int) -> None:
        """Count so much as done now."""
        self._done.append((now, done))
        self._drop(now)

    def seconds_left(self, now: float, left: int) -> float | None:
        """Return how long the rest takes at this pace; 0 for nothing, None while the pace is not known."""
        if left <= 0:
            return 0.0
        self._drop(now)
        if not self._done:
            return None
        # what was noted first was done before it was noted: it begins the time, and is not counted
        begun, first = self._done[0]
        took, done = now - begun, sum(number for _, number in self._done) - first
        return left * took / done if done and took >= LEAST_SECONDS else None

    def _drop(self, now: float) -> None:
        while self._done and now - self._done[0][0] > WINDOW_SECONDS:
            self._done.popleft()
