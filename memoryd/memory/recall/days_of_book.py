"""Which memories speak of some days: all lines of a book by their first and last day, for one look at many."""

from collections.abc import Iterator
from datetime import date

import numpy as np

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.recall_filters import span_of
from memoryd.domain.memories.recall_order import INSIDE_SHARE
from memoryd.domain.memories.timespans import DaySpan
from memoryd.domain.ranking.filters import date_in_name


class DaysOfBook:
    """The days of all lines of a book, made once for it."""

    def __init__(self, book: Book) -> None:
        sources = [(memory, source) for memory in book.memories.values() for source in memory.sources]
        spans = [span_of(source) for _, source in sources]
        self._memories = [memory for memory, _ in sources]
        self._first = np.fromiter((span.first.toordinal() for span in spans), np.int64, len(spans))
        self._last = np.fromiter((span.last.toordinal() for span in spans), np.int64, len(spans))
        dated = (source.event is not None or date_in_name(source.path) is not None for _, source in sources)
        self._is_dated = np.fromiter(dated, np.bool_, len(spans))
        days = (min(span.last, source.day).toordinal() for span, (_, source) in zip(spans, sources, strict=True))
        self._newest = np.fromiter(days, np.int64, len(spans))
        logged = (source.day for _, source in sources if date_in_name(source.path) is not None)
        self._last_written = max(logged, default=date.min)

    @property
    def last_written(self) -> date:
        """The last day that has a log, which a clock that was ahead may have put off."""
        return self._last_written

    def meeting(self, span: DaySpan) -> Iterator[Memory]:
        """Yield the memories that speak of these days: first what speaks of them mostly, the newest of these first."""
        first, last = span.first.toordinal(), span.last.toordinal()
        places = np.flatnonzero((self._first <= last) & (self._last >= first))
        own = self._last[places] - self._first[places] + 1
        shared = np.minimum(self._last[places], last) - np.maximum(self._first[places], first) + 1
        is_inside = self._is_dated[places] & (shared >= INSIDE_SHARE * own)
        order = np.lexsort((places, -self._newest[places], ~is_inside))
        told: set[str] = set()
        for at in places[order].tolist():
            memory = self._memories[at]
            if memory.id not in told:
                told.add(memory.id)
                yield memory
