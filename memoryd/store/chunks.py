"""Reading chunks back, and counting what the index holds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw

from memoryd.domain.citations import told_path
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import Known
from memoryd.store.file_stats import file_stat_of


@dataclass(frozen=True, slots=True)
class ChunkRow:
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


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the index holds."""

    files: int
    chunks: int
    passages: int
    vectors: int
    bytes: int


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
