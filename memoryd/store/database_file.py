"""The life cycle of one database file, whatever its tables are: open, check whether it is still the same, close.

Writes of a database run one after the other, each in its own transaction; readers never wait for them.
All databases of the daemon share one small thread pool.
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
    """One file and the connections to it; an opening and `close` frame each of its lives.

    `read` and `write` raise StoreUnavailable when the disk, a lock or the closed state stands in the way,
    DamagedDatabase when the file is broken. After either `trouble` and `damage` say what a reopening must deal with.
    """

    def __init__(self, connector: Connector, executor: Executor, wording: Wording = INDEX) -> None:
        self.path = connector.path
        self.epoch = 0
        """Counts the openings: numbers of rows of another epoch mean nothing."""
        self.why_read_only: str | None = None
        """What keeps an open file from being written."""
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
        """Counts the transactions: as long as it stands still, so does what the file holds."""
        return self._writer.count

    @property
    def pulse(self) -> Pulse:
        """The signs of life of whoever writes it."""
        return self._writer.pulse

    @property
    def damage(self) -> str | None:
        """What is broken in the file, as of the last error."""
        return self._runner.damage

    @property
    def trouble(self) -> str | None:
        """Why the file is to be opened anew, though it is sound."""
        return self._runner.trouble

    async def read(self, step: Transaction[Returned]) -> Returned:
        """Run a step on a read-only connection; when the caller is cancelled, the query is interrupted."""
        return await self._readers.run(step)

    async def write(
        self, step: Transaction[Returned], *, busy_ms: int | None = None, is_interruptible: bool = False
    ) -> Returned:
        """Run a step in one transaction and return what it returns; any exception rolls back.

        `busy_ms`: how long the lock of another process is waited for, if not as long as always. When the caller is
        cancelled, the step goes on to its end and is waited for, unless it is interruptible: then it is rolled back.
        """
        return await self._writer.run(step, busy_ms, is_interruptible=is_interruptible)

    async def ask_writer(self, step: Transaction[Returned]) -> Returned:
        """Run a step on what the connection that writes has for itself, after what it writes now; no write of it."""
        return await self._writer.ask(step)

    def require_writable(self) -> None:
        """Raise StoreUnavailable if nothing can be written: for work that would be in vain."""
        self._writer.require()

    async def close(self) -> None:
        """Interrupt what reads, wait for it, move the write-ahead log into the file and close every connection."""
        # the writer first: what it commits meanwhile is in the log before that is moved for the last time
        async with self._writer.stopped(), self._readers.stopped() as readers:
            # only now: whoever is cancelled while it waits for the readers loses nothing
            await self._runner.run(self._close, readers, self._writer.detach())

    @asynccontextmanager
    async def reopening(self) -> AsyncIterator[None]:
        """Close the file; questions wait until the end of the block, which is to open it in some way."""
        with self._readers.holding_back():
            await self.close()
            yield

    def is_replaced(self) -> bool:
        """Tell whether the path no longer leads to the file that is open. Blocks for one stat."""
        try:
            return self.is_open and self.path.stat().st_ino != self._inode
        except OSError:
            return True

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, so that deleted text is in neither."""
        await self._writer.checkpoint()

    async def _open_to_write(self, prepare: Check) -> None:
        await self._runner.run(lambda: self._attach(open_to_write(self._connector, self._log, prepare)))
        self._note_open(None)

    async def _open_to_read(self, check: Check, *, why: str, leaves_folder: bool = False) -> None:
        opening = partial(open_to_read, self._connector, self._log, check, leaves_folder=leaves_folder)
        await self._runner.run(lambda: self._attach(opening()))
        self._note_open(why)

    def _attach(self, file: OpenFile) -> None:
        # still in the thread: when whoever waits for it gives up, `close` must find what was opened meanwhile
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
        # the writer last: SQLite removes the log with the last connection, if that one may write
        close_all(readers)
        if writer is not None:
            self._log.finish(writer)


class Transactor(Protocol):
    """What runs transactions: a database file, or a ledger, which opens its own."""

    async def read(self, step: Transaction[Returned], /) -> Returned:
        """Run a step that reads."""
        ...

    async def write(self, step: Transaction[Returned], /) -> Returned:
        """Run a step in one transaction."""
        ...


class Table:
    """Some tables of a database. What `reads` and `writes` decorate are steps, one transaction each."""

    def __init__(self, file: Transactor) -> None:
        self._file = file


AnyTable = TypeVar("AnyTable", bound=Table)
Injected = ParamSpec("Injected")
TableTransaction = Callable[Concatenate[AnyTable, apsw.Connection, Injected], Returned]
Verb = Callable[Concatenate[AnyTable, Injected], Coroutine[Any, Any, Returned]]


def reads(step: TableTransaction[AnyTable, Injected, Returned]) -> Verb[AnyTable, Injected, Returned]:
    """Have a method be called without its connection, which is one that reads."""

    @wraps(step)
    async def verb(table: AnyTable, /, *given: Injected.args, **named: Injected.kwargs) -> Returned:
        return await table._file.read(lambda db: step(table, db, *given, **named))

    return verb


def writes(step: TableTransaction[AnyTable, Injected, Returned]) -> Verb[AnyTable, Injected, Returned]:
    """Have a method be called without its connection, which has a transaction."""

    @wraps(step)
    async def verb(table: AnyTable, /, *given: Injected.args, **named: Injected.kwargs) -> Returned:
        return await table._file.write(lambda db: step(table, db, *given, **named))

    return verb


AnyStruct = TypeVar("AnyStruct", bound=Struct)


def struct_of(kind: type[AnyStruct], row: Iterable[object]) -> AnyStruct:
    """Return the value of a row whose columns are the fields of a type, in their order; raises ValueError."""
    return convert(dict(zip(kind.__struct_fields__, row, strict=True)), kind, strict=False)


_MAX_INTEGER = 2**63 - 1


def stored_stat(stat: FileStat) -> tuple[int, int, int, int, int]:
    """Return device, inode, size, mtime and ctime as they are stored; a time beyond the year 2262 is the last one."""
    device, inode = (number - 2**64 if number > _MAX_INTEGER else number for number in (stat.device, stat.inode))
    mtime_ns, ctime_ns = (min(max(at, -_MAX_INTEGER), _MAX_INTEGER) for at in (stat.mtime_ns, stat.ctime_ns))
    return device, inode, stat.size, mtime_ns, ctime_ns


def file_stat_of(device: int, inode: int, size: int, mtime_ns: int, ctime_ns: int) -> FileStat:
    """Return the stat that was stored."""
    return FileStat(device % 2**64, inode % 2**64, size, mtime_ns, ctime_ns)
