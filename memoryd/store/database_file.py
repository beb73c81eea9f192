"""The life cycle of one database file with any tables: open, check whether it was replaced, close.

Writes of a database run one after another, each in its own transaction; readers never wait for them. All databases of
the daemon share one small thread pool.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import apsw
from msgspec import Struct, convert

from memoryd.domain.clock import Pulse
from memoryd.domain.documents import FileStat
from memoryd.store.connection import INDEX, Connector, Wording
from memoryd.store.opening import Check, OpenFile, WriteAheadLog, close_all, open_to_read, open_to_write
from memoryd.store.pool import Readers, Returned, Runner, Transaction, Writer


class DatabaseFile:
    """One file and its connections; it can be opened and closed repeatedly.

    `read` and `write` raise StoreUnavailable if the disk, a lock or the closed state prevents them, and DamagedDatabase
    if the file is broken. After either error `trouble` and `damage` say what a reopening must handle.
    """

    def __init__(self, connector: Connector, executor: Executor, wording: Wording = INDEX) -> None:
        self.path = connector.path
        self.epoch = 0
        """Number of openings: row ids of another epoch have no meaning."""
        self.why_read_only: str | None = None
        """Why an open file cannot be written."""
        self._connector = connector
        self._runner = Runner(executor, wording)
        self._log = WriteAheadLog(self.path)
        self._readers = Readers(self._runner)
        self._writer = Writer(self._runner, self._log)
        self._inode: int | None = None

    @property
    def is_open(self) -> bool:
        return self._readers.is_open

    @property
    def writes(self) -> int:
        """Number of transactions; while it is unchanged, so is the content of the file."""
        return self._writer.count

    @property
    def pulse(self) -> Pulse:
        """Heartbeats of the writer."""
        return self._writer.pulse

    @property
    def damage(self) -> str | None:
        """What is broken in the file, as of the last error."""
        return self._runner.damage

    @property
    def trouble(self) -> str | None:
        """Why an undamaged file must be reopened."""
        return self._runner.trouble

    async def read(self, step: Transaction[Returned]) -> Returned:
        """Run a step on a read-only connection; if the caller is cancelled, the query is interrupted."""
        return await self._readers.run(step)

    async def write(
        self, step: Transaction[Returned], *, busy_ms: int | None = None, is_interruptible: bool = False
    ) -> Returned:
        """Run a step in one transaction and return its result; any exception rolls back.

        `busy_ms`: how long to wait for the lock of another process, if not the default. If the caller is cancelled, it
        waits until the step has finished; an interruptible step is rolled back.
        """
        return await self._writer.run(step, busy_ms, is_interruptible=is_interruptible)

    async def ask_writer(self, step: Transaction[Returned]) -> Returned:
        """Run a step on data private to the writing connection, after its current write; nothing is written."""
        return await self._writer.ask(step)

    def require_writable(self) -> None:
        """Raise StoreUnavailable if nothing can be written, before work that would be in vain."""
        self._writer.require()

    async def close(self) -> None:
        """Interrupt readers, wait for them, checkpoint the write-ahead log and close all connections."""
        # the writer first: what it commits until then is in the log before the last checkpoint
        async with self._writer.stopped(), self._readers.stopped() as readers:
            # only now, so that a caller that is cancelled while waiting for the readers changes nothing
            await self._runner.run(self._close, readers, self._writer.detach())

    @asynccontextmanager
    async def reopening(self) -> AsyncIterator[None]:
        """Close the file; queries wait until the end of the block, which must open it again."""
        with self._readers.blocked():
            await self.close()
            yield

    def is_replaced(self) -> bool:
        """Return whether the path no longer leads to the open file. Blocks for one stat."""
        try:
            return self.is_open and self.path.stat().st_ino != self._inode
        except OSError:
            return True

    async def checkpoint(self) -> None:
        """Checkpoint and truncate the write-ahead log, so that deleted text is in neither file."""
        await self._writer.checkpoint()

    async def _open_to_write(self, prepare: Check) -> None:
        await self._runner.run(lambda: self._attach(open_to_write(self._connector, self._log, prepare)))
        self._note_open(None)

    async def _open_to_read(self, check: Check, *, why: str, leaves_folder: bool = False) -> None:
        opening = partial(open_to_read, self._connector, self._log, check, leaves_folder=leaves_folder)
        await self._runner.run(lambda: self._attach(opening()))
        self._note_open(why)

    def _attach(self, file: OpenFile) -> None:
        # still in the thread: if the caller is cancelled, `close` must find the opened connections
        self._readers.attach(file.readers)
        self._writer.attach(file.writer)
        self._inode = file.inode

    def _note_open(self, why_read_only: str | None) -> None:
        self.why_read_only = why_read_only
        self.epoch += 1
        self._runner.forget()
        self._writer.note_absence(f"{self._runner.wording.name} cannot be written: {why_read_only}")
        self._readers.is_open = True

    def _close(self, readers: Sequence[apsw.Connection], writer: apsw.Connection | None) -> None:
        # the writer last: SQLite removes the log with the last connection, if that may write
        close_all(readers)
        if writer is not None:
            self._log.finish(writer)


class Transactor(Protocol):
    """An object that runs transactions: a database file, or a ledger, which opens its own file."""

    async def read(self, step: Transaction[Returned], /) -> Returned:
        """Run a step that reads."""
        ...

    async def write(self, step: Transaction[Returned], /) -> Returned:
        """Run a step in one transaction."""
        ...


class Table:
    """Some tables of a database. Methods decorated with `reads` and `writes` are one transaction each."""

    def __init__(self, file: Transactor) -> None:
        self._file = file


AnyTable = TypeVar("AnyTable", bound=Table)
Injected = ParamSpec("Injected")
TableTransaction = Callable[Concatenate[AnyTable, apsw.Connection, Injected], Returned]
Verb = Callable[Concatenate[AnyTable, Injected], Coroutine[Any, Any, Returned]]


def reads(step: TableTransaction[AnyTable, Injected, Returned]) -> Verb[AnyTable, Injected, Returned]:
    """Decorate a method that reads, so that callers do not pass the connection."""

    @wraps(step)
    async def verb(table: AnyTable, /, *args: Injected.args, **kwargs: Injected.kwargs) -> Returned:
        return await table._file.read(lambda db: step(table, db, *args, **kwargs))

    return verb


def writes(step: TableTransaction[AnyTable, Injected, Returned]) -> Verb[AnyTable, Injected, Returned]:
    """Decorate a method that runs in a transaction, so that callers do not pass the connection."""

    @wraps(step)
    async def verb(table: AnyTable, /, *args: Injected.args, **kwargs: Injected.kwargs) -> Returned:
        return await table._file.write(lambda db: step(table, db, *args, **kwargs))

    return verb


AnyStruct = TypeVar("AnyStruct", bound=Struct)


def struct_of(kind: type[AnyStruct], row: Iterable[object]) -> AnyStruct:
    """Return a struct from a row whose columns are its fields, in their order; raises ValueError."""
    return convert(dict(zip(kind.__struct_fields__, row, strict=True)), kind, strict=False)


_MAX_INTEGER = 2**63 - 1


def stored_stat(stat: FileStat) -> tuple[int, int, int, int, int]:
    """Return device, inode, size, mtime and ctime as stored; times after the year 2262 become the last possible one."""
    device, inode = (number - 2**64 if number > _MAX_INTEGER else number for number in (stat.device, stat.inode))
    mtime_ns, ctime_ns = (min(max(at, -_MAX_INTEGER), _MAX_INTEGER) for at in (stat.mtime_ns, stat.ctime_ns))
    return device, inode, stat.size, mtime_ns, ctime_ns


def file_stat_of(device: int, inode: int, size: int, mtime_ns: int, ctime_ns: int) -> FileStat:
    """Return the stat from its stored form."""
    return FileStat(device % 2**64, inode % 2**64, size, mtime_ns, ctime_ns)
