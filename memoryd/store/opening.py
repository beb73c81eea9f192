"""Opening a database file: its header, its write-ahead log, and then its connections. All of it blocks.

The header is read without SQLite: https://www.sqlite.org/fileformat.html#the_database_header. `user_version` is ours
to use: its lower half is the version of the tables, its upper half the seal.

A file that was partly brought up to date makes sense together with its log only: with none, or a shorter one, it is
a mixture of two states, which no check of structure finds. SQLite may assume that no one touches the log; a state
directory that people tidy up may not. So each move of the log is framed by a seal, a number in the header: odd before
it, even when all has arrived. The header is the first page that SQLite moves (it goes by page number), so that

- an even seal means: whole by itself. The log may be gone, or end anywhere: the file or the log's beginning is a
  state that once was committed, and the next scan makes up for the rest;
- an odd seal means: pages of the log are in it. The log must be there and reach as far as that seal.

Another program that opens the database after a crash moves the log, too, and removes it. What it leaves is
whole by its seal; but the log holds no page checksums, which our moves add, so that its pages count as damaged. The
index is a cache: it is rebuilt then.
"""

import contextlib
import stat
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import structlog
from msgspec import Struct

from memoryd.errors import DamagedDatabase, InvalidRequest, StoreUnavailable
from memoryd.files.reading import read_beginning
from memoryd.store.connection import Connector, transaction

HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_USER_VERSION_AT, _APPLICATION_ID_AT = 60, 68
_VERSIONS = 0x1_0000
SEALS = 0x8000
"""How many seals there are; after the last one comes 0. Half of what fits: SQLite reads a signed number."""


class FileHeader(Struct, frozen=True):
    """What the first bytes of a database say of it."""

    application: int
    version: int
    seal: int


def read_header(path: Path) -> FileHeader | None:
    """Return the header, None of an empty file; raises OSError, ValueError of what is no database.

    Only while no connection of this process is open to the file: closing it would drop SQLite's locks.
    """
    found, header = read_beginning(path, HEADER_BYTES)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is no regular file")
    if not header:
        return None
    if len(header) < HEADER_BYTES or not header.startswith(_MAGIC):
        raise ValueError(f"{path} is no database")
    application, number = (struct.unpack_from(">I", header, at)[0] for at in (_APPLICATION_ID_AT, _USER_VERSION_AT))
    return FileHeader(application, version_of(number), seal_of(number))


def version_of(user_version: int) -> int:
    """Return the version of the tables."""
    return user_version % _VERSIONS


def seal_of(user_version: int) -> int:
    """Return the seal."""
    return user_version // _VERSIONS % SEALS


def sealed(user_version: int, seal: int) -> int:
    """Return the number with another seal."""
    return version_of(user_version) + seal % SEALS * _VERSIONS


log = structlog.get_logger(__name__)

LOG_FRAMES = 500
"""How many frames (pages) the log may grow by before it is moved."""
CUT_TIMEOUT_MS = 200
"""How long the writer waits for readers so that it can cut the log."""
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24


class WriteAheadLog:
    """The log of one database, moved by its writer: `look`, `attach`, then `run` at will, at last `finish`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = log_of(path)
        self._seal_in_file = 0
        self._log_bytes: int | None = None
        self._frames = 0
        self._due_at = LOG_FRAMES

    def look(self) -> None:
        """See what the last writer left, before the file is opened; raises OSError."""
        self._seal_in_file, self._log_bytes, self._frames, self._due_at = 0, None, 0, LOG_FRAMES
        # what is no database is told by SQLite
        with contextlib.suppress(FileNotFoundError, ValueError):
            header = read_header(self._path)
            self._seal_in_file = header.seal if header else 0
            self._log_bytes = self._log.stat().st_size

    def attach(self, writer: apsw.Connection) -> None:
        """Take over from SQLite's own checkpoints; raises DamagedDatabase when the file lacks a part of its log."""
        writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        writer.set_wal_hook(self._on_commit)
        # the first read finds how far the log is valid
        writer.pragma("user_version")
        self._frames = max(0, writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_NOOP)[0])
        # a move that has come to its end leaves an empty log, which the next seal begins anew
        one_frame = _LOG_HEADER_BYTES + _FRAME_HEADER_BYTES + writer.pragma("page_size")
        was_cut = self._log_bytes is not None and self._log_bytes < one_frame
        self.check(writer, has_log=self._frames > 0 or was_cut)

    def check(self, connection: apsw.Connection, *, has_log: bool = False) -> None:
        """Compare the seal of the file with the one that counts; raises DamagedDatabase when they do not agree."""
        seal = seal_of(connection.pragma("user_version"))
        if not _agree(self._seal_in_file, seal, has_log=has_log):
            raise DamagedDatabase("a part of the write-ahead log was lost while it was moved into the file")

    def before_write(self, writer: apsw.Connection) -> None:
        """Let the log begin with the present seal, so that what is left of a log that lost its end shows an old one.

        Called inside the transaction. While a move is unfinished, the log may begin anew with any of them.
        """
        number = writer.pragma("user_version")
        if not self._frames or seal_of(number) % 2:
            writer.pragma("user_version", number)

    def run(self, writer: apsw.Connection) -> None:
        """Move the log into the file and cut it to nothing; raises BusyError while a reader needs it."""
        self._put_seal(writer, 1)
        writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._put_seal(writer, 0)
        # its one page arrives whole or not at all
        writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._frames, self._due_at = 0, LOG_FRAMES

    def run_if_due(self, writer: apsw.Connection, busy_timeout_ms: int) -> None:
        """Do it when the log is long; if a reader or the disk stands in the way, when it is longer still."""
        if self._frames < self._due_at:
            return
        self._due_at = self._frames + LOG_FRAMES
        writer.set_busy_timeout(CUT_TIMEOUT_MS)
        try:
            self.run(writer)
        except apsw.Error as exc:
            log.debug("checkpoint put off", reason=str(exc), frames=self._frames)
        finally:
            writer.set_busy_timeout(busy_timeout_ms)

    def finish(self, writer: apsw.Connection) -> None:
        """Do it for the last time and close; SQLite then removes the log, which stays if it could not be moved."""
        with contextlib.suppress(apsw.Error):
            self.run(writer)
            writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        writer.close()

    def _put_seal(self, writer: apsw.Connection, parity: int) -> None:
        """Commit the next seal of that parity. It is read and not remembered: another process may write, too."""
        with transaction(writer):
            number = writer.pragma("user_version")
            seal = seal_of(number)
            writer.pragma("user_version", sealed(number, seal + (1 if seal % 2 != parity else 2)))

    def _on_commit(self, _writer: apsw.Connection, _name: str, frames: int) -> int:
        self._frames = frames
        return apsw.SQLITE_OK


def log_of(path: Path) -> Path:
    """Return the path of the log of a database."""
    return path.with_name(f"{path.name}-wal")


def _agree(in_file: int, seal: int, *, has_log: bool) -> bool:
    """Tell whether a file with one seal makes sense when its log brings it to another one."""
    ahead = (seal - in_file) % SEALS
    if ahead == 0:
        return in_file % 2 == 0 or has_log
    # an even seal follows the move whose odd one is in the file; odd ones may follow each other, if a move fails
    return ahead == 1 or (seal % 2 == 1 and ahead < SEALS // 2)


READERS = 3


class OpenFile(Struct, frozen=True):
    """Connections to one file; without a writer it is only read."""

    inode: int
    readers: Sequence[apsw.Connection]
    writer: apsw.Connection | None = None


Check = Callable[[apsw.Connection], None]
"""Looks at the first connection, and raises DamagedDatabase if the file is not what it is to be."""


def open_to_write(connector: Connector, log: WriteAheadLog, prepare: Check) -> OpenFile:
    """Open for writing and reading; `prepare` brings the tables up to date before anybody reads."""
    # before a connection exists: to close the file that is read here would drop SQLite's locks on it
    log.look()
    opened = [connector.writer()]
    try:
        if opened[0].readonly("main"):
            # SQLite opens it all the same
            raise StoreUnavailable(f"{connector.path} may not be written", hint="check its owner and mode")
        # first of all: a file that lacks a part of its log must not be written to
        log.attach(opened[0])
        prepare(opened[0])
        # Only now: what a new file is must stand in its header, not in a log that a crash leaves beside it.
        opened[0].pragma("journal_mode", "wal")
        # last, for a reader can make neither the file nor its log
        for _ in range(READERS):
            opened.append(connector.reader())
        return OpenFile(connector.path.stat().st_ino, opened[1:], opened[0])
    except BaseException:
        # the writer last, as when all is well
        close_all(opened[::-1])
        raise


def open_to_read(connector: Connector, log: WriteAheadLog, check: Check, *, leaves_folder: bool = False) -> OpenFile:
    """Open for reading alone: with the log if it can be read, else the file as it was when it was last moved.

    `immutable` does without the files that SQLite otherwise needs beside the database, and without its locks:
    the daemon's lock keeps other writers away. `leaves_folder` begins with that: no file is made, nor changed.
    """
    log.look()
    alone = f"file:{quote(str(connector.path))}?immutable=1"
    if leaves_folder:
        return _checked_readers(connector, log, check, alone)
    try:
        return _checked_readers(connector, log, check, "")
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError):
        return _checked_readers(connector, log, check, alone)


def _checked_readers(connector: Connector, log: WriteAheadLog, check: Check, uri: str) -> OpenFile:
    opened: list[apsw.Connection] = []
    try:
        while len(opened) < READERS:
            opened.append(connector.reader(uri))
        log.check(opened[0])
        check(opened[0])
        return OpenFile(connector.path.stat().st_ino, opened)
    except BaseException:
        close_all(opened)
        raise


def close_all(connections: Sequence[apsw.Connection]) -> None:
    """Close connections in this order."""
    for connection in connections:
        connection.close()


_HAS_TABLE = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)"


def rows_of_tables(path: Path, tables: tuple[str, ...], *, value_bytes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the columns of each row of some tables of another program, in the order of the rows.

    Tables that are not there are left out. What the file holds is not trusted: no view and no trigger is followed,
    planted functions do not run, and a row that is damaged ends the table with what was read until then. The names are
    ours, never of the file. No value is longer than `value_bytes`. Raises InvalidRequest for what is no database, or
    is damaged, or has a longer value.
    """
    try:
        read_header(path)
        # without checksums of ours, which no other program writes
        with closing(Connector(path, is_history=True).reader()) as db:
            db.limit(apsw.SQLITE_LIMIT_LENGTH, value_bytes)
            db.pragma("cell_size_check", True)
            for table in tables:
                if db.execute(_HAS_TABLE, (table,)).get:
                    for row in (rows := db.execute(f'SELECT * FROM "{table}" ORDER BY rowid')):
                        yield table, dict(zip((name for name, *_ in rows.get_description()), row, strict=True))
    except (apsw.Error, OSError, ValueError) as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc}", hint="give a database that its program can open") from exc
