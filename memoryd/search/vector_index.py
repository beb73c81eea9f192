"""The resident vectors of one space: an exact nearest-neighbour search in memory, in front of the durable rows."""

import asyncio
from concurrent.futures import Executor
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.fusion import Noise
from memoryd.store.database import Database
from memoryd.store.vectors import Matrix, nearest, vectors_after

RESIDENT_BYTES = 256 * 2**20
"""Above this size the vectors stay on disk and sqlite-vec scans them."""

SAMPLE = 2_000
"""Vectors that stand for the corpus when the noise of a question is measured."""
PRIOR_COUNT, PRIOR_DEVIATION = 20, 0.1
"""A corpus of a few passages says little about noise: so much weight has the usual deviation of cosines."""


class Engine(StrEnum):
    """What computes the distances."""

    RESIDENT = "resident"
    SQLITE_VEC = "sqlite-vec"


class VectorIndex:
    """Exact nearest vectors of one space. New vectors are picked up at each question; `invalidate` after removals."""

    def __init__(self, *, database: Database, executor: Executor, space: int, dimensions: int) -> None:
        self.space = space
        self.engine = Engine.RESIDENT
        self._database = database
        self._executor = executor
        self._dimensions = dimensions
        self._ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._vectors: Matrix = np.empty((0, dimensions), np.float32)
        self._sample = self._vectors
        self._size = 0
        self._is_stale = False
        self._lock = asyncio.Lock()

    @property
    def size(self) -> int:
        """How many vectors the last question was compared with; those added since they left memory are not counted."""
        return self._size

    def invalidate(self) -> None:
        """Say that vectors were removed: the next question loads all anew."""
        self._is_stale = True

    async def is_empty(self) -> bool:
        """Say whether there is no vector to compare with."""
        async with self._lock:
            await self._refresh()
            return self.engine is Engine.RESIDENT and not len(self._ids)

    async def nearest(
        self, query: Matrix, limit: int, allowed: NDArray[np.int64] | None = None
    ) -> tuple[list[tuple[int, float]], Noise]:
        """Return (vector id, cosine) of the `limit` nearest, best first, and the noise of this question.

        `allowed` ids (ascending) filter before the cut.
        """
        async with self._lock:
            await self._refresh()
            ids, vectors, sample = self._ids, self._vectors, self._sample
        noise = _noise(sample, query)
        if self.engine is Engine.SQLITE_VEC:
            only = None if allowed is None else allowed.tolist()
            return await self._database.read(lambda db: nearest(db, self.space, query, limit, only)), noise
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, _best, ids, vectors, query, limit, allowed), noise

    async def _refresh(self) -> None:
        if self._is_stale:
            self._ids, self._vectors = self._ids[:0], self._vectors[:0]
            self._is_stale, self.engine = False, Engine.RESIDENT
        if self.engine is Engine.SQLITE_VEC:
            return
        last = int(self._ids[-1]) if len(self._ids) else 0
        ids, vectors = await self._database.read(lambda db: vectors_after(db, self.space, last, self._dimensions))
        if not len(ids):
            return
        self._ids = np.concatenate([self._ids, ids])
        self._vectors = np.concatenate([self._vectors, vectors])
        self._size = len(self._vectors)
        step = max(1, len(self._vectors) // SAMPLE)
        self._sample = self._vectors[::step].copy()
        if self._vectors.nbytes > RESIDENT_BYTES and self._database.vector_error is None:
            self.engine = Engine.SQLITE_VEC
            self._ids, self._vectors = self._ids[:0], self._vectors[:0]


def _best(
    ids: NDArray[np.int64], vectors: Matrix, query: Matrix, limit: int, allowed: NDArray[np.int64] | None
) -> list[tuple[int, float]]:
    if allowed is not None:
        rows = np.flatnonzero(np.isin(ids, allowed, assume_unique=True))
        ids, vectors = ids[rows], vectors[rows]
    if not len(ids):
        return []
    similarity = vectors @ query
    top = np.argpartition(-similarity, limit - 1)[:limit] if limit < len(ids) else np.arange(len(ids))
    order = top[np.argsort(-similarity[top], kind="stable")]
    return [(int(ids[row]), float(similarity[row])) for row in order]


def _noise(sample: Matrix, query: Matrix) -> Noise:
    if not len(sample):
        return Noise()
    similarity = sample @ query
    count = len(similarity)
    variance = (count * float(similarity.var()) + PRIOR_COUNT * PRIOR_DEVIATION**2) / (count + PRIOR_COUNT)
    return Noise(float(similarity.mean()), variance**0.5)
