"""When to try again after a failure: back-off and a circuit breaker, one rule for worker, qmd and providers.

Exponential back-off with jitter; the circuit breaker as in Nygard, "Release It!", chapter 5.
"""

from enum import StrEnum

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

    def allows(self, now: float) -> bool:
        """Tell whether a try may start now."""
        return self.wait(now) == 0

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
