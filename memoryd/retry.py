"""When to try something again, by the rule of `domain/breaker` with its clock and chance; and waits with an end."""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable

from memoryd.domain.breaker import Breaker, BreakerRule, Circuit


async def happens(waiting: Awaitable[object], within: float | None) -> bool:
    """Wait for something, at most so many seconds (None: for ever); return whether it came."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            await waiting
            return True
    return False


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
