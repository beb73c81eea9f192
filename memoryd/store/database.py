"""One SQLite file with one writer and several read-only readers, usable from asyncio.

Writes of a database run one after the other, each in its own `BEGIN IMMEDIATE`; readers never wait for them (WAL).
All databases of the daemon share one small thread pool.
"""

import asyncio
import functools
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import sqlite_vec

from memoryd.errors import DamagedDatabase, StoreUnavailable

Result = TypeVar("Result")

READERS = 3
BUSY_TIMEOUT_MS = 5_000
PAGE_CACHE_KIB = 16_384

_WRITER_PRAGMAS = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -{PAGE_CACHE_KIB};
PRAGMA journal_size_limit = 67108864;
"""
_READER_PRAGMAS = "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -4096;"


class Database:
    """Connections to one file; `open` and `close` frame its life.

    `read` and `write` take a function of the connection and run it on a worker thread. They raise
    StoreUnavailable when the disk or a lock stands in the way and DamagedDatabase when the file is broken.
    """

    def __init__(
        self, *, path: Path, executor: Executor, vector_extension: Path | None = None, loads_vectors: bool = True
    ) -> None:
        self.path = path
        self.vector_error: str | None = None if loads_vectors else "store.vector.enabled is false"
        self._executor = executor
        self._vector_extension = vector_extension
        self._write_lock = asyncio.Lock()
        self._readers: asyncio.Queue[apsw.Connection] = asyncio.Queue()
        self._connections: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None

    async def open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        """Open the file, let `prepare` bring its schema up to date, then open the readers."""
        await self._run(self._open, prepare)
        for reader in self._connections[1:]:
            self._readers.put_nowait(reader)

    async def close(self) -> None:
        """Close every connection; the last one checkpoints the write-ahead log."""
        async with self._write_lock:
            self._writer = None
            while not self._readers.empty():
                self._readers.get_nowait()
            connections, self._connections = self._connections, []
            await self._run(_close_all, connections)

    async def write(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` in one transaction and return what it returns; any exception rolls back."""
        async with self._write_lock:
            if self._writer is None:
                raise StoreUnavailable("the index is closed")
            return await self._run(_in_transaction, self._writer, work)

    async def read(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` on a read-only connection; when the caller is cancelled, the query is interrupted."""
        if self._writer is None:
            raise StoreUnavailable("the index is closed")
        reader = await self._readers.get()
        try:
            return await self._interruptible(reader, work)
        finally:
            self._readers.put_nowait(reader)

    async def _interruptible(self, reader: apsw.Connection, work: Callable[[apsw.Connection], Result]) -> Result:
        running = asyncio.get_running_loop().run_in_executor(self._executor, _mapped, functools.partial(work, reader))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            reader.interrupt()
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()
            raise

    async def _run(self, function: Callable[..., Result], *arguments: object) -> Result:
        work = functools.partial(function, *arguments)
        running = asyncio.get_running_loop().run_in_executor(self._executor, _mapped, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # A half-done transaction must end before anybody else uses the connection.
            await asyncio.wait([running])
            raise

    def _open(self, prepare: Callable[[apsw.Connection], None]) -> None:
        writer = self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, _WRITER_PRAGMAS)
        prepare(writer)
        self._writer = writer
        for _ in range(READERS):
            self._connect(apsw.SQLITE_OPEN_READONLY, _READER_PRAGMAS)

    def _connect(self, flags: int, pragmas: str) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags=flags)
        self._connections.append(connection)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute(pragmas)
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


def _close_all(connections: list[apsw.Connection]) -> None:
    for connection in reversed(connections):
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
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as exc:
        raise DamagedDatabase(
            f"the index is damaged: {exc}", hint="it is set aside and rebuilt from the notes"
        ) from exc
    except (
        apsw.FullError,
        apsw.BusyError,
        apsw.LockedError,
        apsw.ReadOnlyError,
        apsw.IOError,
        apsw.CantOpenError,
    ) as exc:
        raise StoreUnavailable(
            f"the index cannot be used now: {exc}", hint="check the disk of the state directory"
        ) from exc
