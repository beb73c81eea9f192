"""Vectors by content: one row for each (vector space, text hash), whichever files and chunks hold that text.

Plain float32 rows: sqlite-vec's distance functions read them in SQL, and NumPy reads the same bytes
where the extension is missing.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from memoryd.domain.documents import RelativePath

Matrix = NDArray[np.float32]
Hashes = NDArray[np.void]
HASH = np.dtype("V16")
"""The hash that names a text, as `domain.entries` makes it."""
NO_SPACE = 0
"""A space that holds nothing: SQLite counts rows from 1."""


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A picture or sound as the index has it: where it lies, and the SHA-256 and number of its bytes."""

    path: RelativePath
    sha256: bytes
    size: int


@dataclass(frozen=True, slots=True)
class PendingPassage:
    """A text without a vector in a space, named by its hash; or a whole `file`, of which the text says the name."""

    hash: bytes
    title: str
    text: str
    file: PendingFile | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A passage that gets no vector: the lines of its chunk, or a whole picture or sound, and why."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Rows in the order of their ids: ids and hashes of shape (n,), vectors of shape (n, dimensions)."""

    ids: NDArray[np.int64]
    hashes: Hashes
    vectors: Matrix


_INSERT_SPACE = """
INSERT INTO spaces (fingerprint, provider, model, dimensions, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET created_at = excluded.created_at RETURNING id
"""
_PENDING = """
FROM passages p
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space_id = :space AND v.hash = p.hash)
  AND NOT EXISTS (SELECT 1 FROM rejected r WHERE r.space_id = :space AND r.hash = p.hash)
"""
_SELECT_PENDING = f"""
SELECT w.hash, c.heading, iif(w.stop, substr(c.text, w.start + 1, w.stop - w.start), c.text),
       w.stop = 0, f.path, f.sha256, f.size
FROM (SELECT p.hash, max(p.id) AS id, p.chunk_id, p.start, p.stop {_PENDING}
        AND p.hash NOT IN (SELECT unhex(value) FROM json_each(:without))
      GROUP BY p.hash ORDER BY p.stop = 0, id DESC LIMIT :limit) w
JOIN chunks c ON c.id = w.chunk_id JOIN files f ON f.id = c.file_id
ORDER BY w.stop = 0, w.id DESC
"""
_COUNT_PENDING = f"SELECT count(DISTINCT p.hash) {_PENDING}"
_PUT_VECTOR = """
INSERT INTO vectors (space_id, hash, vector, used_at) VALUES (?, ?, ?, ?) ON CONFLICT (space_id, hash) DO NOTHING
"""
_SELECT_USED = """
SELECT DISTINCT hash FROM passages WHERE hash IN (SELECT unhex(value) FROM json_each(?))
"""
_PUT_REJECTED = "INSERT INTO rejected (space_id, hash, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
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
_REJECTED = """
SELECT f.path, c.start_line, c.end_line, p.stop = 0, r.reason FROM rejected r JOIN spaces s ON s.id = r.space_id
JOIN passages p ON p.hash = r.hash JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
WHERE s.fingerprint = ? ORDER BY f.path, c.start_line
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


def pending(db: apsw.Connection, space: int, limit: int, *, without: Collection[bytes] = ()) -> list[PendingPassage]:
    """Return up to `limit` texts that have no vector in the space yet, the newest first, then files.

    Hashes in `without` are left out.
    """
    held = json.dumps([key.hex() for key in without])
    rows = db.execute(_SELECT_PENDING, {"space": space, "limit": limit, "without": held})
    return [
        PendingPassage(row[0], row[1], row[2], PendingFile(row[4], row[5], row[6]) if row[3] else None) for row in rows
    ]


def count_pending(db: apsw.Connection, space: int) -> int:
    """Count the distinct texts and files without a vector in the space."""
    count: int = db.execute(_COUNT_PENDING, {"space": space}).get
    return count


def rejected(db: apsw.Connection, fingerprint: str) -> list[Rejected]:
    """Return the passages that the model of a fingerprint gives no vector for."""
    return [Rejected(row[0], row[1], row[2], bool(row[3]), row[4]) for row in db.execute(_REJECTED, (fingerprint,))]


def put_vectors(db: apsw.Connection, space: int, vectors: Sequence[tuple[bytes, Matrix]], now: float) -> None:
    """Store vectors by the hash of their text."""
    db.executemany(_PUT_VECTOR, [(space, key, vector.tobytes(), now) for key, vector in vectors])


def used(db: apsw.Connection, hashes: Collection[bytes]) -> set[bytes]:
    """Return those of the hashes that name a passage of the index now."""
    asked = json.dumps([key.hex() for key in hashes])
    return {row[0] for row in db.execute(_SELECT_USED, (asked,))}


def put_rejected(db: apsw.Connection, space: int, rejected: Sequence[tuple[bytes, str]]) -> None:
    """Set texts aside for which the model gives no vector."""
    db.executemany(_PUT_REJECTED, [(space, key, reason) for key, reason in rejected])


def drop_space(db: apsw.Connection, space: int) -> None:
    """Forget every vector and every rejection of the space; the texts become pending again."""
    db.execute("DELETE FROM vectors WHERE space_id = ?", (space,))
    db.execute("DELETE FROM rejected WHERE space_id = ?", (space,))


def vectors_after(db: apsw.Connection, space: int, last_id: int, dimensions: int, limit: int) -> VectorBatch:
    """Return the first `limit` vectors that were added after `last_id`."""
    rows = list(db.execute(_SELECT_AFTER, (space, last_id, limit)))
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    hashes = np.frombuffer(b"".join(row[1] for row in rows), HASH)
    flat = np.frombuffer(b"".join(row[2] for row in rows), np.float32)
    return VectorBatch(ids, hashes, flat.reshape(len(rows), dimensions))


def vectors_of(db: apsw.Connection, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Matrix]:
    """Return the vectors that this file already holds for the given text hashes."""
    asked = json.dumps([key.hex() for key in hashes])
    return {row[0]: np.frombuffer(row[1], np.float32) for row in db.execute(_SELECT_BY_HASH, (fingerprint, asked))}


def nearest(
    db: apsw.Connection, space: int, query: Matrix, limit: int, allowed: Sequence[int] | None = None
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
