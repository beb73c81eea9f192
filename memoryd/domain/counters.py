"""Counters for status and metrics: hits of a cache, durations in Prometheus buckets, rates of queues; and groups."""

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct


class CacheUses(Struct):
    """Counts since it was made."""

    hits: int = 0
    misses: int = 0

    def note(self, *, is_hit: bool, times: int = 1) -> None:
        """Count what was wanted: whether it was there."""
        if is_hit:
            self.hits += times
        else:
            self.misses += times


BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets, in seconds; the last bucket, of what took longer, has none."""


class Durations:
    """Counts durations; adding one takes no longer however many there were."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        """How many fell into each bucket."""
        self.total = 0.0
        """The sum of all, in seconds."""

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def join(self, other: "Durations") -> None:
        """Count what another one counted, too."""
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def buckets(self) -> Iterator[tuple[str, float]]:
        """Yield each bound, `+Inf` at last, and how many took so long at most."""
        so_far = 0
        for bound, counted in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            so_far += counted
            yield bound, so_far


def quantile(counts: Sequence[float], share: float) -> float | None:
    """Return below how many seconds a share (0 to 1) of the durations lies, by what fell into each bucket.

    Within a bucket they are taken to lie evenly, as Prometheus does; None if there are none. The last bucket has no
    end: what lies there is told as its beginning.
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
"""Less than this says nothing."""


class RateMeter:
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
        return left * took / done if done and took >= MIN_SECONDS else None

    def _drop(self, now: float) -> None:
        while self._done and now - self._done[0][0] > WINDOW_SECONDS:
            self._done.popleft()


Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Return what belongs to each key, in the order in which it comes."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found
