"""Passages without a vector in a space: which they are, what giving them one would send away, which were refused."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import apsw

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of, token_estimate
from memoryd.domain.text.tokens import estimate


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
class RejectedPassage:
    """A passage that gets no vector: the lines of its chunk, or a whole picture or sound, and why."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str


@dataclass(frozen=True, slots=True)
class PendingCost:
    """Files and distinct passages without a vector, and their tokens (estimated).

    `media` of the passages are pictures and sounds, of `media_bytes` together.
    """

    files: int
    passages: int
    tokens: int
    media: int = 0
    media_bytes: int = 0


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
_SELECT_USED = """
SELECT DISTINCT hash FROM passages WHERE hash IN (SELECT unhex(value) FROM json_each(?))
"""
_PUT_REJECTED = "INSERT INTO rejected (space_id, hash, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
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


def rejected(db: apsw.Connection, fingerprint: str) -> list[RejectedPassage]:
    """Return the passages that the model of a fingerprint gives no vector for."""
    return [
        RejectedPassage(row[0], row[1], row[2], bool(row[3]), row[4]) for row in db.execute(_REJECTED, (fingerprint,))
    ]


def used(db: apsw.Connection, hashes: Collection[bytes]) -> set[bytes]:
    """Return those of the hashes that name a passage of the index now."""
    asked = json.dumps([key.hex() for key in hashes])
    return {row[0] for row in db.execute(_SELECT_USED, (asked,))}


def put_rejected(db: apsw.Connection, space: int, rejected: Sequence[tuple[bytes, str]]) -> None:
    """Set texts aside for which the model gives no vector."""
    db.executemany(_PUT_REJECTED, [(space, key, reason) for key, reason in rejected])


def pending_cost(db: apsw.Connection, fingerprint: str) -> PendingCost:
    """Count what has no vector of this fingerprint; of an unknown one, everything. Reads every such text once."""
    files: int = db.execute(_COUNT_FILES, {"space": fingerprint}).get
    passages = tokens = media = media_bytes = 0
    for heading, text, path, size in db.execute(_SELECT_TEXTS, {"space": fingerprint}):
        passages += 1
        tokens += estimate(heading) + estimate(text)
        if modality := modality_of(path):
            media += 1
            media_bytes += size
            tokens += token_estimate(modality, size)
    return PendingCost(files, passages, tokens, media, media_bytes)
