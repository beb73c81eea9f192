"""Chunks and counts of an index, and its pending passages, which have no vector in a space yet or were refused."""

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.citations import told_path
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.media import modality_of, token_estimate
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import Known
from memoryd.domain.text.tokens import estimate
from memoryd.store.database_file import file_stat_of


class ChunkRow(Struct, frozen=True):
    """A chunk with the document it is cut from."""

    id: int
    path: RelativePath
    """As it is told: that of the conversation where it is of a part of one."""
    source: Source
    start_line: int
    end_line: int
    heading: str
    text: str
    mtime_ns: int = 0
    """When its document was changed."""
    known: Known | None = None
    """What its document was when this was read of it; None: nobody kept that."""
    chunker: str | None = None
    """By which rules that was cut, and found to be public; None: by those of today."""


class PassageRow(NamedTuple):
    """A passage of a chunk: a span of its text in characters, `stop` excluded, and the hash of what stands there."""

    chunk: int
    hash: bytes
    start: int
    stop: int


class Counts(Struct, frozen=True):
    """How much the index holds."""

    files: int = 0
    chunks: int = 0
    passages: int = 0
    vectors: int = 0
    bytes: int = 0


_SELECT_CHUNKS = """
SELECT c.id, f.path, f.source, c.start_line, c.end_line, c.heading, c.text,
       f.device, f.inode, f.size, f.mtime_ns, f.ctime_ns, f.read_at_ns, f.sha256, f.chunker
FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))
"""
_SELECT_PATHS = """
SELECT c.id, f.path FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))
"""
_SELECT_PASSAGES = """
SELECT chunk_id, hash, start, stop FROM passages WHERE hash IN (SELECT unhex(value) FROM json_each(?))
"""
_COUNTS = """
SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks), (SELECT count(*) FROM passages),
       (SELECT count(*) FROM vectors), (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
"""


def chunk_rows(db: apsw.Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
    """Return the chunks of these ids that still exist, each with its document as it was read, in one look."""
    rows = db.execute(_SELECT_CHUNKS, (json.dumps(list(ids)),))
    return {row[0]: _chunk_row(row[:7], row[7:]) for row in rows}


def _chunk_row(chunk: Sequence[Any], file: Sequence[Any]) -> ChunkRow:
    number, path, source, start, end, heading, text = chunk
    *stat, read_at_ns, sha256, chunker = file
    known = Known(file_stat_of(*stat), read_at_ns, sha256)
    mtime_ns = known.stat.mtime_ns
    return ChunkRow(number, told_path(path), Source(source), start, end, heading, text, mtime_ns, known, chunker)


def chunk_paths(db: apsw.Connection, ids: Sequence[int]) -> dict[int, RelativePath]:
    """Return the documents of the chunks of these ids that still exist, as they are told."""
    return {chunk: told_path(path) for chunk, path in db.execute(_SELECT_PATHS, (json.dumps(list(ids)),))}


def passages_of_hashes(db: apsw.Connection, hashes: Sequence[bytes]) -> list[PassageRow]:
    """Return every passage that has one of the hashes."""
    asked = json.dumps([key.hex() for key in hashes])
    return [PassageRow._make(row) for row in db.execute(_SELECT_PASSAGES, (asked,))]


def matching_files(db: apsw.Connection, filters: Filters) -> list[int]:
    """Return the ids of the files that may answer."""
    rows = db.execute("SELECT id, path, source, mtime_ns FROM files")
    return [row[0] for row in rows if filters.admits(told_path(row[1]), row[2], row[3])]


def counts(db: apsw.Connection) -> Counts:
    """Count files, chunks, passages, vectors and the bytes of the database file."""
    files, chunks, passages, vectors, size = db.execute(_COUNTS).get
    return Counts(files, chunks, passages, vectors, size)


class PendingFile(Struct, frozen=True):
    """A picture or sound as the index has it: where it lies, and the SHA-256 and number of its bytes."""

    path: RelativePath
    sha256: bytes
    size: int


class PendingPassage(Struct, frozen=True):
    """A text without a vector in a space, named by its hash; or a whole `file`, of which the text says the name."""

    hash: bytes
    title: str
    text: str
    file: PendingFile | None = None


class RejectedPassage(Struct, frozen=True):
    """A passage that gets no vector: the lines of its chunk, or a whole picture or sound, and why."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str


class PendingCost(Struct, frozen=True):
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
