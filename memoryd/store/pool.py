"""All connections to one database file: one writer and several readers, which never wait for it (WAL).

Blocking work runs on threads that all databases of the daemon share. A reader takes a connection that is free, and
waits while the file is opened anew. The writer runs one transaction after the other, and moves the log in between.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import TypeVar

import apsw

from memoryd.domain.clock import Pulse
from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.retry import happens
from memoryd.store.connection import BUSY_TIMEOUT_MS, Wording, mapped_errors
from memoryd.store.opening import READERS, WriteAheadLog

Returned = TypeVar("Returned")
Transaction = Callable[[apsw.Connection], Returned]
"""What is done in one transaction, on a connection that nobody else sees."""

INTERRUPT_SECONDS = 0.05
"""How often a query is interrupted until it ends: one that has not begun yet does not notice."""


def _no_interrupt() -> None:
    pass


class Runner:
    """Runs the work of one database, and keeps what its errors say of the file until `forget`."""

    def __init__(self, executor: Executor, wording: Wording) -> None:
        self.wording = wording
        self.damage: str | None = None
        """What is broken in the file."""
        self.trouble: str | None = None
        """Why the file may have to be opened anew, though it is sound."""
        self._executor = executor

    def forget(self) -> None:
        """Say that the file was opened anew."""
        self.damage = self.trouble = None

    async def run(
        self, function: Callable[..., Returned], *arguments: object, interrupt: Callable[[], None] = _no_interrupt
    ) -> Returned:
        """Run a function and return what it returns; raises StoreUnavailable and DamagedDatabase.

        Whoever gives up waits until the function has ended, which `interrupt` is to bring about.
        """
        work = functools.partial(function, *arguments)
        running = asyncio.get_running_loop().run_in_executor(self._executor, _mapped, work, self.wording)
        try:
            # shielded: a thread cannot be cancelled, and to let go of the future would leave it at work unseen
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # What runs on a connection must end before anybody else uses it, though whoever asked is cancelled again:
            # by a deadline, and by a client that leaves.
            while not running.done():
                interrupt()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            # its error is nobody's any more; not to look at it would be logged as never retrieved
            if not running.cancelled():
                running.exception()
            raise
        except DamagedDatabase as exc:
            self.damage = str(exc)
            raise
        except StoreUnavailable as exc:
            # a full disk or a lock passes by itself; after these the connections may be of a file that is gone
            if isinstance(exc.__cause__, (apsw.IOError, apsw.SQLError)):
                self.trouble = str(exc)
            raise


def _mapped(work: Callable[[], Returned], wording: Wording) -> Returned:
    with mapped_errors(wording):
        return work()


def _from_rest(work: Transaction[Returned], reader: apsw.Connection) -> Returned:
    """Run `work` after the end of what an interrupt left open, of which it would see the moment, and nothing later."""
    if reader.in_transaction:
        reader.execute("ROLLBACK")
    return work(reader)


REOPEN_SECONDS = 5.0
"""How long a question waits at most for a file that is being opened anew."""


class Readers:
    """Runs questions, as many at once as there are connections; each on a thread of its own."""

    def __init__(self, runner: Runner) -> None:
        self.is_open = False
        self._runner = runner
        self._idle: list[apsw.Connection] = []
        self._busy: list[apsw.Connection] = []
        self._places = asyncio.Semaphore(READERS)
        self._is_settled = asyncio.Event()
        """Cleared while the file is being opened anew: whoever asks meanwhile waits for the outcome."""
        self._is_settled.set()

    def attach(self, connections: Sequence[apsw.Connection]) -> None:
        """Take connections that are open, of which nobody gets one before `is_open` is set."""
        self._idle = list(connections)

    async def run(self, work: Transaction[Returned]) -> Returned:
        """Run `work` on a connection; when the caller is cancelled, the query is interrupted."""
        end = time.monotonic() + REOPEN_SECONDS
        while True:
            if not self._is_settled.is_set():
                await happens(self._is_settled.wait(), end - time.monotonic())
            async with self._places:
                # It may have begun to be opened anew in between. Nobody waits for that in a place: closing waits
                # until all places are free.
                if self.is_open or self._is_settled.is_set() or time.monotonic() >= end:
                    return await self._run(work)

    async def _run(self, work: Transaction[Returned]) -> Returned:
        if not self.is_open:
            raise StoreUnavailable(self._runner.wording.not_open)
        # whoever has a place finds a connection: there are as many of the one as of the other
        reader = self._idle.pop()
        self._busy.append(reader)
        try:
            return await self._runner.run(_from_rest, work, reader, interrupt=reader.interrupt)
        finally:
            self._busy.remove(reader)
            self._idle.append(reader)

    @contextlib.contextmanager
    def holding_back(self) -> Iterator[None]:
        """Let whoever asks wait until the end of the block."""
        self._is_settled.clear()
        try:
            yield
        finally:
            self._is_settled.set()

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[list[apsw.Connection]]:
        """Interrupt what runs, wait for it, and give the connections away to be closed; nothing runs in the block.

        Whoever gives up before the block leaves all as it was.
        """
        was_open, self.is_open = self.is_open, False
        taken = 0
        try:
            while taken < READERS:
                if await happens(self._places.acquire(), INTERRUPT_SECONDS):
                    taken += 1
                    continue
                # again and again: a query that has not begun yet does not notice
                for reader in self._busy:
                    reader.interrupt()
            readers, self._idle, was_open = self._idle, [], False
            yield readers
        finally:
            self.is_open = was_open
            for _ in range(taken):
                self._places.release()


PROGRESS_STEPS = 1_000_000
"""How many steps of SQLite's machine lie between two signs of life of one statement: some tenth of a second."""
SMALL_PAGES, SMALL_CACHE_BYTES = 100, 4 * 2**20
"""What a transaction writes that is no part of a large one, and what the writer then keeps in memory at most."""


class Writer:
    """Runs transactions, each in its own `BEGIN IMMEDIATE`, and moves the write-ahead log."""

    def __init__(self, runner: Runner, log: WriteAheadLog) -> None:
        self.count = 0
        """Counts the transactions, whatever came of them."""
        self.pulse = Pulse()
        """At work while anybody waits for a transaction; each one that ends, and a long statement, are signs."""
        self._runner = runner
        self._log = log
        self._connection: apsw.Connection | None = None
        self._why_none = runner.wording.not_open
        self._lock = asyncio.Lock()
        """Held while anything runs on the connection: SQLite would take statements of two as one transaction."""

    def attach(self, connection: apsw.Connection | None) -> None:
        """Take a connection that is open, if there is one."""
        self._connection = connection
        if connection is not None:
            # a vacuum, or the deletion of a million rows, is one statement
            connection.set_progress_handler(self._get_on, PROGRESS_STEPS)

    def note_absence(self, why: str) -> None:
        """Say why there is no connection."""
        self._why_none = why

    def require(self) -> apsw.Connection:
        """Return the connection; raises StoreUnavailable if there is none."""
        if self._connection is None:
            raise StoreUnavailable(self._why_none)
        return self._connection

    async def run(self, work: Transaction[Returned], busy_ms: int | None, *, is_interruptible: bool) -> Returned:
        """Run `work` in one transaction, as `DatabaseFile.write` says."""
        # with the wait for the lock: it must come free, too
        with self.pulse.work():
            async with self._lock:
                # only within the lock: who had it before may have closed the file
                writer = self.require()
                interrupt = writer.interrupt if is_interruptible else _no_interrupt
                try:
                    return await self._runner.run(self._transact, writer, work, busy_ms, interrupt=interrupt)
                finally:
                    # also after a failure: what of it was done, nobody knows
                    self.count += 1

    async def ask(self, step: Transaction[Returned]) -> Returned:
        """Run `step` outside of any transaction: on what this connection alone has, and no file."""
        with self.pulse.work():
            async with self._lock:
                return await self._runner.run(step, self.require())

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing."""
        with self.pulse.work():
            async with self._lock:
                if self._connection is not None:
                    await self._runner.run(self._log.run, self._connection)

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Wait for what runs; nothing runs in the block."""
        async with self._lock:
            yield

    def detach(self) -> apsw.Connection | None:
        """Give the connection away to be closed; only while it is stopped."""
        writer, self._connection = self._connection, None
        self._why_none = self._runner.wording.not_open
        return writer

    def _get_on(self) -> bool:
        """Give a sign in the middle of a statement, which is not to be broken off."""
        self.pulse.beat()
        return False

    def _transact(self, writer: apsw.Connection, work: Transaction[Returned], busy_ms: int | None) -> Returned:
        if busy_ms is not None:
            writer.set_busy_timeout(busy_ms)
        try:
            # at once a writer: to become one after a read would fail if another program had written in between
            writer.execute("BEGIN IMMEDIATE")
        finally:
            if busy_ms is not None:
                writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        try:
            self._log.before_write(writer)
            result = work(writer)
            writer.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors, a full disk among them
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        # within the lock, as the rest: the move is made of transactions of its own
        self._log.run_if_due(writer, BUSY_TIMEOUT_MS)
        is_small = writer.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)[0] < SMALL_PAGES
        if is_small and writer.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] > SMALL_CACHE_BYTES:
            writer.pragma("shrink_memory")
        return result
