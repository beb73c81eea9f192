"""When to act on a stream of hints: after a quiet spell, but never later than a set hold."""

from dataclasses import dataclass


@dataclass(slots=True)
class Debounce:
    """Collects hints. `quiet` and `hold` are seconds; times come from one monotonic clock."""

    quiet: float
    hold: float
    first: float | None = None
    last: float = 0.0

    def hint(self, now: float) -> None:
        """Note that something may have changed."""
        self.first = now if self.first is None else self.first
        self.last = now

    def clear(self) -> None:
        """Forget the hints: they are being acted upon."""
        self.first = None

    @property
    def due(self) -> float | None:
        """The time to act, None when no hint waits."""
        return None if self.first is None else min(self.last + self.quiet, self.first + max(self.hold, self.quiet))
