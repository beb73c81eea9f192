"""The relevance of memories scaled to a mean of 1, so that passages, which have none, stand beside them fairly."""

from collections.abc import Callable
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import MemoryId
from memoryd.index.yielding import with_pauses

_NOTHING: Final = 1e-9


class RelevanceScale:
    """The mean over one book. `weight` gives what a memory counts at a time in seconds since 1970, unscaled.

    A new book costs a look at what changed in it; all of it is weighed anew by `weighed` alone, now and then.
    """

    def __init__(self, weight: Callable[[Memory, float], float]) -> None:
        self._weight = weight
        self._book: Book | None = None
        self._weights: dict[MemoryId, tuple[Memory, float]] = {}
        self._mean = 1.0

    def mean(self, book: Book, now: float) -> float:
        """Return the mean weight of the memories of a book; 1 where it has none."""
        if book is not self._book:
            known = self._weights
            self.keep(book, {key: self._of(memory, known.get(key), now) for key, memory in book.memories.items()})
        return self._mean

    def weighed(self, book: Book, now: float) -> dict[MemoryId, tuple[Memory, float]]:
        """Weigh all memories anew; call it in a thread, and `keep` what it gives."""
        return {key: self._of(memory, None, now) for key, memory in with_pauses(list(book.memories.items()))}

    def keep(self, book: Book, weights: dict[MemoryId, tuple[Memory, float]]) -> None:
        """Take over the weights of the memories of a book."""
        total = sum(weight for _, weight in weights.values())
        self._book, self._weights = book, weights
        self._mean = max(total / len(weights), _NOTHING) if weights else 1.0

    def _of(self, memory: Memory, known: tuple[Memory, float] | None, now: float) -> tuple[Memory, float]:
        return known if known is not None and known[0] is memory else (memory, self._weight(memory, now))
