"""An index file and its tables: recognise, create, upgrade, check, set aside."""

import glob
import os
import re
import shutil
import tempfile
import time
from contextlib import closing, suppress
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from memoryd.domain.documents import person_of
from memoryd.domain.memories.entries import chunk_hash
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import as_shared
from memoryd.domain.text.languages import language_of
from memoryd.domain.vector import pack_vector
from memoryd.errors import DamagedDatabase
from memoryd.store.connection import broken_parts, in_snapshot
from memoryd.store.index.stems import rewrite_words
from memoryd.store.opening import read_header, version_of

NEEDED_BYTES = 256 * 1024
"""Free space that must exist beside the file before it is opened for writing."""


class FileKind(StrEnum):
    """What is at the path of an index."""

    ABSENT = "absent"
    OURS = "ours"
    EARLIER = "earlier version"
    """Of a version that is upgraded when it is opened for writing."""
    OTHER_VERSION = "other version"
    FOREIGN = "foreign"
    DAMAGED = "damaged"


def recognise(path: Path) -> FileKind:
    """Return the kind of a file from its header only. Call it only while no connection to the file is open.

    A file that is no SQLite database counts as DAMAGED; the caller decides whether it may be set aside.
    """
    try:
        header = read_header(path)
    except FileNotFoundError:
        return FileKind.ABSENT
    except (OSError, ValueError):
        return FileKind.DAMAGED
    if header is None:
        return FileKind.ABSENT
    if header.application != APPLICATION_ID:
        return FileKind.FOREIGN
    if header.version == INDEX_VERSION:
        return FileKind.OURS
    return FileKind.EARLIER if header.version in (FLOAT_VERSION, ENGLISH_VERSION) else FileKind.OTHER_VERSION


def is_writable(path: Path) -> bool:
    """Test what opening for writing needs: write access to the file, and space beside it."""
    try:
        with tempfile.TemporaryFile(dir=path.parent) as trial:
            trial.write(bytes(NEEDED_BYTES))
    except OSError:
        return False
    return os.access(path, os.W_OK)


def delete_set_aside(path: Path) -> None:
    """Delete the files that `set_aside` moved; raises OSError."""
    for old in path.parent.glob(f"{glob.escape(path.name)}.corrupt-*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Delete an index of memoryd that is no longer used, with its log and files set aside; raises OSError."""
    if recognise(path) in (FileKind.OURS, FileKind.EARLIER, FileKind.OTHER_VERSION):
        delete_set_aside(path)
        # the file first: SQLite ignores a log without its file
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def set_aside(path: Path) -> None:
    """Rename a file, with its log, to `NAME.corrupt-…`, until a new index is complete.

    Raises OSError.
    """
    # one at most, because each may contain text that has become private
    delete_set_aside(path)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # The file before its log: after a kill in between, SQLite deletes a log without a file; but it would accept a file
    # without its log as an index, in an older state that lacks the last removals.
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(path.with_name(f"{path.name}.corrupt-{stamp}{suffix}"))


APPLICATION_ID = 0x6D656D64
"""`memd`, the application id of every index."""
INDEX_VERSION = 8
ENGLISH_VERSION = 7
"""The previous version: all words are stemmed as English, and vectors have no language."""
FLOAT_VERSION = 6
"""The version before that, which also has float32 vectors."""

_TABLES = "SELECT type, name, iif(name GLOB 'chunk_words_*', NULL, sql) FROM sqlite_schema"
"""Tables that SQLite creates for the word index are compared by name only: another release may use different SQL."""
_BY_HASH = "CREATE INDEX {}passages_by_hash ON passages (hash, chunk_id)"
_MADE_LATER = {("index", "passages_by_hash", _BY_HASH.format(""))}
_ORPHANS = {
    "chunks without words": "SELECT count(*) FROM (SELECT id FROM chunks EXCEPT SELECT id FROM chunk_words_docsize)",
    "words without a chunk": "SELECT count(*) FROM (SELECT id FROM chunk_words_docsize EXCEPT SELECT id FROM chunks)",
    "files without chunks": (
        "SELECT count(*) FROM files f WHERE chunks <> (SELECT count(*) FROM chunks c WHERE c.file_id = f.id)"
    ),
    "files without memories": (
        "SELECT count(*) FROM files f WHERE memories <> "
        "(SELECT count(*) FROM memory_chunks m JOIN chunks c ON c.id = m.chunk_id WHERE c.file_id = f.id)"
    ),
    "memories without a chunk": (
        "SELECT count(*) FROM (SELECT chunk_id FROM memory_chunks EXCEPT SELECT id FROM chunks)"
    ),
    "scopes without a chunk": (
        "SELECT count(*) FROM (SELECT chunk_id FROM scoped_chunks EXCEPT SELECT id FROM chunks)"
    ),
    "pages of entities without a file": (
        "SELECT count(*) FROM (SELECT file_id FROM entity_pages EXCEPT SELECT id FROM files)"
    ),
    "vectors of a wrong length": (
        "SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space_id "
        "WHERE length(v.vector) <> 4 + s.dimensions + (s.dimensions + 1) / 2"
    ),
}
_CHUNKS = """
SELECT c.heading, c.text, c.hash, (
    SELECT group_concat(p.start || '-' || p.stop, ' ' ORDER BY p.id) FROM passages p WHERE p.chunk_id = c.id)
FROM chunks c
"""

_TABLES_SQL, _WORDS_SQL = (
    (files("memoryd.store") / "schema" / name).read_text() for name in ("index.sql", "words.sql")
)
"""Read at import: a program that was upgraded since may have other tables."""
_TABLE_OF_VECTORS = re.compile(r"CREATE TABLE vectors \(.*?\) STRICT", re.DOTALL)
_REWRITE_VECTORS = """
INSERT INTO vectors SELECT v.id, v.space_id, v.hash, {vector}, ifnull((
    SELECT iif(p.stop, language_of(substr(c.text, p.start + 1, p.stop - p.start)), '')
    FROM passages p JOIN chunks c ON c.id = p.chunk_id WHERE p.hash = v.hash LIMIT 1
), ''), v.used_at
FROM earlier_vectors v JOIN spaces s ON s.id = v.space_id WHERE length(v.vector) = {length}
"""
_FLOATS = {"vector": "packed(v.vector)", "length": "4 * s.dimensions"}
_PACKED = {"vector": "v.vector", "length": "4 + s.dimensions + (s.dimensions + 1) / 2"}
# in this connection, the only writer: a query that has a chunk id must not read another chunk by it
_NOTE_LAST_CHUNK = """
CREATE TEMP TABLE last_chunk (id INTEGER NOT NULL);
INSERT INTO last_chunk VALUES (0);
CREATE TEMP TRIGGER chunk_went AFTER DELETE ON main.chunks BEGIN UPDATE last_chunk SET id = max(id, old.id); END;
"""
_MEMORIES = """
SELECT c.text, f.path, m.memory FROM memory_chunks m JOIN chunks c ON c.id = m.chunk_id JOIN files f ON f.id = c.file_id
"""


def prepare_index(connection: apsw.Connection) -> None:
    """Create the tables in a new file; raises DamagedDatabase if existing tables are not those of this version."""
    if connection.pragma("application_id") == APPLICATION_ID:
        _upgrade(connection, version_of(connection.pragma("user_version")))
        check_tables(connection)
    else:
        with connection:
            connection.execute(_TABLES_SQL + _WORDS_SQL)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", INDEX_VERSION)
    connection.execute(_NOTE_LAST_CHUNK)


def _upgrade(connection: apsw.Connection, version: int) -> None:
    """Upgrade an index of an earlier version: recomputing its vectors would take hours, or money."""
    if version not in (FLOAT_VERSION, ENGLISH_VERSION):
        return
    with connection:
        _rewrite_vectors(connection, _FLOATS if version == FLOAT_VERSION else _PACKED)
        connection.execute("DROP TABLE chunk_words")
        connection.execute(_WORDS_SQL)
        rewrite_words(connection)
        connection.pragma("user_version", connection.pragma("user_version") + INDEX_VERSION - version)
    # release the space that was saved; without room for that, the pages are reused later
    with suppress(apsw.Error):
        connection.execute("VACUUM")


def _rewrite_vectors(connection: apsw.Connection, columns: dict[str, str]) -> None:
    """Rewrite the vectors in packed form, with the languages of their texts."""
    table = _TABLE_OF_VECTORS.search(_TABLES_SQL)
    assert table is not None

    def pack(*values: Any) -> Any:
        return pack_vector(np.frombuffer(values[0], np.float32))

    def language(*values: Any) -> Any:
        return language_of(values[0])

    connection.create_scalar_function("packed", pack, 1)
    connection.create_scalar_function("language_of", language, 1)
    connection.execute("ALTER TABLE vectors RENAME TO earlier_vectors")
    connection.execute(table[0])
    connection.execute(_REWRITE_VECTORS.format(**columns))
    connection.execute("DROP TABLE earlier_vectors")


def check_tables(connection: apsw.Connection) -> None:
    """Compare tables and indexes with the expected ones: one may be missing although all pages are sound."""
    if version_of(connection.pragma("user_version")) != INDEX_VERSION:
        raise DamagedDatabase("the index is of another version")
    objects = frozenset(connection.execute(_TABLES))
    if differing := (objects ^ _expected_tables()) - _MADE_LATER:
        names = ", ".join(sorted({row[1] for row in differing}))
        raise DamagedDatabase(f"the index lacks its tables, or has others: {names}")


def index_hashes(connection: apsw.Connection) -> None:
    """Create the index of passages by hash if it is missing; only vectors need it.

    Hashes are random, so each one added to a large index writes a page of its own: with a million chunks, that takes
    most of the time of writing them, and 20 times the disk space.
    """
    connection.execute(_BY_HASH.format("IF NOT EXISTS "))


@cache
def _expected_tables() -> frozenset[tuple[str, str, str | None]]:
    with closing(apsw.Connection("")) as connection:
        prepare_index(connection)
        return frozenset(connection.execute(_TABLES))


def problems(connection: apsw.Connection, *, is_whole: bool = False) -> list[str]:
    """Return the problems in the file: broken pages, or rows without their counterpart.

    `is_whole` also looks up every index entry in its table, which takes several times as long.
    """
    # one snapshot for all checks: commits in between would look like missing rows
    with in_snapshot(connection):
        # FTS5 caches its structure from earlier queries, and quick_check would compare it with newer pages; opening a
        # cursor reloads it
        connection.execute("SELECT rowid FROM chunk_words LIMIT 1").fetchall()
        return _problems(connection, "integrity_check(5)" if is_whole else "quick_check(5)")


def _problems(connection: apsw.Connection, check: str) -> list[str]:
    if pages := broken_parts(connection, check):
        return pages
    counts = {name: connection.execute(sql).get for name, sql in _ORPHANS.items()}
    rows = connection.execute(_CHUNKS)
    counts["chunks that differ from their hash"] = sum(
        chunk_hash(heading, text, spans or "") != expected for heading, text, expected, spans in rows
    )
    counts["memories that their lines do not state"] = sum(
        not _states(text, path, memory) for text, path, memory in connection.execute(_MEMORIES)
    )
    return [f"{count} {name}" for name, count in counts.items() if count]


def _states(text: str, path: str, memory: str) -> bool:
    # the default kind of a page's lines is not part of their ids, but the person who shares them is
    line = parse_line(text, default_kind=Kind.WORLD)
    if not isinstance(line, RetainedLine):
        return False
    return (as_shared(line) if person_of(path) else line).id == memory


def drop_deleted_words(connection: apsw.Connection) -> None:
    """Rewrite the word index without the words of deleted rows, which are only marked as deleted before.

    Takes half a second for 10 MB of notes.
    """
    connection.execute("INSERT INTO chunk_words(chunk_words) VALUES ('optimize')")


def check_words(connection: apsw.Connection) -> None:
    """Run the integrity check of FTS5; raises apsw.CorruptError if it is broken."""
    connection.execute("INSERT INTO chunk_words(chunk_words) VALUES ('integrity-check')")
