"""One connection to a database file: page checksums, pragmas, private files, and errors mapped to ours.

SQLite's checksum VFS detects a flipped bit on disk when its page is read: https://sqlite.org/cksumvfs.html. apsw
provides it as a loadable extension; without it, files have no checksums.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from pathlib import Path

import apsw
from apsw import sqlite_extra
from msgspec import Struct

from memoryd.errors import DamagedDatabase, StoreUnavailable

BUSY_TIMEOUT_MS = 5_000
PAGE_BYTES = 8_192
"""Thirteen vectors of 384 numbers fit into such a page, but only six into one of half the size."""
PAGE_CACHE_KIB = 16_384
WAL_LIMIT_BYTES = 64 * 2**20

_WRITER_PRAGMAS = f"""
PRAGMA page_size = {PAGE_BYTES};
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -{PAGE_CACHE_KIB};
PRAGMA journal_size_limit = {WAL_LIMIT_BYTES};
"""


class Connector(Struct, frozen=True):
    """Connects to one file. All methods block, and raise the driver's errors.

    `is_history`: the content cannot be rebuilt. Then each commit survives a loss of power, and pages have no checksums:
    after a crash, another SQLite may checkpoint the log without them, and the pages would count as damaged.
    """

    path: Path
    is_history: bool = False

    def writer(self) -> apsw.Connection:
        """Connect for writing; the file is created if it is missing."""
        pragmas = _WRITER_PRAGMAS + ("PRAGMA synchronous = FULL;" if self.is_history else "")
        return self._connect(str(self.path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, pragmas)

    def reader(self, uri: str = "") -> apsw.Connection:
        """Connect for reading; a `uri` of the file may have options."""
        flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if uri else 0)
        return self._connect(
            uri or str(self.path),
            flags,
            "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -4096;",
        )

    def _connect(self, name: str, flags: int, pragmas: str) -> apsw.Connection:
        connection = apsw.Connection(name, flags=flags, vfs=None if self.is_history else checksum_vfs())
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            # no statement, including planted ones in a file, may write the schema or the tables behind FTS5
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            if not self.is_history and checksum_vfs() is not None and connection.pragma("page_count") == 0:
                # only a file with no page yet can reserve room for checksums
                connection.reserve_bytes("main", RESERVED_BYTES)
            # A script stops at each returned row, and some pragmas return one, so fetch all.
            connection.execute(pragmas).fetchall()
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def in_snapshot(db: apsw.Connection) -> Iterator[None]:
    """Make all statements of the block read one snapshot, and pass errors on unchanged.

    SQLite ends the transaction itself when it finds damage. A connection used as a context manager then fails to roll
    back, and reports that failure instead of the damage.
    """
    if db.in_transaction:
        yield
        return
    # a read-only savepoint takes no lock that blocks writers
    db.execute("SAVEPOINT one_moment")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """Commit what the block writes, or roll all of it back; takes the write lock at once."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        # after some errors, such as a full disk, SQLite has already rolled back
        if db.in_transaction:
            db.execute("ROLLBACK")


ROWS_PER_INSERT = 128
"""With fewer rows, the word index would flush more often and create more segments to merge."""


def insert_rows(db: apsw.Connection, insert: str, rows: Iterable[Sequence[object]]) -> None:
    """Run an INSERT without its VALUES for many rows; only the rows of one statement are in memory at a time.

    The GIL is free during a statement, and other threads can run between two statements.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, ROWS_PER_INSERT)):
        row = f"({', '.join('?' * len(batch[0]))})"
        statement, values = f"{insert} VALUES {', '.join([row] * len(batch))}", tuple(chain.from_iterable(batch))
        # a statement of many rows takes 100 KB, and is seldom repeated with the same number of rows
        db.execute(statement, values, can_cache=len(batch) == 1)


def json_array(values: Iterable[object]) -> str:
    """Return values as a JSON array, for `json_each`."""
    return json.dumps(list(values))


def hex_array(hashes: Iterable[bytes]) -> str:
    """Return hashes as a JSON array of hexadecimal strings, for `json_each` and `unhex`."""
    return json.dumps([key.hex() for key in hashes])


def broken_parts(db: apsw.Connection, check: str = "integrity_check(3)") -> list[str]:
    """Return what an SQLite check reports as broken in the pages and indexes of a file."""
    problems = [str(row[0]) for row in db.execute(f"PRAGMA {check}")]
    return [] if problems == ["ok"] else problems


VFS_NAME = "cksmvfs"
RESERVED_BYTES = 8
"""Reserved bytes at the end of each page; a file with another number has no checksums."""


@cache
def checksum_vfs() -> str | None:
    """Return the name of the VFS, registered once per process, or None if it is unavailable."""
    connection = apsw.Connection(":memory:")
    try:
        sqlite_extra.load(connection, "cksumvfs")
    except (sqlite_extra.NotAvailable, LookupError, apsw.Error, AttributeError, OSError):
        return None
    finally:
        connection.close()
    return VFS_NAME


PRIVATE = 0o600


def make_private_file(path: Path) -> None:
    """Create an empty file; raises FileExistsError if the path exists, even as a dangling symlink."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        # a umask can only remove bits, and may have removed those that the owner needs
        os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def make_private(path: Path) -> None:
    """Remove all permissions of others from a file, if it exists; raises OSError."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    if mode & ~PRIVATE:
        path.chmod(mode & PRIVATE)


class Wording(Struct, frozen=True):
    """The name of a database in errors, and what happens to a damaged one."""

    name: str
    when_damaged: str

    @property
    def not_open(self) -> str:
        return f"{self.name} is not open"


INDEX = Wording("the index", "it is set aside and rebuilt from the notes")


@contextmanager
def mapped_errors(of: Wording = INDEX) -> Iterator[None]:
    """Translate the driver's errors: temporary ones become StoreUnavailable, a broken file DamagedDatabase.

    A statement that does not fit the tables does not prove damage: the next opening compares the tables.
    """
    try:
        yield
    except apsw.NoMemError as exc:
        raise MemoryError(f"{of.name} cannot be used: {exc}") from exc
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as exc:
        raise DamagedDatabase(f"{of.name} is damaged: {exc}", hint=of.when_damaged) from exc
    except (
        apsw.FullError,
        apsw.BusyError,
        apsw.LockedError,
        apsw.ReadOnlyError,
        apsw.IOError,
        apsw.CantOpenError,
        apsw.ProtocolError,
        apsw.InterruptError,
        apsw.SQLError,
        OSError,
    ) as exc:
        # the checksum VFS reports a wrong checksum with this code: https://sqlite.org/cksumvfs.html
        if getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            reason = "a page has a wrong checksum; the disk, or another program that wrote the file, changed it"
            raise DamagedDatabase(f"{of.name} is damaged: {reason}", hint=of.when_damaged) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"{of.name} cannot be used now: {exc}", hint=hint) from exc
