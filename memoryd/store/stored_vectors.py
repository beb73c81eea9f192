"""Vectors by content: one row for each (vector space, text hash), whichever files and chunks hold that text.

Plain float32 rows: sqlite-vec's distance functions read them in SQL, and NumPy reads the same bytes
where the extension is missing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from memoryd.domain.embedding import Vector
from memoryd.domain.text.words import Phrase
from memoryd.store.word_expressions import every_phrase

Matrix = NDArray[np.float32]
"""Vectors of one space, shape (n, dimensions)."""
Hashes = NDArray[np.void]
HASH = np.dtype("V16")
"""The hash that names a text, as `domain.entries` makes it."""


@dataclass(frozen=True, slots=True)
class VectorBatch:
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
