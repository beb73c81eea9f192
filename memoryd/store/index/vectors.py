"""The vectors of an index by content: one row for each (vector space, text hash), whichever chunks hold that text.

Plain float32 rows: sqlite-vec's distance functions read them in SQL, and NumPy reads the same bytes
where the extension is missing.

A space belongs to one fingerprint of an embedder. Its number, from `find_space` and `open_space`, holds until the file
is opened anew. The count of purges tells what was read before one from what was read since.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import apsw
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.text.words import Phrase
from memoryd.domain.vector import Vector
from memoryd.store.index.passages import (
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
from memoryd.store.index.words import CandidateFilter, every_phrase
from memoryd.store.pool import ConnectionPool, Returned


class Purges:
    """A count that rises as a purge begins, before its transaction can run; and whether one is under way."""

    def __init__(self) -> None:
        self._begun = 0
        self._under_way = 0

    @property
    def mark(self) -> int | None:
        """What to compare later; None while one is under way, of which nobody knows what it will leave."""
        return None if self._under_way else self._begun

    def has_none_since(self, mark: int | None) -> bool:
        """Tell whether none began since a mark was taken; of None nobody can say."""
        return mark is not None and mark == self._begun

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a purge, which is the block."""
        self._begun += 1
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1


Matrix = NDArray[np.float32]
"""Vectors of one space, shape (n, dimensions)."""
Hashes = NDArray[np.void]
HASH = np.dtype("V16")
"""The hash that names a text, as `domain.entries` makes it."""


class VectorBatch(Struct, frozen=True):
    """Rows in the order of their ids: ids and hashes of shape (n,), vectors of shape (n, dimensions)."""

    ids: NDArray[np.int64]
    hashes: Hashes
    vectors: Matrix


_PUT_VECTOR = """
INSERT INTO vectors (space_id, hash, vector, used_at) VALUES (?, ?, ?, ?) ON CONFLICT (space_id, hash) DO NOTHING
"""
# the plus keeps SQLite off the (space_id, hash) index: by id only what is new is read
_SELECT_AFTER = "SELECT id, hash, vector FROM vectors WHERE +space_id = ? AND id > ? ORDER BY id LIMIT ?"
_SELECT_BY_HASH = """
SELECT hash, vector FROM vectors v JOIN spaces s ON s.id = v.space_id
WHERE s.fingerprint = ? AND v.hash IN (SELECT unhex(value) FROM json_each(?))
"""
_NEAREST = """
SELECT v.hash, 1.0 - vec_distance_cosine(v.vector, :query) AS similarity
FROM vectors v WHERE v.space_id = :space {filter} ORDER BY similarity DESC LIMIT :limit
"""
_IDS_OF_FILES = """
SELECT DISTINCT v.id FROM files f JOIN chunks c ON c.file_id = f.id JOIN passages p ON p.chunk_id = c.id
JOIN vectors v ON v.space_id = ? AND v.hash = p.hash WHERE f.id IN (SELECT value FROM json_each(?)) ORDER BY v.id
"""
_IDS_OF_PHRASES = """
SELECT DISTINCT v.id FROM vectors v JOIN passages p ON p.hash = v.hash
WHERE v.space_id = ? AND p.chunk_id IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?) ORDER BY v.id
"""

_IDS_OF_CHUNKS = """
SELECT DISTINCT v.id FROM {chunks} a JOIN passages p ON p.chunk_id = a.{chunk}
CROSS JOIN vectors v WHERE v.space_id = ? AND v.hash = p.hash ORDER BY v.id
"""


def put_vectors(db: apsw.Connection, space: int, vectors: Sequence[tuple[bytes, Vector]], now: float) -> None:
    """Store vectors by the hash of their text."""
    db.executemany(_PUT_VECTOR, [(space, key, vector.tobytes(), now) for key, vector in vectors])


def vectors_after(db: apsw.Connection, space: int, last_id: int, dimensions: int, limit: int) -> VectorBatch:
    """Return the first `limit` vectors that were added after `last_id`."""
    rows = list(db.execute(_SELECT_AFTER, (space, last_id, limit)))
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    hashes = np.frombuffer(b"".join(row[1] for row in rows), HASH)
    flat = np.frombuffer(b"".join(row[2] for row in rows), np.float32)
    return VectorBatch(ids, hashes, flat.reshape(len(rows), dimensions))


def vectors_of(db: apsw.Connection, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
    """Return the vectors that this file already holds for the given text hashes."""
    asked = json.dumps([key.hex() for key in hashes])
    return {row[0]: np.frombuffer(row[1], np.float32) for row in db.execute(_SELECT_BY_HASH, (fingerprint, asked))}


def nearest(
    db: apsw.Connection, space: int, query: Vector, limit: int, allowed: Sequence[int] | None = None
) -> list[tuple[bytes, float]]:
    """Return (text hash, cosine similarity), best first, by sqlite-vec; `allowed` vector ids filter before the cut."""
    clause = "" if allowed is None else "AND v.id IN (SELECT value FROM json_each(:allowed))"
    values = {
        "query": query.tobytes(),
        "space": space,
        "limit": limit,
        "allowed": json.dumps(list(allowed or ())),
    }
    if allowed is None:
        del values["allowed"]
    return [(row[0], row[1]) for row in db.execute(_NEAREST.format(filter=clause), values)]


def ids_of_files(db: apsw.Connection, space: int, file_ids: Sequence[int]) -> NDArray[np.int64]:
    """Return the ids, ascending, of the vectors that passages of these files use."""
    rows = list(db.execute(_IDS_OF_FILES, (space, json.dumps(list(file_ids)))))
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def ids_of_phrases(db: apsw.Connection, space: int, phrases: Sequence[Phrase]) -> NDArray[np.int64]:
    """Return the ids, ascending, of the vectors that passages of the chunks use which hold each of the phrases."""
    rows = list(db.execute(_IDS_OF_PHRASES, (space, every_phrase(phrases))))
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def ids_of_chunks(db: apsw.Connection, space: int, chunks: Sequence[int] | None) -> NDArray[np.int64]:
    """Return the ids, ascending, of the vectors that passages of these chunks use; None: of all retained lines."""
    if chunks is None:
        rows = list(db.execute(_IDS_OF_CHUNKS.format(chunks="memory_chunks", chunk="chunk_id"), (space,)))
    else:
        statement = _IDS_OF_CHUNKS.format(chunks="json_each(?)", chunk="value")
        rows = list(db.execute(statement, (json.dumps(list(chunks)), space)))
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


NO_SPACE = 0
"""A space that holds nothing: SQLite counts rows from 1."""

_INSERT_SPACE = """
INSERT INTO spaces (fingerprint, provider, model, dimensions, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET created_at = excluded.created_at RETURNING id
"""
_SPACES_OF = """
SELECT id FROM spaces s WHERE provider IN (SELECT value FROM json_each(?))
  AND created_at = (SELECT max(created_at) FROM spaces WHERE provider = s.provider)
"""
_UNUSED = """
FROM vectors v WHERE v.space_id NOT IN (SELECT value FROM json_each(:spaces))
  OR NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = v.hash)
"""
_COUNT_UNUSED = f"SELECT count(*) {_UNUSED}"
_DROP_UNUSED = """
DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = {table}.hash)
"""
_EVICT = f"""
DELETE FROM vectors WHERE id IN (SELECT v.id {_UNUSED} ORDER BY v.used_at DESC, v.id DESC LIMIT -1 OFFSET :keep)
"""


def find_space(db: apsw.Connection, fingerprint: str) -> int | None:
    """Return the id of the vector space of this fingerprint, None if there is none."""
    row = db.execute("SELECT id FROM spaces WHERE fingerprint = ?", (fingerprint,)).fetchone()
    return None if row is None else int(row[0])


def open_space(db: apsw.Connection, *, fingerprint: str, provider: str, model: str, dimensions: int, now: float) -> int:
    """Return the id of the vector space of this fingerprint, made if it is new, and note that it is in use.

    `now` is Unix time.
    """
    space: int = db.execute(_INSERT_SPACE, (fingerprint, provider, model, dimensions, now)).get
    return space


def drop_space(db: apsw.Connection, space: int) -> None:
    """Forget every vector and every rejection of the space; the texts become pending again."""
    db.execute("DELETE FROM vectors WHERE space_id = ?", (space,))
    db.execute("DELETE FROM rejected WHERE space_id = ?", (space,))


def spaces_of(db: apsw.Connection, providers: Collection[str]) -> set[int]:
    """Return the space that each of these providers was last at work in, whether or not it can be asked now."""
    return {row[0] for row in db.execute(_SPACES_OF, (json.dumps(list(providers)),))}


def count_unused(db: apsw.Connection, spaces: Collection[int]) -> int:
    """Count the vectors that no passage uses in these spaces."""
    count: int = db.execute(_COUNT_UNUSED, {"spaces": json.dumps(list(spaces))}).get
    return count


def drop_unused(db: apsw.Connection) -> None:
    """Drop every vector, and every refusal of a model, of a text that no document holds any more."""
    db.execute(_DROP_UNUSED.format(table="vectors"))
    db.execute(_DROP_UNUSED.format(table="rejected"))


def evict_unused(db: apsw.Connection, spaces: Collection[int], keep: int) -> int:
    """Drop all but the `keep` last used vectors that no passage uses in these spaces; return how many went."""
    db.execute(_EVICT, {"spaces": json.dumps(list(spaces)), "keep": keep})
    return db.changes()


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
