"""One connection to a database file: page checksums, pragmas, private files, and errors in our words.

SQLite's checksum VFS finds a bit that flipped on the disk when its page is read: https://sqlite.org/cksumvfs.html.
apsw brings it as a loadable extension; where it does not, files have no checksums.
"""

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
"""Thirteen vectors of 384 numbers fit into such a page, six into one of half the size."""
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
_READER_PRAGMAS = "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -4096;"


class Connector(Struct, frozen=True):
    """Connects to one file. All of it blocks, and raises the driver's errors.

    `is_history`: what it holds cannot be made anew. Each commit then outlasts a loss of power; and pages have no
    checksums, since after a crash the pages of the log, moved by a person's SQLite, would count as damaged.
    """

    path: Path
    is_history: bool = False

    def writer(self) -> apsw.Connection:
        """Connect for writing; the file is made if there is none."""
        pragmas = _WRITER_PRAGMAS + ("PRAGMA synchronous = FULL;" if self.is_history else "")
        return self._connect(str(self.path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, pragmas)

    def reader(self, uri: str = "") -> apsw.Connection:
        """Connect for reading; a `uri` of the file may say more of how."""
        flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if uri else 0)
        return self._connect(uri or str(self.path), flags, _READER_PRAGMAS)

    def _connect(self, name: str, flags: int, pragmas: str) -> apsw.Connection:
        connection = apsw.Connection(name, flags=flags, vfs=None if self.is_history else checksum_vfs())
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            # no statement, planted ones in a file from elsewhere included, writes the schema or what lies behind FTS5
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            if not self.is_history and checksum_vfs() is not None and connection.pragma("page_count") == 0:
                # a file has room for checksums from its first page on, or never
                connection.reserve_bytes("main", RESERVED_BYTES)
            # A script stops at each row it returns, and some pragmas return one: all must be fetched.
            connection.execute(pragmas).fetchall()
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def at_one_moment(db: apsw.Connection) -> Iterator[None]:
    """Have all statements of the block read the file as it is at one moment, and an error come out as it is.

    SQLite ends the transaction by itself when it meets damage. A connection as a context manager then fails to roll
    back, and tells that instead of the damage.
    """
    if db.in_transaction:
        yield
        return
    # of what only reads: it takes no lock that keeps others from writing
    db.execute("SAVEPOINT one_moment")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """Keep what the block writes, all or nothing; a writer at once, so that no other process writes in between."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        # SQLite has rolled back by itself after some errors, a full disk among them
        if db.in_transaction:
            db.execute("ROLLBACK")


ROWS_AT_ONCE = 128
"""The word index writes out what it holds before such a statement: of fewer it would make more segments to merge."""


def insert_rows(db: apsw.Connection, insert: str, rows: Iterable[Sequence[object]]) -> None:
    """Run an INSERT without its values for many rows, of which so many are held as one statement takes.

    While it runs, Python's other threads do; between two statements each waits for them.
    """
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        row = f"({', '.join('?' * len(some[0]))})"
        statement, values = f"{insert} VALUES {', '.join([row] * len(some))}", tuple(chain.from_iterable(some))
        # one of many rows takes 100 KB, and is seldom asked for with as many again
        db.execute(statement, values, can_cache=len(some) == 1)


def broken_parts(db: apsw.Connection, check: str = "integrity_check(3)") -> list[str]:
    """Return what a check of SQLite finds broken in the pages and indexes of a file."""
    found = [str(row[0]) for row in db.execute(f"PRAGMA {check}")]
    return [] if found == ["ok"] else found


VFS_NAME = "cksmvfs"
RESERVED_BYTES = 8
"""At the end of each page; a file that reserves another number has no checksums."""


@cache
def checksum_vfs() -> str | None:
    """Return the name of the VFS, registered once for the process, or None where there is none."""
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
    """Make an empty file; raises FileExistsError if anything is there, a symlink that leads nowhere too."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        # an umask can only take away, and may have taken what the owner needs
        os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def make_private(path: Path) -> None:
    """Take away what anybody but its owner may do to a file, if there is one; raises OSError."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    if mode & ~PRIVATE:
        path.chmod(mode & PRIVATE)


class Wording(Struct, frozen=True):
    """What errors call a database, and what becomes of one that is damaged."""

    name: str
    when_damaged: str

    @property
    def not_open(self) -> str:
        return f"{self.name} is not open"


INDEX = Wording("the index", "it is set aside and rebuilt from the notes")


@contextmanager
def mapped_errors(of: Wording = INDEX) -> Iterator[None]:
    """Translate the driver's errors: what may pass becomes StoreUnavailable, a broken file DamagedDatabase.

    A statement that does not fit the tables is no proof of damage: the next opening compares the tables.
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
        # the checksum VFS tells a wrong checksum by this code: https://sqlite.org/cksumvfs.html
        if getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            reason = "a page has a wrong checksum; the disk, or another program that wrote the file, changed it"
            raise DamagedDatabase(f"{of.name} is damaged: {reason}", hint=of.when_damaged) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"{of.name} cannot be used now: {exc}", hint=hint) from exc
