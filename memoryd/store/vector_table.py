"""The vectors of an index, by verbs: each is one transaction, and raises StoreError.

A space is named by its number, which `find_space` and `open_space` give and which holds until the file is opened anew.
"""

from collections.abc import Callable, Collection, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from memoryd.domain.embedding import Vector
from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.pending_passages import (
    PendingCost,
    PendingPassage,
    RejectedPassage,
    count_pending,
    pending,
    pending_cost,
    put_rejected,
    rejected,
    used,
)
from memoryd.store.purges import Purges
from memoryd.store.running import Returned
from memoryd.store.stored_vectors import (
    VectorBatch,
    ids_of_chunks,
    ids_of_files,
    ids_of_phrases,
    nearest,
    put_vectors,
    vectors_after,
    vectors_of,
)
from memoryd.store.vector_spaces import count_unused, drop_space, evict_unused, find_space, open_space, spaces_of
from memoryd.store.word_rows import CandidateFilter


class Vectors:
    """Vector spaces, the vectors in them by the hash of their text, and the passages that have none."""

    def __init__(self, pool: ConnectionPool, purges: Purges) -> None:
        self._pool = pool
        self._purges = purges

    @property
    def purge_mark(self) -> int | None:
        """Tells `put` since when its texts are known; to be taken before they are read."""
        return self._purges.mark

    async def find_space(self, fingerprint: str) -> int | None:
        """Return the vector space of this fingerprint, None if there is none."""
        return await self._pool.read(lambda db: find_space(db, fingerprint))

    async def open_space(self, *, fingerprint: str, provider: str, model: str, dimensions: int, now: float) -> int:
        """Return the vector space of this fingerprint, made if it is new, and note that it is in use at `now`.

        `now` is Unix time.
        """
        return await self._pool.write(
            lambda db: open_space(
                db, fingerprint=fingerprint, provider=provider, model=model, dimensions=dimensions, now=now
            )
        )

    async def drop_space(self, space: int) -> None:
        """Forget every vector and every rejection of the space; the texts become pending again."""
        await self._pool.write(lambda db: drop_space(db, space))

    async def spaces_of(self, providers: Collection[str]) -> set[int]:
        """Return the space that each of these providers was last at work in, whether or not it can be asked now."""
        return await self._pool.read(lambda db: spaces_of(db, providers))

    async def pending(self, space: int, limit: int, *, without: Collection[bytes] = ()) -> list[PendingPassage]:
        """Return up to `limit` texts that have no vector in the space yet, the newest first, then files.

        Hashes in `without` are left out.
        """
        return await self._pool.read(lambda db: pending(db, space, limit, without=without))

    async def count_pending(self, space: int) -> int:
        """Count the distinct texts and files without a vector in the space."""
        return await self._pool.read(lambda db: count_pending(db, space))

    async def pending_cost(self, fingerprint: str) -> PendingCost:
        """Count what has no vector of this fingerprint; of an unknown one, everything. Reads every such text once."""
        return await self._pool.read(lambda db: pending_cost(db, fingerprint))

    async def rejected(self, fingerprint: str) -> list[RejectedPassage]:
        """Return the passages that the model of a fingerprint gives no vector for."""
        return await self._pool.read(lambda db: rejected(db, fingerprint))

    async def put(
        self,
        space: int,
        vectors: Sequence[tuple[bytes, Vector]],
        rejected: Sequence[tuple[bytes, str]],
        now: float,
        *,
        purge_mark: int | None = None,
    ) -> None:
        """Store vectors, and why there is none, by the hash of their text.

        After a purge since `purge_mark`, and without one, only what a passage still has: of a text that was purged
        while it was embedded, not even a vector may stay. What was only edited away may come back, and is paid for.
        """
        await self._pool.write(lambda db: self._put(db, space, vectors, rejected, now, purge_mark))

    async def of(self, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that this file already holds for the given text hashes."""
        return await self._pool.read(lambda db: vectors_of(db, fingerprint, hashes))

    async def after(self, space: int, last_id: int, dimensions: int, limit: int) -> VectorBatch:
        """Return the first `limit` vectors that were added after `last_id`."""
        return await self._pool.read(lambda db: vectors_after(db, space, last_id, dimensions, limit))

    async def load(
        self, space: int, last_id: int, dimensions: int, limit: int, take: Callable[[VectorBatch], Returned]
    ) -> Returned:
        """Hand `take` what `after` returns, and return what it returns.

        On the worker thread, since it may copy much; whoever gives up waits until it is done with the batch.
        """
        return await self._pool.read(lambda db: take(vectors_after(db, space, last_id, dimensions, limit)))

    async def nearest(
        self, space: int, query: Vector, limit: int, allowed: Sequence[int] | None = None
    ) -> list[tuple[bytes, float]]:
        """Return (text hash, cosine similarity), best first; `allowed` vector ids filter before the cut."""
        return await self._pool.read(lambda db: nearest(db, space, query, limit, allowed))

    async def ids_within(self, space: int, admitted: CandidateFilter) -> NDArray[np.int64] | None:
        """Return the ids, ascending, of the vectors to compare with, None for all.

        Only a first sieve: few chunks hold a phrase, so its vectors are looked up, but most lack a word.
        """
        if admitted.chunks is not None or admitted.only_memories:
            return await self._pool.read(lambda db: ids_of_chunks(db, space, admitted.chunks))
        if admitted.required:
            return await self._pool.read(lambda db: ids_of_phrases(db, space, admitted.required))
        files = admitted.files
        return None if files is None else await self._pool.read(lambda db: ids_of_files(db, space, files))

    async def count_unused(self, spaces: Collection[int]) -> int:
        """Count the vectors that no passage uses in these spaces."""
        return await self._pool.read(lambda db: count_unused(db, spaces))

    async def evict_unused(self, spaces: Collection[int], keep: int) -> int:
        """Drop all but the `keep` last used vectors that no passage uses in these spaces; return how many went."""
        return await self._pool.write(lambda db: evict_unused(db, spaces, keep))

    def _put(
        self,
        db: apsw.Connection,
        space: int,
        vectors: Sequence[tuple[bytes, Vector]],
        rejected: Sequence[tuple[bytes, str]],
        now: float,
        purge_mark: int | None,
    ) -> None:
        # in the transaction that stores: between the two a purge could come
        there = used(db, [key for key, _ in (*vectors, *rejected)])
        keeps_all = self._purges.has_none_since(purge_mark)
        put_vectors(db, space, [one for one in vectors if keeps_all or one[0] in there], now)
        put_rejected(db, space, [one for one in rejected if one[0] in there])
