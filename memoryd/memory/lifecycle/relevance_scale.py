"""The relevance of memories scaled to a mean of 1, so that passages, which have none, stand beside them fairly."""

from collections.abc import Callable
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import MemoryId
from memoryd.index.threads import with_pauses

_NOTHING: Final = 1e-9


class RelevanceScale:
    """The mean over one book. `weight` gives what a memory counts at a time in seconds since 1970, unscaled.

    A new book costs a look at what changed in it; all of it is weighed anew by `weighed` alone, now and then.
    """

    def __init__(self, weight: Callable[[Memory, float], float]) -> None:
        self._weight = weight
        self._book = Book()
        self._weights: dict[MemoryId, float] = {}
        self._total = 0.0

    def mean(self, book: Book, now: float) -> float:
        """Return the mean weight of the memories of a book; 1 where it has none."""
        if book is not self._book:
            self._follow(book, now)
        return max(self._total / len(self._weights), _NOTHING) if self._weights else 1.0

    def weighed(self, book: Book, now: float) -> dict[MemoryId, float]:
        """Weigh all memories anew; call it in a thread, and `keep` what it gives."""
        return {key: self._weight(memory, now) for key, memory in with_pauses(list(book.memories.items()))}

    def keep(self, book: Book, weights: dict[MemoryId, float]) -> None:
        """Take over the weights of all memories of a book."""
        self._book, self._weights, self._total = book, weights, sum(weights.values())

    def _follow(self, book: Book, now: float) -> None:
        before, after = self._book.memories, book.memories
        for key in before.keys() - after.keys():
            self._total -= self._weights.pop(key)
        for key in [key for key, memory in after.items() if before.get(key) is not memory]:
            weight = self._weight(after[key], now)
            self._total += weight - self._weights.get(key, 0.0)
            self._weights[key] = weight
        self._book = book
