"""Retries with exponential back-off and jitter for worker, qmd and providers, and waits with a time limit.

The circuit breaker follows Nygard, "Release It!", chapter 5.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

SOON_SECONDS = 60.0
"""The longest wait that is shown without a time of day."""


class Circuit(StrEnum):
    """Whether calls go through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    """One probe is under way; all other calls wait for its outcome."""


class BreakerRule(Struct, frozen=True):
    """Delays (in seconds) and counts of a breaker."""

    first_delay: float = 1.0
    longest_delay: float = 60.0
    jitter: float = 0.25
    """Share of the delay that may be added at random. The delay never shrinks: at most one try per `first_delay`."""
    failures_to_open: int = 5
    window: float = 60.0


class Breaker(Struct, frozen=True):
    """The failure state of one supervised part. Each step returns a new value; `now` is in monotonic seconds."""

    rule: BreakerRule = BreakerRule()
    circuit: Circuit = Circuit.CLOSED
    failures: tuple[float, ...] = ()
    """Times of the failures in the last window."""
    failures_in_a_row: int = 0
    retry_at: float = float("-inf")

    def wait(self, now: float) -> float:
        """Return the seconds until a try is allowed; 0 means now."""
        return max(0.0, self.retry_at - now)

    def note_try(self, now: float) -> "Breaker":
        """Note that an allowed try starts. On an open circuit it is the probe, and other tries must wait.

        A probe without an outcome (its caller was cancelled) blocks for `longest_delay`, not for ever.
        """
        if self.circuit is Circuit.CLOSED:
            return self
        return replace(self, circuit=Circuit.HALF_OPEN, retry_at=now + self.rule.longest_delay)

    def note_success(self) -> "Breaker":
        """Note a success; after a probe it closes the circuit and clears the failures.

        On a closed circuit earlier failures count until they age out. So a part that works for a moment between
        crashes still opens the circuit.
        """
        failures = self.failures if self.circuit is Circuit.CLOSED else ()
        return Breaker(rule=self.rule, failures=failures)

    def note_failure(self, now: float, chance: float) -> "Breaker":
        """Note a failure; `chance` in [0, 1) adds jitter to the next try."""
        recent = (*(at for at in self.failures if now - at < self.rule.window), now)
        opens = self.circuit is not Circuit.CLOSED or len(recent) >= self.rule.failures_to_open
        # at most 32 doublings, so that the power fits into a float
        doubled = self.rule.first_delay * 2 ** min(self.failures_in_a_row, 32)
        delay = self.rule.longest_delay if opens else min(self.rule.longest_delay, doubled)
        return replace(
            self,
            circuit=Circuit.OPEN if opens else Circuit.CLOSED,
            failures=recent[-self.rule.failures_to_open :],
            failures_in_a_row=self.failures_in_a_row + 1,
            retry_at=now + delay * (1 + self.rule.jitter * chance),
        )


def next_try(wait: float) -> str:
    """Return when something is tried again, in words that stay true while they are shown; `wait` is in seconds."""
    if wait <= SOON_SECONDS:
        return "next try within a minute"
    now = datetime.now(UTC)
    # the minute by which it was tried, not the one before
    at = now + timedelta(seconds=wait + 60)
    return f"next try by {at:%H:%M} UTC" if at.date() == now.date() else f"next try by {at:%Y-%m-%d %H:%M} UTC"


async def wait_within(waiting: Awaitable[object], within: float | None) -> bool:
    """Wait at most `within` seconds (None: for ever); return whether the awaitable finished in time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            await waiting
            return True
    return False


async def run_together(*loops: Coroutine[Any, Any, object]) -> None:
    """Run coroutines concurrently until all return; if one fails, cancel the others and raise its error."""
    failures: list[Exception] = []

    async def run(loop: Coroutine[Any, Any, object]) -> None:
        try:
            await loop
        except Exception as exc:
            failures.append(exc)
            running.cancel()

    # with return_exceptions, gather also waits for the cancelled coroutines
    running = asyncio.gather(*map(run, loops), return_exceptions=True)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError
    if failures:
        raise failures[0]


class Retry:
    """The retry state of one part that may fail.

    `clock` returns monotonic seconds; `chance` returns a number in [0, 1) for the jitter.
    """

    def __init__(
        self,
        rule: BreakerRule | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.rule = rule or BreakerRule()
        self._breaker = Breaker(rule=self.rule)
        self._clock = clock
        self._chance = chance

    @property
    def is_open(self) -> bool:
        """True if there were so many failures that only single probes are allowed."""
        return self._breaker.circuit is not Circuit.CLOSED

    def now(self) -> float:
        """Return the time on the clock that all times of this object refer to."""
        return self._clock()

    def jitter(self) -> float:
        """Return a random factor for a wait: 1 or a little more."""
        return 1 + self.rule.jitter * self._chance()

    def wait(self) -> float:
        """Return the seconds until a try is allowed; 0 means now."""
        return self._breaker.wait(self._clock())

    def note_try(self) -> None:
        """Note that an allowed try starts; on an open circuit it is the probe, and other tries must wait."""
        self._breaker = self._breaker.note_try(self._clock())

    def note_success(self) -> None:
        """Note a success."""
        self._breaker = self._breaker.note_success()

    def note_failure(self) -> float:
        """Note a failure, and return the seconds until the next try."""
        now = self._clock()
        self._breaker = self._breaker.note_failure(now, self._chance())
        return self._breaker.wait(now)

    def pause(self, seconds: float) -> None:
        """Allow no try for so long because the other side asked for it; a longer back-off stays."""
        until = max(self._breaker.retry_at, self._clock() + seconds)
        self._breaker = replace(self._breaker, retry_at=until)

    def reset(self) -> None:
        """Reset the state, because the failed part was replaced by a new one."""
        self._breaker = Breaker(rule=self.rule)
