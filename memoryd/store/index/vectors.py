"""The vectors of an index by content: one row per vector space and text hash, for all chunks with that text.

A space belongs to one fingerprint of an embedder. Its id, from `find_space` and `open_space`, is valid until the file
is reopened. A purge counter shows whether a text was read before or after a purge.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.media import modality_of, token_estimate
from memoryd.domain.text.tokens import estimate
from memoryd.domain.vector import Matrix, Vector, pack_vector, unpack_vector
from memoryd.replies.models import OutstandingReply
from memoryd.store.connection import hex_array, in_snapshot, json_array
from memoryd.store.database_file import DatabaseFile, Table, reads, writes
from memoryd.store.index.passages import PendingFile, PendingPassage, RejectedPassage
from memoryd.store.index.schema import index_hashes
from memoryd.store.index.stems import with_stems
from memoryd.store.index.words import CandidateFilter, all_phrases
from memoryd.store.pool import Returned


class Purges:
    """A counter that increases when a purge begins, before its transaction can run; and whether one is running."""

    def __init__(self) -> None:
        self._begun = 0
        self._running = 0

    @property
    def mark(self) -> int | None:
        """The value to compare later; None while a purge is running, whose effect is not known yet."""
        return None if self._running else self._begun

    def has_none_since(self, mark: int | None) -> bool:
        """Return whether no purge began since a mark; False for None."""
        return mark is not None and mark == self._begun

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the block as a purge."""
        self._begun += 1
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1


class IndexTable(Table):
    """Tables of an index from which texts may be purged."""

    def __init__(self, file: DatabaseFile, purges: Purges) -> None:
        super().__init__(file)
        self._database = file
        self._purges = purges


Hashes = NDArray[np.void]
HASH = np.dtype("V16")
"""The hash of a text, as `domain.entries` computes it."""


EmbeddedText = tuple[bytes, Vector, str]
"""The hash of a text, its vector and its language."""


class VectorBatch(Struct, frozen=True):
    """Rows in id order: ids and hashes of shape (n,), vectors of shape (n, dimensions), n languages."""

    ids: NDArray[np.int64]
    hashes: Hashes
    vectors: Matrix
    languages: Sequence[str]


_PUT_VECTOR = """
INSERT INTO vectors (space_id, hash, vector, language, used_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (space_id, hash) DO NOTHING
"""
# the plus keeps SQLite off the (space_id, hash) index, so that only new rows are read, by id
_SELECT_AFTER = "SELECT id, hash, vector, language FROM vectors WHERE +space_id = ? AND id > ? ORDER BY id LIMIT ?"
# the space is compared, too: the id of a deleted vector may be reused
_SELECT_BY_ID = """
SELECT id, hash, vector, language FROM vectors WHERE +space_id = ? AND id IN (SELECT value FROM json_each(?))
"""
# in hash order, which is random, and available from an index
_SELECT_ANY = "SELECT id, hash, vector, language FROM vectors WHERE space_id = ? ORDER BY hash LIMIT ?"
_SELECT_BY_HASH = """
SELECT hash, vector, dimensions FROM vectors v JOIN spaces s ON s.id = v.space_id
WHERE s.fingerprint = ? AND v.hash IN (SELECT unhex(value) FROM json_each(?))
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


class Pending(Struct, frozen=True):
    """Number of distinct texts and files without a vector in a space, with the newest texts first, then files."""

    count: int
    passages: Sequence[PendingPassage]


def _take_changes(db: apsw.Connection) -> tuple[int, int]:
    changes: tuple[int, int] = db.execute("SELECT first, gone FROM passage_changes").get
    db.execute(_TAKE_CHANGES)
    return changes


def put_vectors(db: apsw.Connection, space: int, vectors: Sequence[EmbeddedText], now: float) -> None:
    """Store vectors by the hash of their text."""
    db.executemany(_PUT_VECTOR, [(space, key, pack_vector(vector), language, now) for key, vector, language in vectors])


def vectors_of_ids(db: apsw.Connection, space: int, ids: NDArray[np.int64], dimensions: int) -> VectorBatch:
    """Return the existing vectors with these ids."""
    return _batch(list(db.execute(_SELECT_BY_ID, (space, json_array(ids.tolist())))), dimensions)


def _batch(rows: Sequence[tuple[Any, ...]], dimensions: int) -> VectorBatch:
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    hashes = np.frombuffer(b"".join(row[1] for row in rows), HASH)
    return VectorBatch(ids, hashes, unpack_vector([row[2] for row in rows], dimensions), [row[3] for row in rows])


NO_SPACE = 0
"""A space without rows: SQLite numbers rows from 1."""

UNKNOWN = 2**62
"""More passages than can exist."""

_FIND_SPACE = "SELECT id FROM spaces WHERE fingerprint = ?"
# it becomes the provider's latest space even if the clock was set back
_INSERT_SPACE = """
INSERT INTO spaces (fingerprint, provider, model, dimensions, created_at)
VALUES (?1, ?2, ?3, ?4, ifnull(max(?5, ifnull((SELECT max(created_at) + 0.001 FROM spaces WHERE provider = ?2), 0)), 0))
ON CONFLICT (fingerprint) DO UPDATE SET created_at = max(created_at, excluded.created_at) RETURNING id
"""
_SPACES_OF = """
SELECT id FROM spaces s WHERE provider IN (SELECT value FROM json_each(?)) AND (
    provider IN (SELECT value FROM json_each(?))
    OR created_at = (SELECT max(created_at) FROM spaces WHERE provider = s.provider))
"""
_UNUSED = """
FROM vectors v WHERE v.space_id NOT IN (SELECT value FROM json_each(:spaces))
  OR NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = v.hash)
"""
_COUNT_UNUSED = f"SELECT count(*) {_UNUSED}"
# unused rows are found in the index alone, because the vectors are many times as large
_DROP_UNUSED = """
DELETE FROM {table} WHERE (space_id, hash) IN (
    SELECT t.space_id, t.hash FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = t.hash))
"""
_EVICT = f"""
DELETE FROM vectors WHERE id IN (SELECT v.id {_UNUSED} ORDER BY v.used_at DESC, v.id DESC LIMIT -1 OFFSET :keep)
"""
_PENDING = """
FROM passages p {which} AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space_id = :space AND v.hash = p.hash)
  AND NOT EXISTS (SELECT 1 FROM rejected r WHERE r.space_id = :space AND r.hash = p.hash)
"""
# in hash order, like the index of the vectors; since an id there are few passages to check
_ALL = "WHERE true"
_SINCE = """
NOT INDEXED WHERE p.id >= :first AND NOT EXISTS (SELECT 1 FROM passages o WHERE o.hash = p.hash AND o.id < :first)
"""
# which rows to return is decided in the hash index alone: reading each passage takes several times as long
_SELECT_PENDING = f"""
SELECT p.hash, c.heading, iif(p.stop, substr(c.text, p.start + 1, p.stop - p.start), c.text),
       p.stop = 0, f.path, f.sha256, f.size
FROM (SELECT max(p.id) AS id {_PENDING} AND p.hash NOT IN (SELECT unhex(value) FROM json_each(:without))
      GROUP BY p.hash
      ORDER BY max(p.id) IN (SELECT id FROM passages WHERE id >= :first AND stop = 0), id DESC LIMIT :limit) w
JOIN passages p ON p.id = w.id JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
ORDER BY p.stop = 0, p.id DESC
"""
_COUNT_PENDING = f"SELECT count(DISTINCT p.hash) {_PENDING}"
_COUNT_EMBEDDED = """
SELECT count(*) FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.space_id = ? AND v.hash = p.hash)
"""
_SELECT_USED = """
SELECT DISTINCT hash FROM passages WHERE hash IN (SELECT unhex(value) FROM json_each(?))
"""
# temporary tables of one connection, whose changes a rollback undoes, too. At first all passages count as new, and any
# number as deleted
NOTE_CHANGES = f"""
CREATE TEMP TABLE passage_changes (first INTEGER NOT NULL, gone INTEGER NOT NULL);
INSERT INTO passage_changes VALUES (0, {UNKNOWN});
CREATE TEMP TRIGGER passage_came AFTER INSERT ON main.passages
BEGIN UPDATE passage_changes SET first = min(first, new.id); END;
CREATE TEMP TRIGGER passage_went AFTER DELETE ON main.passages BEGIN UPDATE passage_changes SET gone = gone + 1; END;
"""
_TAKE_CHANGES = f"UPDATE passage_changes SET first = {UNKNOWN}, gone = 0"
_REJECTED = """
SELECT f.path, c.start_line, c.end_line, p.stop = 0, r.reason FROM rejected r JOIN spaces s ON s.id = r.space_id
JOIN passages p ON p.hash = r.hash JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
WHERE s.fingerprint = ? ORDER BY f.path, c.start_line
"""
_PENDING_OF = """
FROM passages p JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
WHERE NOT EXISTS (SELECT 1 FROM vectors v JOIN spaces s ON s.id = v.space_id
                  WHERE s.fingerprint = :space AND v.hash = p.hash)
  AND NOT EXISTS (SELECT 1 FROM rejected r JOIN spaces s ON s.id = r.space_id
                  WHERE s.fingerprint = :space AND r.hash = p.hash)
"""
_COUNT_FILES = f"SELECT count(DISTINCT c.file_id) {_PENDING_OF}"
_SELECT_TEXTS = f"""
SELECT c.heading, iif(p.stop, substr(c.text, p.start + 1, p.stop - p.start), c.text), iif(p.stop, '', f.path), f.size
{_PENDING_OF} GROUP BY p.hash
"""


def drop_unused(db: apsw.Connection) -> None:
    """Delete all vectors and rejections of texts that no document contains any longer."""
    db.execute(_DROP_UNUSED.format(table="vectors"))
    db.execute(_DROP_UNUSED.format(table="rejected"))


class Vectors(IndexTable):
    """Vector spaces, their vectors by text hash, and passages without a vector."""

    @property
    def purge_mark(self) -> int | None:
        """The purge mark to pass to `put`; take it before the texts are read."""
        return self._purges.mark

    @writes
    def index_hashes(self, db: apsw.Connection) -> None:
        """Create the index of passages by hash, which all work on vectors needs."""
        index_hashes(db)

    @reads
    def find_space(self, db: apsw.Connection, fingerprint: str) -> int | None:
        """Return the vector space of this fingerprint, None if there is none."""
        row = db.execute(_FIND_SPACE, (fingerprint,)).fetchone()
        return None if row is None else int(row[0])

    @writes
    def open_space(
        self, db: apsw.Connection, *, fingerprint: str, provider: str, model: str, dimensions: int, now: float | None
    ) -> int:
        """Return the vector space of this fingerprint, created if it is new, and note that its provider uses it now.

        `now` is Unix time; None: the provider may never use it.
        """
        index_hashes(db)
        space: int = db.execute(_INSERT_SPACE, (fingerprint, provider, model, dimensions, now)).get
        return space

    @writes
    def drop_space(self, db: apsw.Connection, space: int) -> None:
        """Delete all vectors and rejections of the space; its texts become pending again."""
        db.execute("DELETE FROM vectors WHERE space_id = ?", (space,))
        db.execute("DELETE FROM rejected WHERE space_id = ?", (space,))

    @reads
    def spaces_of(self, db: apsw.Connection, providers: Collection[str], unknown: Collection[str] = ()) -> set[int]:
        """Return the space that each of these providers used last, whether or not it is available now.

        For providers in `unknown`, return all spaces that they ever used.
        """
        arguments = (json_array(providers), json_array(unknown))
        return {row[0] for row in db.execute(_SPACES_OF, arguments)}

    async def take_changes(self) -> tuple[int, int]:
        """Return the lowest id of the passages added since the last call, or since the file was opened, and a bound.

        If none was added, the id is above all ids. At most as many passages as the bound were deleted.
        """
        return await self._database.ask_writer(_take_changes)

    @reads
    def pending(
        self, db: apsw.Connection, space: int, limit: int, *, without: Collection[bytes] = (), first: int = 0
    ) -> Pending:
        """Return texts without a vector in the space, except texts that a passage with an id below `first` has.

        At most `limit` passages are returned, without the hashes in `without`. Costs a pass over the passages from
        `first` on.
        """
        bound = {"space": space, "limit": limit, "without": hex_array(without), "first": first}
        which = _SINCE if first else _ALL
        with in_snapshot(db):
            passages = [
                PendingPassage(row[0], row[1], row[2], PendingFile(row[4], row[5], row[6]) if row[3] else None)
                for row in db.execute(_SELECT_PENDING.format(which=which), bound)
            ]
            is_all = len(passages) < limit and not without
            count = len(passages) if is_all else db.execute(_COUNT_PENDING.format(which=which), bound).get
        return Pending(count, passages)

    @reads
    def count_pending(self, db: apsw.Connection, space: int) -> int:
        """Count the distinct texts and files without a vector in the space."""
        count: int = db.execute(_COUNT_PENDING.format(which=_ALL), {"space": space}).get
        return count

    @reads
    def count_embedded(self, db: apsw.Connection, fingerprint: str) -> int:
        """Count the passages with a vector of this fingerprint; equal passages share a vector, and each is counted."""
        space = db.execute(_FIND_SPACE, (fingerprint,)).get
        return 0 if space is None else int(db.execute(_COUNT_EMBEDDED, (space,)).get)

    @reads
    def pending_cost(self, db: apsw.Connection, fingerprint: str) -> OutstandingReply:
        """Count what has no vector of this fingerprint; everything for an unknown one. Reads every such text once."""
        files: int = db.execute(_COUNT_FILES, {"space": fingerprint}).get
        passages = tokens = media = media_bytes = 0
        for heading, text, path, size in db.execute(_SELECT_TEXTS, {"space": fingerprint}):
            passages += 1
            tokens += estimate(heading) + estimate(text)
            if modality := modality_of(path):
                media += 1
                media_bytes += size
                tokens += token_estimate(modality, size)
        return OutstandingReply(files=files, passages=passages, tokens=tokens, media=media, mediaBytes=media_bytes)

    @reads
    def rejected(self, db: apsw.Connection, fingerprint: str) -> list[RejectedPassage]:
        """Return the passages for which the model of a fingerprint gives no vector."""
        rows = db.execute(_REJECTED, (fingerprint,))
        return [RejectedPassage(path, first, last, bool(is_file), why) for path, first, last, is_file, why in rows]

    @writes
    def put(
        self,
        db: apsw.Connection,
        space: int,
        vectors: Sequence[EmbeddedText],
        rejected: Sequence[tuple[bytes, str]],
        now: float,
        *,
        purge_mark: int | None = None,
    ) -> None:
        """Store vectors, and reasons for missing ones, by the hash of their text.

        After a purge since `purge_mark`, or without a mark, only texts that a passage still has are stored: of a text
        purged while it was embedded, not even a vector may stay. A text that was merely edited may come back, and its
        vector was paid for.
        """
        # in the storing transaction, so that no purge comes in between
        hashes = [*(key for key, *_ in vectors), *(key for key, _ in rejected)]
        used = {row[0] for row in db.execute(_SELECT_USED, (hex_array(hashes),))}
        stores_all = self._purges.has_none_since(purge_mark)
        put_vectors(db, space, [vector for vector in vectors if stores_all or vector[0] in used], now)
        db.executemany(
            "INSERT INTO rejected (space_id, hash, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(space, key, reason) for key, reason in rejected if key in used],
        )

    @reads
    def of(self, db: apsw.Connection, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the stored vectors of these text hashes."""
        rows = db.execute(_SELECT_BY_HASH, (fingerprint, hex_array(hashes)))
        return {key: unpack_vector([vector], dimensions)[0] for key, vector, dimensions in rows}

    async def load(
        self, space: int, last_id: int, dimensions: int, limit: int, take: Callable[[VectorBatch], Returned]
    ) -> Returned:
        """Call `take` with the first `limit` vectors after the id `last_id`, and return its result.

        It runs on the worker thread, since it may copy much; a cancelled caller waits until it has finished.
        """
        return await self._database.read(
            lambda db: take(_batch(list(db.execute(_SELECT_AFTER, (space, last_id, limit))), dimensions))
        )

    @reads
    def count(self, db: apsw.Connection, space: int) -> int:
        """Return the number of vectors of a space."""
        count: int = db.execute("SELECT count(*) FROM vectors WHERE space_id = ?", (space,)).get
        return count

    @reads
    def sample(self, db: apsw.Connection, space: int, dimensions: int, limit: int) -> VectorBatch:
        """Return at most `limit` vectors, of any documents."""
        return _batch(list(db.execute(_SELECT_ANY, (space, limit))), dimensions)

    async def ids_within(self, space: int, admitted: CandidateFilter) -> NDArray[np.int64] | None:
        """Return the ids, ascending, of the vectors to compare with, None for all.

        This is only a coarse filter: few chunks contain a required phrase, so their vectors are looked up; but most
        chunks lack a forbidden one.
        """
        return None if admitted.is_wide else await self._ids_within(space, admitted)

    @reads
    def _ids_within(self, db: apsw.Connection, space: int, admitted: CandidateFilter) -> NDArray[np.int64]:
        values: tuple[str | int, ...]
        if admitted.chunks is not None:
            statement = _IDS_OF_CHUNKS.format(chunks="json_each(?)", chunk="value")
            values = json_array(admitted.chunks), space
        elif admitted.only_memories:
            statement, values = _IDS_OF_CHUNKS.format(chunks="memory_chunks", chunk="chunk_id"), (space,)
        elif admitted.required:
            required = with_stems(all_phrases(admitted.required))
            statement, values = _IDS_OF_PHRASES, (space, required)
        else:
            statement, values = _IDS_OF_FILES, (space, json_array(admitted.files or ()))
        return np.fromiter((row[0] for row in db.execute(statement, values)), np.int64)

    @reads
    def count_unused(self, db: apsw.Connection, spaces: Collection[int]) -> int:
        """Count the vectors that no passage uses in these spaces."""
        count: int = db.execute(_COUNT_UNUSED, {"spaces": json_array(spaces)}).get
        return count

    @writes
    def evict_unused(self, db: apsw.Connection, spaces: Collection[int], keep: int) -> int:
        """Delete unused vectors of these spaces except the `keep` last used ones; return how many were deleted."""
        db.execute(_EVICT, {"spaces": json_array(spaces), "keep": keep})
        return db.changes()
