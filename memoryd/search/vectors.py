"""Exact nearest-neighbour search over the vectors of one space, and the noise that unrelated passages give a question.

The rows are a matrix in the order of their ids: in memory up to a limit, then in a mapped file.
"""

import asyncio
import tempfile
import weakref
from concurrent.futures import Executor
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.ranking.calibration import CosineSample, noise_of
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.vector import Vector
from memoryd.errors import StoreUnavailable
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import HASH, Hashes, Matrix, VectorBatch

SAMPLE = 2_000
"""Vectors that stand for the corpus when the noise of a question is measured."""
SAMPLE_GROWTH = 1.05
"""Another sample is taken when there are so many times as many vectors."""
Rows = TypeVar("Rows", bound=NDArray[np.generic])
GROWTH = 1.5
"""By this the room for ids and hashes grows when it is full."""
BATCH = 16_384
"""Vectors that are read at once."""


def _noise(sample: Matrix, query: Vector, strangers: Matrix | None) -> Noise:
    """Return the noise of a question, from a sample and from strangers under this model, if they are known."""
    if not len(sample):
        return Noise()
    return noise_of(_cosines(sample, query), None if strangers is None else _cosines(strangers, query))


def _cosines(vectors: Matrix, query: Vector) -> CosineSample:
    similarity = vectors @ query
    return CosineSample(len(similarity), float(similarity.mean()), float(similarity.var()))


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


class DistanceEngine(StrEnum):
    """What computes the distances."""

    RESIDENT = "resident"
    """A matrix in memory."""
    MAPPED = "mapped"
    """A matrix in a file, of which the system keeps in memory what it has room for."""
    SQLITE_VEC = "sqlite-vec"
    """The rows of the index, one by one: where the disk has no room for the file."""


class VectorIndex:
    """Exact nearest vectors of one space, in the file as it is open now: in another life of it they mean nothing.

    New vectors are picked up at each question; `invalidate` after removals. At most `limit` bytes are held in memory.
    """

    def __init__(self, *, database: Database, executor: Executor, space: int, dimensions: int, limit: int) -> None:
        self.space = space
        self._database = database
        self._epoch = database.epoch
        self._executor = executor
        self._dimensions = dimensions
        self._limit = limit
        self._rows = self._no_rows()
        self._sample: Matrix = np.empty((0, dimensions), np.float32)
        """Every n-th vector: those of one document lie side by side, so that the first ones would be like it."""
        self._sampled = 0
        """How many vectors there were when it was taken."""
        self._size = 0
        self._seen: int | None = None
        """How many writes there were when all vectors had been loaded."""
        self._is_unmappable = False
        self._lock = asyncio.Lock()

    @property
    def engine(self) -> DistanceEngine:
        """What computes the distances now."""
        if self._is_unmappable:
            return DistanceEngine.SQLITE_VEC
        return DistanceEngine.MAPPED if self._rows.is_mapped else DistanceEngine.RESIDENT

    @property
    def size(self) -> int:
        """How many vectors the last question was compared with; what came after the matrix was left is not counted."""
        return self._size

    @property
    def held_bytes(self) -> int:
        """How much memory or, where a file holds the vectors, disk they take."""
        return self._rows.ids.nbytes + self._rows.hashes.nbytes + self._rows.vectors.nbytes

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was open when this was made."""
        return self._epoch == self._database.epoch

    def require_current(self) -> None:
        """Raise StoreUnavailable if the file was opened anew: the same numbers of spaces and rows mean others then."""
        if not self.is_current:
            raise StoreUnavailable("the index was opened anew while the question was embedded", hint="ask again")

    def invalidate(self) -> None:
        """Say that vectors were removed: the next question loads all anew."""
        self._rows, self._sample, self._sampled = self._no_rows(), self._sample[:0], 0
        self._seen, self._is_unmappable = None, False

    async def is_empty(self) -> bool:
        """Say whether there is no vector to compare with."""
        async with self._lock:
            await self._refresh()
            return not self._is_unmappable and not self._rows.count

    async def nearest(
        self,
        query: Vector,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        *,
        strangers: Matrix | None = None,
    ) -> tuple[list[tuple[bytes, float]], Noise]:
        """Return (text hash, cosine) of the `limit` nearest, best first, and the noise of this question.

        `allowed` ids (ascending) filter before the cut. `strangers` are vectors that have nothing to do with the notes.
        Raises StoreUnavailable when the file is opened anew meanwhile.
        """
        async with self._lock:
            await self._refresh()
            # whatever reads waits while the file is opened anew, and may so have loaded rows of the new one
            self.require_current()
            ids, hashes, vectors = self._rows.ids, self._rows.hashes, self._rows.vectors
        noise = _noise(self._sample, query, strangers)
        if self._is_unmappable:
            only = None if allowed is None else allowed.tolist()
            found = await self._database.vectors.nearest(self.space, query, limit, only)
            self.require_current()
            return found, noise
        loop = asyncio.get_running_loop()
        places, cosines = await loop.run_in_executor(self._executor, _best, ids, vectors, query, limit, allowed)
        return list(zip(hashes[places].tolist(), cosines.tolist(), strict=True)), noise

    async def _refresh(self) -> None:
        """Load what was added; a question that is given up leaves what it has loaded to the next one."""
        writes = self._database.writes
        while self._seen != writes and not self._is_unmappable:
            rows = self._rows
            added = await self._database.vectors.load(
                self.space, rows.last_id, self._dimensions, BATCH, partial(_added, rows)
            )
            if isinstance(added, OSError):
                await self._do_without(added)
                return
            if rows is self._rows and added < BATCH:
                self._seen, self._size = writes, rows.count
                if rows.count > SAMPLE_GROWTH * self._sampled:
                    self._sampled = rows.count
                    self._sample = rows.vectors[:: max(1, rows.count // SAMPLE)].copy()

    async def _do_without(self, trouble: OSError) -> None:
        """Leave the matrix, which neither memory nor disk may hold, for the slower rows of the index."""
        if self._database.vector_error is not None:
            raise StoreUnavailable(f"there is no room for a file of vectors: {trouble}") from trouble
        first = await self._database.vectors.after(self.space, 0, self._dimensions, SAMPLE)
        self._sample = first.vectors
        self._size = max(len(first.ids), self._rows.count)
        self._rows, self._is_unmappable = self._no_rows(), True

    def _no_rows(self) -> VectorRows:
        return VectorRows(self._dimensions, limit=self._limit, folder=self._database.path.parent)


def _added(rows: VectorRows, batch: VectorBatch) -> int | OSError:
    """Return how many vectors were added, or why they have no room, which is no trouble of the index."""
    try:
        return rows.append(batch)
    except OSError as exc:
        return exc


def _best(
    ids: NDArray[np.int64], vectors: Matrix, query: Vector, limit: int, allowed: NDArray[np.int64] | None
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the places of the `limit` nearest, best first, and their cosines."""
    rows = np.arange(len(ids)) if allowed is None else np.flatnonzero(np.isin(ids, allowed, assume_unique=True))
    similarity = np.asarray((vectors if allowed is None else vectors[rows]) @ query)
    top = np.argpartition(-similarity, limit - 1)[:limit] if limit < len(rows) else np.arange(len(rows))
    order = top[np.argsort(-similarity[top], kind="stable")]
    return rows[order], similarity[order]
