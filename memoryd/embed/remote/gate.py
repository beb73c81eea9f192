"""Who may call an endpoint now: the circuit breaker of the whole daemon, and what the endpoint itself asked for."""

from collections.abc import Callable
from dataclasses import replace

from memoryd.domain.breaker import Breaker, BreakerRule
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.failures import CallError, Kind


class EndpointGate:
    """The memory of one endpoint. Seconds are monotonic; `chance` in [0, 1) spreads the next try."""

    def __init__(self, rule: BreakerRule, chance: Callable[[], float]) -> None:
        self.reason = ""
        self._breaker = Breaker(rule=rule)
        self._chance = chance
        self._holds: dict[Purpose, float] = {}
        self._failed_at = float("-inf")
        self._answered_at = float("-inf")

    def wait(self, purpose: Purpose, now: float) -> float:
        """Seconds until a call may start."""
        return max(self._breaker.wait(now), self._holds.get(purpose, now) - now, 0.0)

    def starts(self, now: float) -> None:
        """A call starts."""
        self._breaker = self._breaker.tried(now)

    def answered(self, now: float) -> None:
        """The endpoint works, whatever it said."""
        self._answered_at = now
        self._breaker = self._breaker.succeeded()

    def fails(self, error: CallError, purpose: Purpose, *, started: float, now: float, is_late: bool) -> None:
        """A call failed. `is_late`: no answer in time, rather than an answer that says no."""
        self.reason = error.reason
        if error.kind in {Kind.REFUSED, Kind.TOO_LONG, Kind.TOO_MANY}:
            self.answered(now)
        elif error.kind is Kind.BUSY:
            self.answered(now)
            self._hold(purpose, now, error.retry_after)
        elif not self._is_load(purpose, now, is_late=is_late):
            self._count(started, now)
            if error.retry_after is not None:
                until = max(self._breaker.retry_at, now + error.retry_after)
                self._breaker = replace(self._breaker, retry_at=until)

    def _is_load(self, purpose: Purpose, now: float, *, is_late: bool) -> bool:
        # a question without an answer in its few seconds, while documents get theirs: busy, not gone
        return is_late and purpose is Purpose.QUERY and now - self._answered_at < self._breaker.rule.window

    def _count(self, started: float, now: float) -> None:
        # calls that were under way together fail together: that is one failure
        if started >= self._failed_at:
            self._breaker = self._breaker.failed(now, self._chance())
            self._failed_at = now

    def _hold(self, purpose: Purpose, now: float, seconds: float | None) -> None:
        rule = self._breaker.rule
        pause = rule.first_delay if seconds is None else seconds
        until = now + pause * (1 + rule.jitter * self._chance())
        self._holds[purpose] = max(self._holds.get(purpose, 0.0), until)
        if purpose is Purpose.QUERY:
            self._holds[Purpose.DOCUMENT] = max(self._holds.get(Purpose.DOCUMENT, 0.0), until)
