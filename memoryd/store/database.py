"""One SQLite file with one writer and several read-only readers, usable from asyncio.

Writes of a database run one after the other, each in its own `BEGIN IMMEDIATE`; readers never wait for them (WAL).
All databases of the daemon share one small thread pool.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw
import sqlite_vec

from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.checksums import checksum_vfs, reserve_checksums
from memoryd.store.document_table import Documents
from memoryd.store.vector_table import Vectors
from memoryd.store.word_table import Words
from memoryd.store.write_ahead import WriteAheadLog

Result = TypeVar("Result")
Connection = apsw.Connection
"""What `read` and `write` give to the functions they run."""

READERS = 3
BUSY_TIMEOUT_MS = 5_000
PAGE_BYTES = 8_192
"""Five vectors of 384 numbers fit into such a page, two into one of half the size."""
PAGE_CACHE_KIB = 16_384
WAL_LIMIT_BYTES = 64 * 2**20
REOPEN_SECONDS = 5.0
"""How long a question waits at most for a file that is being opened anew."""
INTERRUPT_SECONDS = 0.05
"""How often a query is interrupted until it ends: one that has not begun yet does not notice."""

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


class Database:
    """Connections to one file; `open`, or `open_to_read`, and `close` frame each of its lives.

    `read` and `write` take a function of the connection and run it on a worker thread. They raise
    StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when the file is
    broken. After either, `trouble` says what a reopening must deal with.
    """

    def __init__(
        self, *, path: Path, executor: Executor, vector_extension: Path | None = None, loads_vectors: bool = True
    ) -> None:
        self.path = path
        self.epoch = 0
        """Counts the openings: row ids of another epoch mean nothing."""
        self.writes = 0
        """Counts the transactions: as long as it stands still, so does what the file holds."""
        self.damage: str | None = None
        self.trouble: str | None = None
        self.why_read_only: str | None = None
        """What keeps an open file from being written."""
        self.vector_error: str | None = None if loads_vectors else "store.vector.enabled is false"
        self._executor = executor
        self._vector_extension = vector_extension
        self._writer: apsw.Connection | None = None
        self._write_lock = asyncio.Lock()
        self._is_open = False
        self._is_settled = asyncio.Event()
        """Cleared while the file is being opened anew: whoever asks meanwhile waits for the outcome."""
        self._is_settled.set()
        self._readers: list[apsw.Connection] = []
        self._asked: list[apsw.Connection] = []
        self._reading = asyncio.Semaphore(READERS)
        self._inode: int | None = None
        self._log = WriteAheadLog(path)
        self.documents = Documents(self)
        self.vectors = Vectors(self)
        self.words = Words(self)

    @property
    def is_open(self) -> bool:
        return self._is_open

    async def open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        """Open the file, let `prepare` bring its schema up to date, then open the readers."""
        await self._run(self._open, prepare)
        self._note_open(None)

    @asynccontextmanager
    async def reopening(self) -> AsyncIterator[None]:
        """Close the file; questions wait until the end of the block, which is to open it in some way."""
        self._is_settled.clear()
        try:
            await self.close()
            yield
        finally:
            self._is_settled.set()

    async def open_to_read(self, check: Callable[[apsw.Connection], None], *, why: str) -> None:
        """Open a file that `check` finds sound and that cannot be written now, `why` being the reason."""
        await self._run(self._open_readers, check)
        self._note_open(why)

    def _note_open(self, why_read_only: str | None) -> None:
        self.damage = self.trouble = None
        self.why_read_only = why_read_only
        self.epoch += 1
        self._is_open = True

    async def close(self) -> None:
        """Interrupt what reads, wait for it, move the write-ahead log into the file and close every connection."""
        async with self._write_lock:
            self._is_open = False
            writer, self._writer = self._writer, None
            for _ in range(READERS):
                while not await self._acquired_reading():
                    for reader in self._asked:
                        reader.interrupt()
            readers, self._readers = self._readers, []
            try:
                await self._run(self._close, readers, writer)
            finally:
                for _ in range(READERS):
                    self._reading.release()

    def is_replaced(self) -> bool:
        """Tell whether the path no longer leads to the file that is open. Blocks for one stat."""
        try:
            return self.is_open and self.path.stat().st_ino != self._inode
        except OSError:
            return True

    def require_writable(self) -> None:
        """Raise StoreUnavailable if nothing can be written: for work that would be in vain."""
        if self._writer is None:
            raise StoreUnavailable(self._why_closed())

    async def write(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` in one transaction and return what it returns; any exception rolls back."""
        async with self._write_lock:
            self.require_writable()
            try:
                return await self._run(self._write, self._writer, work)
            finally:
                self.writes += 1

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, so that deleted text is in neither."""
        async with self._write_lock:
            if self._writer is not None:
                await self._run(self._log.run, self._writer)

    async def read(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` on a read-only connection; when the caller is cancelled, the query is interrupted."""
        end = time.monotonic() + REOPEN_SECONDS
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(end - time.monotonic()):
                    await self._is_settled.wait()
            async with self._reading:
                # It may have begun to be opened anew in between. Nobody waits for that within a turn: closing waits
                # until all turns are over.
                if self._is_open or self._is_settled.is_set() or time.monotonic() >= end:
                    return await self._read(work)

    async def _read(self, work: Callable[[apsw.Connection], Result]) -> Result:
        if not self._is_open:
            raise StoreUnavailable(self._why_closed())
        reader = self._readers.pop()
        self._asked.append(reader)
        try:
            return await self._run(work, reader, interrupt=reader.interrupt)
        finally:
            self._asked.remove(reader)
            self._readers.append(reader)

    def _why_closed(self) -> str:
        is_read_only = self._is_open and self.why_read_only is not None
        return f"the index cannot be written: {self.why_read_only}" if is_read_only else "the index is not open"

    async def _acquired_reading(self) -> bool:
        try:
            async with asyncio.timeout(INTERRUPT_SECONDS):
                return await self._reading.acquire()
        except TimeoutError:
            return False

    async def _run(
        self, function: Callable[..., Result], *arguments: object, interrupt: Callable[[], None] = lambda: None
    ) -> Result:
        work = functools.partial(function, *arguments)
        running = asyncio.get_running_loop().run_in_executor(self._executor, _mapped, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # What runs on a connection must end before anybody else uses it.
            while not running.done():
                interrupt()
                await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            if not running.cancelled():
                running.exception()
            raise
        except DamagedDatabase as exc:
            self.damage = str(exc)
            raise
        except StoreUnavailable as exc:
            if isinstance(exc.__cause__, (apsw.IOError, apsw.SQLError)):
                self.trouble = str(exc)
            raise

    def _write(self, writer: apsw.Connection, work: Callable[[apsw.Connection], Result]) -> Result:
        result = _in_transaction(writer, self._log.before_write, work)
        self._log.run_if_due(writer, BUSY_TIMEOUT_MS)
        return result

    def _open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        self._log.look()
        opened = [self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, _WRITER_PRAGMAS)]
        try:
            if opened[0].readonly("main"):
                # SQLite opens it all the same
                raise StoreUnavailable(f"{self.path} may not be written", hint="check its owner and mode")
            self._log.attach(opened[0])
            prepare(opened[0])
            # Only now: what a new file is must stand in its header, not in a log that a crash leaves beside it.
            opened[0].pragma("journal_mode", "wal")
            for _ in range(READERS):
                opened.append(self._connect(apsw.SQLITE_OPEN_READONLY, _READER_PRAGMAS))
            self._inode = self.path.stat().st_ino
        except BaseException:
            _close_all(opened[::-1])
            raise
        self._writer, self._readers = opened[0], opened[1:]

    def _open_readers(self, check: Callable[[apsw.Connection], None]) -> None:
        """Open for reading alone: with the log if it can be read, else the file as it was when it was last moved.

        `immutable` does without the files that SQLite otherwise needs beside the database, and without its locks:
        the daemon's lock keeps other writers away.
        """
        self._log.look()
        try:
            self._readers = self._connected_readers(str(self.path), check)
        except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError):
            self._readers = self._connected_readers(f"file:{quote(str(self.path))}?immutable=1", check)
        self._inode = self.path.stat().st_ino

    def _connected_readers(self, name: str, check: Callable[[apsw.Connection], None]) -> list[apsw.Connection]:
        opened: list[apsw.Connection] = []
        try:
            while len(opened) < READERS:
                opened.append(
                    self._connect(apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, _READER_PRAGMAS, name=name)
                )
            self._log.check(opened[0])
            check(opened[0])
        except BaseException:
            _close_all(opened)
            raise
        return opened

    def _close(self, readers: Sequence[apsw.Connection], writer: apsw.Connection | None) -> None:
        _close_all(readers)
        if writer is not None:
            self._log.finish(writer)

    def _connect(self, flags: int, pragmas: str, *, name: str = "") -> apsw.Connection:
        connection = apsw.Connection(name or str(self.path), flags=flags, vfs=checksum_vfs())
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            reserve_checksums(connection)
            # A script stops at each row it returns, and some pragmas return one: all must be fetched.
            connection.execute(pragmas).fetchall()
        except BaseException:
            connection.close()
            raise
        if self.vector_error is None:
            self._load_vector_extension(connection)
        return connection

    def _load_vector_extension(self, connection: apsw.Connection) -> None:
        try:
            connection.enable_load_extension(True)
            connection.load_extension(str(self._vector_extension or sqlite_vec.loadable_path()))
        except (apsw.Error, OSError, AttributeError) as exc:
            self.vector_error = f"cannot load sqlite-vec: {exc}"
        finally:
            connection.enable_load_extension(False)


def _close_all(connections: Sequence[apsw.Connection]) -> None:
    for connection in connections:
        connection.close()


def _in_transaction(
    connection: apsw.Connection,
    before: Callable[[apsw.Connection], None],
    work: Callable[[apsw.Connection], Result],
) -> Result:
    connection.execute("BEGIN IMMEDIATE")
    try:
        before(connection)
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _mapped(work: Callable[[], Result]) -> Result:
    with mapped_errors():
        return work()


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Translate the driver's errors: what may pass becomes StoreUnavailable, a broken file DamagedDatabase.

    A statement that does not fit the tables is no proof of damage: the next opening compares the tables.
    """
    damaged_hint = "it is set aside and rebuilt from the notes"
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as exc:
        raise DamagedDatabase(f"the index is damaged: {exc}", hint=damaged_hint) from exc
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
        if getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            reason = "a page has a wrong checksum; the disk, or another program that wrote the file, changed it"
            raise DamagedDatabase(f"the index is damaged: {reason}", hint=damaged_hint) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"the index cannot be used now: {exc}", hint=hint) from exc
