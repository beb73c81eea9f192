"""The vectors of one space for search: an exact nearest-neighbour search in memory, in front of the durable rows."""

import asyncio
from concurrent.futures import Executor
from enum import StrEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.embedding import Vector
from memoryd.domain.ranking.fusion import Noise
from memoryd.errors import StoreUnavailable
from memoryd.search.noise_sample import SAMPLE, NoiseSample
from memoryd.search.vector_rows import VectorRows
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import Matrix, VectorBatch

BATCH = 16_384
"""Vectors that are read at once."""


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
        self._sample = NoiseSample(dimensions)
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
        self._rows, self._sample = self._no_rows(), NoiseSample(self._dimensions)
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
        noise = self._sample.noise(query, strangers)
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
                self._sample.follow(rows.vectors)

    async def _do_without(self, trouble: OSError) -> None:
        """Leave the matrix, which neither memory nor disk may hold, for the slower rows of the index."""
        if self._database.vector_error is not None:
            raise StoreUnavailable(f"there is no room for a file of vectors: {trouble}") from trouble
        first = await self._database.vectors.after(self.space, 0, self._dimensions, SAMPLE)
        self._sample.take(first.vectors)
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
