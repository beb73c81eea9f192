"""What the fetching of a model tells the one who waits for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

REPORTS_PER_SECOND: Final = 10


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step has come."""

    done_bytes: int
    total_bytes: int | None
    step: str
    """One or two words: waiting, connecting, downloading, checking, converting, ready."""
    trouble: str = ""
    """Why it waits, and for how long."""


Report = Callable[[Progress], None]


class Throttle:
    """Passes on the first and last report of each step and at most ten a second between."""

    def __init__(self, report: Report, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._last_step = ""
        self._next_at = 0.0

    def __call__(self, progress: Progress) -> None:
        is_last = progress.total_bytes is not None and progress.done_bytes >= progress.total_bytes
        now = self._clock()
        if progress.step == self._last_step and not is_last and now < self._next_at:
            return
        self._last_step = progress.step
        self._next_at = now + 1 / REPORTS_PER_SECOND
        self._report(progress)
