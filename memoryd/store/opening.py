"""Opening a database file: its header, its write-ahead log, and its connections. All functions block.

The header is read without SQLite: https://www.sqlite.org/fileformat.html#the_database_header. The application may use
`user_version`: its lower half is the version of the tables, its upper half the seal.

A file that was partly checkpointed is consistent only together with its log: with no log, or a shorter one, it mixes
two states, which no structural check detects. SQLite may assume that no one touches the log; memoryd cannot, because
people tidy up state directories. So each checkpoint is framed by a seal, a number in the header: odd before the
checkpoint, even after it. The header is the first page that SQLite copies (pages are copied in order), so that

- an even seal means: the file is complete by itself. The log may be missing, or end anywhere: the file, or the file
  with the start of the log, is a state that was committed once, and the next scan catches up;
- an odd seal means: the file has pages of the log. The log must exist and reach that seal.

Another program that opens the database after a crash checkpoints the log, too, and removes it. By its seal the file is
then complete; but the log has no page checksums, which our checkpoints add, so its pages count as damaged. The index is
a cache, and is rebuilt then.
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
"""Number of seals; the last is followed by 0. Half of what fits, because SQLite reads a signed number."""


class FileHeader(Struct, frozen=True):
    """Fields of a database header."""

    application: int
    version: int
    seal: int


def read_header(path: Path) -> FileHeader | None:
    """Return the header, None for an empty file; raises OSError, and ValueError for a file that is no database.

    Call it only while this process has no connection to the file: closing the file would drop SQLite's locks.
    """
    file_stat, header = read_beginning(path, HEADER_BYTES)
    if not stat.S_ISREG(file_stat.st_mode):
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


def with_seal(user_version: int, seal: int) -> int:
    """Return the number with another seal."""
    return version_of(user_version) + seal % SEALS * _VERSIONS


log = structlog.get_logger(__name__)

LOG_FRAMES = 500
"""Number of frames (pages) by which the log may grow before it is checkpointed."""
CUT_TIMEOUT_MS = 200
"""How long the writer waits for readers in order to truncate the log."""
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24


class WriteAheadLog:
    """The log of one database. Its writer calls `inspect`, `attach`, then `run` as needed, and `finish`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = log_of(path)
        self._seal_in_file = 0
        self._log_bytes: int | None = None
        self._frames = 0
        self._due_at = LOG_FRAMES

    def inspect(self) -> None:
        """Read what the last writer left, before the file is opened; raises OSError."""
        self._seal_in_file, self._log_bytes, self._frames, self._due_at = 0, None, 0, LOG_FRAMES
        # SQLite reports a file that is no database
        with contextlib.suppress(FileNotFoundError, ValueError):
            header = read_header(self._path)
            self._seal_in_file = header.seal if header else 0
            self._log_bytes = self._log.stat().st_size

    def attach(self, writer: apsw.Connection) -> None:
        """Replace SQLite's own checkpoints; raises DamagedDatabase if the file lacks a part of its log."""
        writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        writer.set_wal_hook(self._on_commit)
        # the first read determines how much of the log is valid
        writer.pragma("user_version")
        self._frames = max(0, writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_NOOP)[0])
        # a finished checkpoint leaves an empty log, which starts again with the next seal
        frame_end = _LOG_HEADER_BYTES + _FRAME_HEADER_BYTES + writer.pragma("page_size")
        was_cut = self._log_bytes is not None and self._log_bytes < frame_end
        self.check(writer, has_log=self._frames > 0 or was_cut)

    def check(self, connection: apsw.Connection, *, has_log: bool = False) -> None:
        """Compare the seal of the file with the current one; raises DamagedDatabase if they do not match."""
        seal = seal_of(connection.pragma("user_version"))
        if not _match(self._seal_in_file, seal, has_log=has_log):
            raise DamagedDatabase("a part of the write-ahead log was lost while it was moved into the file")

    def before_write(self, writer: apsw.Connection) -> None:
        """Start a new log with the current seal, so that a log that lost its end shows an older seal.

        Called inside the transaction. While a checkpoint is unfinished, the log may restart at any transaction.
        """
        number = writer.pragma("user_version")
        if not self._frames or seal_of(number) % 2:
            writer.pragma("user_version", number)

    def run(self, writer: apsw.Connection) -> None:
        """Checkpoint the log into the file and truncate it; raises BusyError while a reader needs it."""
        self._put_seal(writer, 1)
        writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._put_seal(writer, 0)
        # a single page is written completely or not at all
        writer.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._frames, self._due_at = 0, LOG_FRAMES

    def run_if_due(self, writer: apsw.Connection, busy_timeout_ms: int) -> None:
        """Checkpoint if the log is long; if a reader or the disk prevents it, retry when it is longer."""
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
        """Checkpoint and close. SQLite then removes the log, except if the checkpoint failed."""
        with contextlib.suppress(apsw.Error):
            self.run(writer)
            writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        writer.close()

    def _put_seal(self, writer: apsw.Connection, parity: int) -> None:
        """Commit the next seal of this parity. It is read each time, because another process may write, too."""
        with transaction(writer):
            number = writer.pragma("user_version")
            seal = seal_of(number)
            writer.pragma("user_version", with_seal(number, seal + (1 if seal % 2 != parity else 2)))

    def _on_commit(self, _writer: apsw.Connection, _name: str, frames: int) -> int:
        self._frames = frames
        return apsw.SQLITE_OK


def log_of(path: Path) -> Path:
    """Return the path of the log of a database."""
    return path.with_name(f"{path.name}-wal")


def _match(in_file: int, seal: int, *, has_log: bool) -> bool:
    """Return whether a file with one seal is consistent with a log that brings it to another."""
    ahead = (seal - in_file) % SEALS
    if ahead == 0:
        return in_file % 2 == 0 or has_log
    # an even seal follows a checkpoint whose odd seal is in the file; odd seals follow each other if a checkpoint fails
    return ahead == 1 or (seal % 2 == 1 and ahead < SEALS // 2)


READERS = 3


class OpenFile(Struct, frozen=True):
    """Connections to one file; without a writer it is read-only."""

    inode: int
    readers: Sequence[apsw.Connection]
    writer: apsw.Connection | None = None


Check = Callable[[apsw.Connection], None]
"""Checks the first connection, and raises DamagedDatabase if the file is not the expected one."""


def open_to_write(connector: Connector, log: WriteAheadLog, prepare: Check) -> OpenFile:
    """Open for writing and reading; `prepare` migrates the tables before anyone reads."""
    # before there is a connection: closing the file that this reads would drop SQLite's locks
    log.inspect()
    opened = [connector.writer()]
    try:
        if opened[0].readonly("main"):
            # SQLite opens a read-only file without an error
            raise StoreUnavailable(f"{connector.path} may not be written", hint="check its owner and mode")
        # first, because a file that lacks a part of its log must not be written
        log.attach(opened[0])
        prepare(opened[0])
        # only now, so that a new file has its application id in the header, not in a log that a crash may lose
        opened[0].pragma("journal_mode", "wal")
        # last, because a reader can create neither the file nor its log
        for _ in range(READERS):
            opened.append(connector.reader())
        return OpenFile(connector.path.stat().st_ino, opened[1:], opened[0])
    except BaseException:
        # the writer last, as in a normal close
        close_all(opened[::-1])
        raise


def open_to_read(connector: Connector, log: WriteAheadLog, check: Check, *, leaves_folder: bool = False) -> OpenFile:
    """Open read-only: with the log if it can be read, else the file as of its last checkpoint.

    `immutable` works without the other files of SQLite, and without its locks: the daemon's lock excludes other
    writers. `leaves_folder` uses it at once, so that no file is created or changed.
    """
    log.inspect()
    immutable = f"file:{quote(str(connector.path))}?immutable=1"
    if leaves_folder:
        return _open_readers(connector, log, check, immutable)
    try:
        return _open_readers(connector, log, check, "")
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError):
        return _open_readers(connector, log, check, immutable)


def _open_readers(connector: Connector, log: WriteAheadLog, check: Check, uri: str) -> OpenFile:
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


def rows_of_tables(path: Path, tables: tuple[str, ...], *, value_bytes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the table name and the columns of each row of these tables of another program, in row order.

    Missing tables are skipped. The file is not trusted: no view or trigger is followed, planted functions do not run,
    and a damaged row ends its table after the rows before it. Table names come from the caller, not from the file. No
    value is longer than `value_bytes`. Raises InvalidRequest for a file that is no database, is damaged, or has a
    longer value.
    """
    try:
        read_header(path)
        # without checksums, which other programs do not write
        with closing(Connector(path, is_history=True).reader()) as db:
            db.limit(apsw.SQLITE_LIMIT_LENGTH, value_bytes)
            db.pragma("cell_size_check", True)
            for table in tables:
                if db.execute(
                    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)", (table,)
                ).get:
                    for row in (rows := db.execute(f'SELECT * FROM "{table}" ORDER BY rowid')):
                        yield table, dict(zip((name for name, *_ in rows.get_description()), row, strict=True))
    except (apsw.Error, OSError, ValueError) as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc}", hint="give a database that its program can open") from exc
