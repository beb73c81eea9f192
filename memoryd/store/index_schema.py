"""An index file: recognise it without touching it, make its tables, check its parts against each other."""

import os
import stat
import struct
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

import apsw

from memoryd.domain.entries import chunk_hash

APPLICATION_ID = 0x6D656D64
"""`memd`, in the SQLite header of every database of ours."""
INDEX_VERSION = 3

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_USER_VERSION_AT, _APPLICATION_ID_AT = 60, 68
_ORPHANS = {
    "chunks without words": "SELECT count(*) FROM (SELECT id FROM chunks EXCEPT SELECT id FROM chunk_words_docsize)",
    "words without a chunk": "SELECT count(*) FROM (SELECT id FROM chunk_words_docsize EXCEPT SELECT id FROM chunks)",
    "files without chunks": (
        "SELECT count(*) FROM files f WHERE chunks <> (SELECT count(*) FROM chunks c WHERE c.file_id = f.id)"
    ),
    "vectors of a wrong length": (
        "SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space_id WHERE length(v.vector) <> 4 * s.dimensions"
    ),
}
_CHUNKS = """
SELECT c.heading, c.text, c.hash, (
    SELECT group_concat(p.start || '-' || p.stop, ' ' ORDER BY p.id) FROM passages p WHERE p.chunk_id = c.id)
FROM chunks c
"""


class FileKind(StrEnum):
    """What lies at the path of an index."""

    ABSENT = "absent"
    OURS = "ours"
    OTHER_VERSION = "other version"
    FOREIGN = "foreign"
    DAMAGED = "damaged"


def recognise(path: Path) -> FileKind:
    """Look at the header of the file, and at nothing else. Only while no connection to it is open.

    Something that is no SQLite file counts as DAMAGED; whether it may be set aside is the caller's to know.
    """
    try:
        header = _read_header(path)
    except FileNotFoundError:
        return FileKind.ABSENT
    except OSError:
        return FileKind.DAMAGED
    if not header:
        return FileKind.ABSENT
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        return FileKind.DAMAGED
    application, version = (struct.unpack_from(">I", header, at)[0] for at in (_APPLICATION_ID_AT, _USER_VERSION_AT))
    if application != APPLICATION_ID:
        return FileKind.FOREIGN
    return FileKind.OURS if version == INDEX_VERSION else FileKind.OTHER_VERSION


def _read_header(path: Path) -> bytes:
    # Opening a pipe would wait for somebody to write to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        return os.read(descriptor, _HEADER_BYTES)
    finally:
        os.close(descriptor)


def prepare_index(connection: apsw.Connection) -> None:
    """Make the tables if the file is new."""
    if connection.pragma("application_id") == APPLICATION_ID:
        return
    with connection:
        connection.execute((files("memoryd.store") / "schema" / "index.sql").read_text())
        connection.execute("INSERT INTO chunk_words(chunk_words, rank) VALUES ('secure-delete', 1)")
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", INDEX_VERSION)


def problems(connection: apsw.Connection) -> list[str]:
    """Return what is wrong inside the file: broken pages, or rows that lack their counterpart."""
    pages = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
    if pages != ["ok"]:
        return pages
    counts = {name: connection.execute(sql).get for name, sql in _ORPHANS.items()}
    rows = connection.execute(_CHUNKS)
    counts["chunks that differ from their hash"] = sum(
        chunk_hash(heading, text, spans or "") != expected for heading, text, expected, spans in rows
    )
    return [f"{count} {name}" for name, count in counts.items() if count]


def drop_deleted_words(connection: apsw.Connection) -> None:
    """Write the keyword index anew without the words of deleted rows, which are only marked until then.

    Takes half a second for 10 MB of notes.
    """
    connection.execute("INSERT INTO chunk_words(chunk_words) VALUES ('optimize')")


def check_words(connection: apsw.Connection) -> None:
    """Let FTS5 check its own structures; raises apsw.CorruptError when they are broken."""
    connection.execute("INSERT INTO chunk_words(chunk_words) VALUES ('integrity-check')")
