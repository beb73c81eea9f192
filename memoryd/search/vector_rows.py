"""The vectors of one space as a matrix in the order of their ids: in memory up to a limit, then in a mapped file."""

import tempfile
import weakref
from pathlib import Path
from typing import IO, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from memoryd.store.index.vectors import HASH, Hashes, Matrix, VectorBatch

Rows = TypeVar("Rows", bound=NDArray[np.generic])

GROWTH = 1.5
"""By this the room for ids and hashes grows when it is full."""


class VectorRows:
    """Grows at the end only; what it returned before stays as it was. The file has no name and ends with this."""

    def __init__(self, dimensions: int, *, limit: int, folder: Path) -> None:
        self.count = 0
        self._dimensions = dimensions
        self._limit = limit
        self._folder = folder
        self._ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._hashes: Hashes = np.empty(0, HASH)
        self._vectors: Matrix = np.empty((0, dimensions), np.float32)
        self._file: IO[bytes] | None = None

    @property
    def is_mapped(self) -> bool:
        return self._file is not None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ascending, shape (count,)."""
        return self._ids[: self.count]

    @property
    def hashes(self) -> Hashes:
        """The hash of each row's text, shape (count,)."""
        return self._hashes[: self.count]

    @property
    def vectors(self) -> Matrix:
        """Shape (count, dimensions)."""
        return self._vectors[: self.count]

    @property
    def last_id(self) -> int:
        """The greatest id, 0 without any."""
        return int(self._ids[self.count - 1]) if self.count else 0

    def append(self, batch: VectorBatch) -> int:
        """Take rows whose ids are greater than all before, say how many; raises OSError when no disk can hold them."""
        if not len(batch.ids):
            return 0
        total = self.count + len(batch.ids)
        if total * self._dimensions * self._vectors.itemsize > self._limit or not self._has_room():
            self._map(batch.vectors)
        else:
            self._vectors[self.count : total] = batch.vectors
        self._ids = _with(self._ids, self.count, batch.ids)
        self._hashes = _with(self._hashes, self.count, batch.hashes)
        self.count = total
        return len(batch.ids)

    def _has_room(self) -> bool:
        """Tell whether memory may be used, and take all of it: the system gives a page only when it is written to.

        To grow by copying would need the old room and a larger new one at once.
        """
        if self._file is None and not len(self._vectors):
            try:
                self._vectors = np.empty((self._limit // (self._dimensions * 4), self._dimensions), np.float32)
            except MemoryError:
                return False
        return self._file is None

    def _map(self, added: Matrix) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - it lives as long as the rows
            weakref.finalize(self, self._file.close)
            self.vectors.tofile(self._file)
        added.tofile(self._file)
        size = self._file.tell() // (self._dimensions * self._vectors.itemsize)
        self._vectors = np.memmap(self._file, np.float32, "r", shape=(size, self._dimensions))


def _with(rows: Rows, count: int, added: Rows) -> Rows:
    """Return an array whose first rows are the `count` of the old one and the added ones."""
    total = count + len(added)
    if total > len(rows):
        spare = np.empty((int(total * GROWTH) - count, *rows.shape[1:]), rows.dtype)
        rows = cast("Rows", np.concatenate([rows[:count], spare]))
    rows[count:total] = added
    return rows
