"""Counters for status and metrics: cache hits, durations in Prometheus buckets, and rates of queues; and grouping."""

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct, field


class CacheUses(Struct):
    """Hits and misses of a cache since the start."""

    hits: int = 0
    misses: int = 0

    def note(self, *, is_hit: bool, times: int = 1) -> None:
        """Count look-ups that hit, or that missed."""
        if is_hit:
            self.hits += times
        else:
            self.misses += times


BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets, in seconds; the last bucket, for longer durations, has none."""


class Durations(Struct, eq=False):
    """Counts of durations by bucket; adding a duration takes constant time."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """Number of durations in each bucket."""
    total: float = 0.0
    """Sum of all durations, in seconds."""

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def add_all(self, other: "Durations") -> None:
        """Add the counts of `other`."""
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def buckets(self) -> Iterator[tuple[str, float]]:
        """Yield each bound, `+Inf` at last, and the number of durations up to it."""
        so_far = 0
        for bound, counted in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            so_far += counted
            yield bound, so_far


def quantile(counts: Sequence[float], share: float) -> float | None:
    """Return the seconds below which a share (0 to 1) of the durations lies, from the counts of the buckets.

    Durations are assumed to be evenly distributed within a bucket, as in Prometheus. A quantile in the last bucket,
    which has no upper bound, is returned as its lower bound. None without durations.
    """
    total = sum(counts)
    if total <= 0:
        return None
    wanted, so_far, low = share * total, 0.0, 0.0
    for bound, counted in zip(BOUNDS, counts, strict=False):
        if counted and so_far + counted >= wanted:
            return low + (bound - low) * (wanted - so_far) / counted
        so_far, low = so_far + counted, bound
    return low


WINDOW_SECONDS = 60.0
MIN_SECONDS = 1.0
"""Shortest time from which a rate is estimated."""


class RateMeter(Struct, eq=False):
    """Rate of completed work; times come from one monotonic clock, in seconds."""

    _done: deque[tuple[float, int]] = field(default_factory=deque)

    def note(self, now: float, done: int) -> None:
        """Count `done` items as completed now."""
        self._done.append((now, done))
        self._drop(now)

    def seconds_left(self, now: float, left: int) -> float | None:
        """Return how long `left` items take at the present rate; 0 for none, None while the rate is unknown."""
        if left <= 0:
            return 0.0
        self._drop(now)
        if not self._done:
            return None
        # the first items were completed before their note: it starts the time, and they are not counted
        begun, first = self._done[0]
        took, done = now - begun, sum(number for _, number in self._done) - first
        return left * took / done if done and took >= MIN_SECONDS else None

    def _drop(self, now: float) -> None:
        while self._done and now - self._done[0][0] > WINDOW_SECONDS:
            self._done.popleft()


Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Return the items of each key, in their order."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
