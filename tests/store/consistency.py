"""Check an index file for consistency, whatever happened to the daemon that wrote it."""

import math
from pathlib import Path

import apsw
import numpy as np

from memoryd.domain.documents import FileStat, Source
from memoryd.domain.media import modality_of
from memoryd.domain.memories.entity_edits import is_entity_page
from memoryd.domain.memories.entries import ChunkEntry, PassageEntry, content_hash
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import PAGES, holds_memories
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.vector import unpack_vector
from memoryd.store.index.documents import FileContent, FileRow, put_files
from memoryd.store.index.schema import prepare_index

Dump = list[tuple[object, ...]]

_DUMP = """
SELECT f.path, hex(f.sha256), f.lines, c.ordinal, c.start_line, c.end_line, c.heading, c.text, hex(c.hash),
       (SELECT memory FROM memory_chunks m WHERE m.chunk_id = c.id),
       (SELECT e.name || e.aliases FROM entity_pages e WHERE e.file_id = f.id),
       (SELECT group_concat(p.start || '-' || p.stop || ' ' || hex(p.hash), ';' ORDER BY p.start)
        FROM passages p WHERE p.chunk_id = c.id)
FROM files f LEFT JOIN chunks c ON c.file_id = f.id ORDER BY f.path, c.ordinal
"""
_EMBEDDED = """
SELECT DISTINCT hex(p.hash), s.fingerprint FROM passages p
JOIN vectors v ON v.hash = p.hash JOIN spaces s ON s.id = v.space_id ORDER BY 1, 2
"""
_WORDS = """
SELECT f.path, c.ordinal, v.col, v.offset, v.term FROM temp.vocabulary v
LEFT JOIN chunks c ON c.id = v.doc LEFT JOIN files f ON f.id = c.file_id ORDER BY 1, 2, 3, 4, 5
"""


def open_index(path: Path) -> apsw.Connection:
    """Open an index as any other program would; the daemon may be running."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(5000)
    return connection


def dump(db: apsw.Connection, *, is_embedded: bool = False) -> Dump:
    """Return the rows that a rebuild of the same notes must reproduce; with `is_embedded`, the vectors in use too."""
    rows: Dump = list(db.execute(_DUMP))
    return rows + list(db.execute(_EMBEDDED)) if is_embedded else rows


def check_consistency(db: apsw.Connection) -> None:
    """Fail unless files, chunks, passages, words and vectors agree with each other."""
    assert db.execute("PRAGMA integrity_check").get == "ok"
    assert not list(db.execute("PRAGMA foreign_key_check"))
    db.execute("INSERT INTO chunk_words(chunk_words) VALUES ('integrity-check')")
    _check_chunks(db)
    _check_passages(db)
    _check_memories(db)
    _check_vectors(db)
    _check_words(db)


def _check_chunks(db: apsw.Connection) -> None:
    for file_id, path, lines in list(db.execute("SELECT id, path, lines FROM files")):
        sql = "SELECT ordinal, start_line, end_line FROM chunks WHERE file_id = ? ORDER BY ordinal"
        rows = list(db.execute(sql, (file_id,)))
        assert [row[0] for row in rows] == list(range(len(rows))), path
        assert all(1 <= first <= last <= max(1, lines) for _, first, last in rows), path


def _check_passages(db: apsw.Connection) -> None:
    sql = "SELECT c.heading, c.text, p.start, p.stop, p.hash FROM passages p JOIN chunks c ON c.id = p.chunk_id"
    for heading, text, start, stop, key in db.execute(sql):
        if (start, stop) == (0, 0):
            assert modality_of(text), "only a picture or sound has a passage without text"
            continue
        assert 0 <= start < stop <= len(text)
        assert key == content_hash(heading, text[start:stop])
    orphans = "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.chunk_id = c.id)"
    assert db.execute(orphans).get == 0, "a chunk that can never be found by vector"


def _check_memories(db: apsw.Connection) -> None:
    for path, memories in db.execute("SELECT path, memories FROM files"):
        sql = """
        SELECT c.text, m.memory FROM files f JOIN chunks c ON c.file_id = f.id JOIN memory_chunks m ON m.chunk_id = c.id
        WHERE f.path = ?
        """
        stated = list(db.execute(sql, (path,)))
        assert len(stated) == memories, path
        assert not stated or holds_memories(path)
        for text, memory in stated:
            line = parse_line(text, default_kind=PAGES.get(path))
            assert isinstance(line, RetainedLine)
            assert line.id == memory
    pages = "SELECT f.path FROM entity_pages e JOIN files f ON f.id = e.file_id"
    assert all(is_entity_page(path) for (path,) in db.execute(pages))


def _check_vectors(db: apsw.Connection) -> None:
    for dimensions, blob in db.execute(
        "SELECT s.dimensions, v.vector FROM vectors v JOIN spaces s ON s.id = v.space_id"
    ):
        (vector,) = unpack_vector([blob], dimensions)
        assert math.isclose(float(np.linalg.norm(vector)), 1, abs_tol=1e-3)


def _check_words(db: apsw.Connection) -> None:
    """Compare the word index with one built anew from the same rows."""
    fresh = apsw.Connection("")
    prepare_index(fresh)
    for file_id, *values in list(db.execute("SELECT id, path, sha256, lines, chunker FROM files")):
        put_files(fresh, [FileContent(_row(*values), _entries(db, file_id))])
    assert _words(db) == _words(fresh)


def _words(db: apsw.Connection) -> Dump:
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, chunk_words, instance)")
    return list(db.execute(_WORDS))


def _row(path: str, sha256: bytes, lines: int, chunker: str) -> FileRow:
    return FileRow(path, Source.MEMORY, IndexedFile(FileStat(0, 0, 0, 0, 0), 0, sha256), lines, chunker)  # type: ignore[arg-type]  # as read from the file


def _entries(db: apsw.Connection, file_id: int) -> list[ChunkEntry]:
    sql = "SELECT id, start_line, end_line, heading, text, hash FROM chunks WHERE file_id = ? ORDER BY ordinal"
    passages = "SELECT start, stop, hash FROM passages WHERE chunk_id = ? ORDER BY id"
    return [
        ChunkEntry(
            start_line,
            end_line,
            heading,
            text,
            key,
            tuple(PassageEntry(*row) for row in db.execute(passages, (chunk,))),
        )
        for chunk, start_line, end_line, heading, text, key in list(db.execute(sql, (file_id,)))
    ]
