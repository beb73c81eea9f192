"""One SQLite file with one writer and several read-only readers, usable from asyncio.

Writes of a database run one after the other, each in its own `BEGIN IMMEDIATE`; readers never wait for them (WAL).
All databases of the daemon share one small thread pool.
"""

import asyncio
import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import sqlite_vec

from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.checkpoint import Checkpoints
from memoryd.store.checksums import checksum_vfs, reserve_checksums

Result = TypeVar("Result")
Connection = apsw.Connection
"""What `read` and `write` give to the functions they run."""

READERS = 3
BUSY_TIMEOUT_MS = 5_000
PAGE_BYTES = 8_192
"""Five vectors of 384 numbers fit into such a page, two into one of half the size."""
PAGE_CACHE_KIB = 16_384
WAL_LIMIT_BYTES = 64 * 2**20
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
    """Connections to one file; `open` and `close` frame each of its lives.

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
        self.vector_error: str | None = None if loads_vectors else "store.vector.enabled is false"
        self._executor = executor
        self._vector_extension = vector_extension
        self._writer: apsw.Connection | None = None
        self._write_lock = asyncio.Lock()
        self._readers: list[apsw.Connection] = []
        self._asked: list[apsw.Connection] = []
        self._reading = asyncio.Semaphore(READERS)
        self._inode: int | None = None
        self._checkpoints = Checkpoints(path)

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    async def open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        """Open the file, let `prepare` bring its schema up to date, then open the readers."""
        await self._run(self._open, prepare)
        self.damage = self.trouble = None
        self.epoch += 1

    async def close(self) -> None:
        """Interrupt what reads, wait for it, move the write-ahead log into the file and close every connection."""
        async with self._write_lock:
            writer, self._writer = self._writer, None
            for _ in range(READERS):
                while not await self._acquired_reading():
                    for reader in self._asked:
                        reader.interrupt()
            readers, self._readers = self._readers, []
            await self._run(self._close, readers, writer)
            for _ in range(READERS):
                self._reading.release()

    def is_replaced(self) -> bool:
        """Tell whether the path no longer leads to the file that is open. Blocks for one stat."""
        try:
            return self.is_open and self.path.stat().st_ino != self._inode
        except OSError:
            return True

    async def write(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` in one transaction and return what it returns; any exception rolls back."""
        async with self._write_lock:
            if self._writer is None:
                raise StoreUnavailable("the index is not open")
            try:
                return await self._run(self._write, self._writer, work)
            finally:
                self.writes += 1

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, so that deleted text is in neither."""
        async with self._write_lock:
            if self._writer is not None:
                await self._run(self._checkpoints.run, self._writer)

    async def read(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` on a read-only connection; when the caller is cancelled, the query is interrupted."""
        async with self._reading:
            if self._writer is None:
                raise StoreUnavailable("the index is not open")
            reader = self._readers.pop()
            self._asked.append(reader)
            try:
                return await self._run(work, reader, interrupt=reader.interrupt)
            finally:
                self._asked.remove(reader)
                self._readers.append(reader)

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
            self.trouble = str(exc) if isinstance(exc.__cause__, apsw.IOError) else self.trouble
            raise

    def _write(self, writer: apsw.Connection, work: Callable[[apsw.Connection], Result]) -> Result:
        result = _in_transaction(writer, work)
        self._checkpoints.run_if_due(writer, BUSY_TIMEOUT_MS)
        return result

    def _open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        self._checkpoints.look()
        opened = [self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, _WRITER_PRAGMAS)]
        try:
            prepare(opened[0])
            # Only now: what a new file is must stand in its header, not in a log that a crash leaves beside it.
            opened[0].pragma("journal_mode", "wal")
            self._checkpoints.attach(opened[0])
            for _ in range(READERS):
                opened.append(self._connect(apsw.SQLITE_OPEN_READONLY, _READER_PRAGMAS))
        except BaseException:
            _close_all(opened[::-1])
            raise
        self._inode = self.path.stat().st_ino
        self._writer, self._readers = opened[0], opened[1:]

    def _close(self, readers: Sequence[apsw.Connection], writer: apsw.Connection | None) -> None:
        _close_all(readers)
        if writer is not None:
            self._checkpoints.finish(writer)

    def _connect(self, flags: int, pragmas: str) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags=flags, vfs=checksum_vfs())
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


def _in_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], Result]) -> Result:
    connection.execute("BEGIN IMMEDIATE")
    try:
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
    """Translate the driver's errors: what may pass becomes StoreUnavailable, a broken file DamagedDatabase."""
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
    ) as exc:
        if getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise DamagedDatabase("the index is damaged: a page has a wrong checksum", hint=damaged_hint) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"the index cannot be used now: {exc}", hint=hint) from exc
