"""When to try something again, one rule for worker, qmd and providers; and waits with an end.

Exponential back-off with jitter; the circuit breaker as in Nygard, "Release It!", chapter 5.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class Circuit(StrEnum):
    """Whether calls go through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    """One probe is under way; the rest wait for its outcome."""


class BreakerRule(Struct, frozen=True):
    """Seconds and counts that shape the waiting."""

    first_delay: float = 1.0
    longest_delay: float = 60.0
    jitter: float = 0.25
    """Share of the delay that chance may add. It never takes away: at most one try a `first_delay`."""
    failures_to_open: int = 5
    window: float = 60.0


class Breaker(Struct, frozen=True):
    """The memory of one supervised thing. Every step gives a new value; `now` is monotonic seconds."""

    rule: BreakerRule = BreakerRule()
    circuit: Circuit = Circuit.CLOSED
    failures: tuple[float, ...] = ()
    """When the failures of the last window happened."""
    failures_in_a_row: int = 0
    retry_at: float = float("-inf")

    def wait(self, now: float) -> float:
        """Return the seconds until a try is allowed; 0 means now."""
        return max(0.0, self.retry_at - now)

    def tried(self, now: float) -> "Breaker":
        """Note that an allowed try starts. On an open circuit it is the probe, and keeps the others out.

        A probe whose outcome never comes (its caller was cancelled) blocks for `longest_delay`, not for ever.
        """
        if self.circuit is Circuit.CLOSED:
            return self
        return replace(self, circuit=Circuit.HALF_OPEN, retry_at=now + self.rule.longest_delay)

    def succeeded(self) -> "Breaker":
        """Note a success, which closes the circuit after a probe.

        Else earlier failures keep counting until they age out, so that a thing that works for a moment between crashes
        still opens the circuit.
        """
        kept = self.failures if self.circuit is Circuit.CLOSED else ()
        return Breaker(rule=self.rule, failures=kept)

    def failed(self, now: float, chance: float) -> "Breaker":
        """Note a failure; `chance` in [0, 1) spreads the next try."""
        recent = (*(at for at in self.failures if now - at < self.rule.window), now)
        opens = self.circuit is not Circuit.CLOSED or len(recent) >= self.rule.failures_to_open
        # the doublings are bounded, lest the power grow beyond a float
        doubled = self.rule.first_delay * 2 ** min(self.failures_in_a_row, 32)
        delay = self.rule.longest_delay if opens else min(self.rule.longest_delay, doubled)
        return replace(
            self,
            circuit=Circuit.OPEN if opens else Circuit.CLOSED,
            failures=recent[-self.rule.failures_to_open :],
            failures_in_a_row=self.failures_in_a_row + 1,
            retry_at=now + delay * (1 + self.rule.jitter * chance),
        )

    def held(self, until: float) -> "Breaker":
        """Note that the other side asked for no try before `until`; a longer back-off stays."""
        return replace(self, retry_at=max(self.retry_at, until))


async def happens(waiting: Awaitable[object], within: float | None) -> bool:
    """Wait for something, at most so many seconds (None: for ever); return whether it came."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            await waiting
            return True
    return False


async def together(*loops: Coroutine[Any, Any, object]) -> None:
    """Run loops at once until all return, or one fails, which ends the others before its error is raised."""
    failures: list[Exception] = []

    async def run(loop: Coroutine[Any, Any, object]) -> None:
        try:
            await loop
        except Exception as exc:
            failures.append(exc)
            running.cancel()

    # results, not errors: only so the others are waited for, too
    running = asyncio.gather(*map(run, loops), return_exceptions=True)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError
    if failures:
        raise failures[0]


class Retry:
    """The memory of one thing that may fail. `clock` tells monotonic seconds, `chance` in [0, 1) spreads the tries."""

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
        """Tell whether it failed so often that only a probe now and then is tried."""
        return self._breaker.circuit is not Circuit.CLOSED

    def now(self) -> float:
        """Return the time on the clock that everything here is told in."""
        return self._clock()

    def jitter(self) -> float:
        """Return by how much chance stretches a wait this time: 1 or a little more."""
        return 1 + self.rule.jitter * self._chance()

    def wait(self) -> float:
        """Return the seconds until a try is allowed; 0 means now."""
        return self._breaker.wait(self._clock())

    def tried(self) -> None:
        """Note that an allowed try starts; on an open circuit it is the probe, and keeps the others out."""
        self._breaker = self._breaker.tried(self._clock())

    def succeeded(self) -> None:
        """Note a success."""
        self._breaker = self._breaker.succeeded()

    def failed(self) -> float:
        """Note a failure, and return the seconds until the next try."""
        now = self._clock()
        self._breaker = self._breaker.failed(now, self._chance())
        return self._breaker.wait(now)

    def hold(self, seconds: float) -> None:
        """Allow no try for so long, however short the back-off is: the other side asked for it."""
        self._breaker = self._breaker.held(self._clock() + seconds)

    def forget(self) -> None:
        """Start afresh: what failed was replaced by another."""
        self._breaker = Breaker(rule=self.rule)
