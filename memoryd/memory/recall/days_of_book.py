"""Which memories speak of some days: all lines of a book by their first and last day, for one look at many."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt

from memoryd.domain.memories.book import Book, Memory, MemorySource, changed_memories
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import span_of
from memoryd.domain.memories.recall_order import INSIDE_SHARE
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.filters import date_in_name

_Row = tuple[int, int, int, bool, int]
_FIRST, _LAST, _NEWEST, _IS_DATED, _LOGGED = range(5)
"""Days are ordinals; `_LOGGED` is the day of the log, 0 for a line of another page."""
_ID: Final = "S36"


def _no_ids() -> npt.NDArray[np.bytes_]:
    return np.empty(0, _ID)


def _no_rows() -> npt.NDArray[np.int64]:
    return np.empty((0, 5), np.int64)


@dataclass(frozen=True, eq=False)
class DaysOfBook:
    """The days of all lines of a book, in the order of their memories; `days_of` makes them."""

    book: Book = field(default_factory=Book)
    _ids: npt.NDArray[np.bytes_] = field(default_factory=_no_ids)
    _rows: npt.NDArray[np.int64] = field(default_factory=_no_rows)

    @property
    def last_written(self) -> date:
        """The last day that has a log, which a clock that was ahead may have put off."""
        last = int(self._rows[:, _LOGGED].max(initial=0))
        return date.fromordinal(last) if last else date.min

    def meeting(self, span: DaySpan) -> Iterator[Memory]:
        """Yield the memories that speak of these days: first what speaks of them mostly, the newest of these first."""
        first, last = span.first.toordinal(), span.last.toordinal()
        rows = self._rows
        places = np.flatnonzero((rows[:, _FIRST] <= last) & (rows[:, _LAST] >= first))
        met = rows[places]
        own = met[:, _LAST] - met[:, _FIRST] + 1
        shared = np.minimum(met[:, _LAST], last) - np.maximum(met[:, _FIRST], first) + 1
        is_inside = (met[:, _IS_DATED] > 0) & (shared >= INSIDE_SHARE * own)
        order = np.lexsort((places, -met[:, _NEWEST], ~is_inside))
        told: set[bytes] = set()
        for at in places[order].tolist():
            key = bytes(self._ids[at])
            if key not in told:
                told.add(key)
                yield self.book.memories[MemoryId(key.decode())]

    def of(self, book: Book) -> "DaysOfBook":
        """Return those of a later book; what did not change is not looked at again."""
        changed = changed_memories(self.book, book)
        told = [(one, _row(source)) for one in changed if one in book.memories for source in book.memories[one].sources]
        stay = ~np.isin(self._ids, np.array(sorted(changed), _ID))
        ids = np.concatenate([self._ids[stay], np.array([one for one, _ in told], _ID)])
        rows = np.concatenate([self._rows[stay], _rows([row for _, row in told])])
        # lines of one memory stay in their order
        order = np.argsort(ids, kind="stable")
        return DaysOfBook(book, ids[order], rows[order])


def days_of(book: Book) -> DaysOfBook:
    """Return the days of a book."""
    return DaysOfBook().of(book)


def _rows(rows: Sequence[_Row]) -> npt.NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, 5)


def _row(source: MemorySource) -> _Row:
    span, is_logged = span_of(source), date_in_name(source.path) is not None
    newest, day = min(span.last, source.day).toordinal(), source.day.toordinal()
    is_dated = source.event is not None or is_logged
    return span.first.toordinal(), span.last.toordinal(), newest, is_dated, day if is_logged else 0
