"""All connections to one database file: one writer, and several readers that never wait for it (WAL).

Blocking work runs on threads shared by all databases of the daemon. A reader takes a free connection, and waits while
the file is being reopened. The writer runs one transaction at a time, and checkpoints the log in between.
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
from memoryd.retry import wait_within
from memoryd.store.connection import BUSY_TIMEOUT_MS, Wording, mapped_errors
from memoryd.store.opening import READERS, WriteAheadLog

Returned = TypeVar("Returned")
Transaction = Callable[[apsw.Connection], Returned]
"""The work of one transaction, on a connection that no one else uses."""

INTERRUPT_SECONDS = 0.05
"""How often an interrupt is repeated until the query ends: a query that has not started ignores it."""


def _no_interrupt() -> None:
    pass


class Runner:
    """Runs the work of one database, and stores what errors say about the file until `forget`."""

    def __init__(self, executor: Executor, wording: Wording) -> None:
        self.wording = wording
        self.damage: str | None = None
        """What is damaged in the file."""
        self.trouble: str | None = None
        """Why an undamaged file may have to be reopened."""
        self._executor = executor

    def forget(self) -> None:
        """Clear damage and trouble: the file was reopened."""
        self.damage = self.trouble = None

    async def run(
        self, function: Callable[..., Returned], *arguments: object, interrupt: Callable[[], None] = _no_interrupt
    ) -> Returned:
        """Run a function and return its result; raises StoreUnavailable and DamagedDatabase.

        A cancelled caller waits until the function has ended; `interrupt` is called to end it early.
        """
        work = functools.partial(function, *arguments)
        running = asyncio.get_running_loop().run_in_executor(self._executor, _run_mapped, work, self.wording)
        try:
            # shielded: a thread cannot be cancelled, and would go on unobserved if the future was dropped
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # The function must end before anyone else uses its connection, even if the caller is cancelled twice: by a
            # deadline, and by a client that disconnects.
            while not running.done():
                interrupt()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            # no caller gets this error any longer; retrieve it, or asyncio logs it as never retrieved
            if not running.cancelled():
                running.exception()
            raise
        except DamagedDatabase as exc:
            self.damage = str(exc)
            raise
        except StoreUnavailable as exc:
            # a full disk or a lock passes by itself; after these errors, the connections may be of a deleted file
            if isinstance(exc.__cause__, (apsw.IOError, apsw.SQLError)):
                self.trouble = str(exc)
            raise


def _run_mapped(work: Callable[[], Returned], wording: Wording) -> Returned:
    with mapped_errors(wording):
        return work()


def _after_rollback(work: Transaction[Returned], reader: apsw.Connection) -> Returned:
    """End a transaction that an interrupt left open, in which `work` would see old data, and run `work`."""
    if reader.in_transaction:
        reader.execute("ROLLBACK")
    return work(reader)


REOPEN_SECONDS = 5.0
"""How long a query waits at most for a file that is being reopened."""


class Readers:
    """Runs queries, as many at once as there are connections, each on a thread."""

    def __init__(self, runner: Runner) -> None:
        self.is_open = False
        self._runner = runner
        self._idle: list[apsw.Connection] = []
        self._busy: list[apsw.Connection] = []
        self._slots = asyncio.Semaphore(READERS)
        self._is_settled = asyncio.Event()
        """Cleared while the file is being reopened; queries then wait for the result."""
        self._is_settled.set()

    def attach(self, connections: Sequence[apsw.Connection]) -> None:
        """Take open connections; no query gets one before `is_open` is set."""
        self._idle = list(connections)

    async def run(self, work: Transaction[Returned]) -> Returned:
        """Run `work` on a connection; if the caller is cancelled, the query is interrupted."""
        end = time.monotonic() + REOPEN_SECONDS
        while True:
            if not self._is_settled.is_set():
                await wait_within(self._is_settled.wait(), end - time.monotonic())
            async with self._slots:
                # A reopening may have begun in between. Do not wait for it in a slot: closing waits until all slots are
                # free.
                if self.is_open or self._is_settled.is_set() or time.monotonic() >= end:
                    return await self._run(work)

    async def _run(self, work: Transaction[Returned]) -> Returned:
        if not self.is_open:
            raise StoreUnavailable(self._runner.wording.not_open)
        # a holder of a slot always gets a connection: there are as many slots as connections
        reader = self._idle.pop()
        self._busy.append(reader)
        try:
            return await self._runner.run(_after_rollback, work, reader, interrupt=reader.interrupt)
        finally:
            self._busy.remove(reader)
            self._idle.append(reader)

    @contextlib.contextmanager
    def blocked(self) -> Iterator[None]:
        """Make new queries wait until the end of the block."""
        self._is_settled.clear()
        try:
            yield
        finally:
            self._is_settled.set()

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[list[apsw.Connection]]:
        """Interrupt running queries, wait for them, and yield the connections to close; nothing runs in the block.

        If the caller is cancelled before the block, everything is as before.
        """
        was_open, self.is_open = self.is_open, False
        taken = 0
        try:
            while taken < READERS:
                if await wait_within(self._slots.acquire(), INTERRUPT_SECONDS):
                    taken += 1
                    continue
                # repeatedly: a query that has not started ignores an interrupt
                for reader in self._busy:
                    reader.interrupt()
            readers, self._idle, was_open = self._idle, [], False
            yield readers
        finally:
            self.is_open = was_open
            for _ in range(taken):
                self._slots.release()


PROGRESS_STEPS = 1_000_000
"""Number of SQLite VM steps between two heartbeats of one statement: some tenths of a second."""
SMALL_PAGES, SMALL_CACHE_BYTES = 100, 4 * 2**20
"""A transaction that writes fewer pages is small, and after it the writer's cache is limited to this size."""


class Writer:
    """Runs transactions, each in its own `BEGIN IMMEDIATE`, and checkpoints the write-ahead log."""

    def __init__(self, runner: Runner, log: WriteAheadLog) -> None:
        self.count = 0
        """Number of transactions, including failed ones."""
        self.pulse = Pulse()
        """Busy while a transaction is awaited; the end of each, and progress of a long statement, are heartbeats."""
        self._runner = runner
        self._log = log
        self._connection: apsw.Connection | None = None
        self._why_none = runner.wording.not_open
        self._lock = asyncio.Lock()
        """Held while anything runs on the connection:

        SQLite would merge statements of two callers into one transaction.
        """

    def attach(self, connection: apsw.Connection | None) -> None:
        """Take an open connection, if there is one."""
        self._connection = connection
        if connection is not None:
            # a vacuum, or the deletion of a million rows, is one statement
            connection.set_progress_handler(self._on_progress, PROGRESS_STEPS)

    def note_absence(self, why: str) -> None:
        """Set the reason why there is no connection."""
        self._why_none = why

    def require(self) -> apsw.Connection:
        """Return the connection; raises StoreUnavailable if there is none."""
        if self._connection is None:
            raise StoreUnavailable(self._why_none)
        return self._connection

    async def run(self, work: Transaction[Returned], busy_ms: int | None, *, is_interruptible: bool) -> Returned:
        """Run `work` in one transaction, as described at `DatabaseFile.write`."""
        # includes the wait for the lock, which must become free, too
        with self.pulse.work():
            async with self._lock:
                # checked inside the lock: its last holder may have closed the file
                writer = self.require()
                interrupt = writer.interrupt if is_interruptible else _no_interrupt
                try:
                    return await self._runner.run(self._transact, writer, work, busy_ms, interrupt=interrupt)
                finally:
                    # also after a failure, because part of the work may be done
                    self.count += 1

    async def ask(self, step: Transaction[Returned]) -> Returned:
        """Run `step` outside a transaction, on data of this connection only, not of the file."""
        with self.pulse.work():
            async with self._lock:
                return await self._runner.run(step, self.require())

    async def checkpoint(self) -> None:
        """Checkpoint the write-ahead log into the file and truncate it."""
        with self.pulse.work():
            async with self._lock:
                if self._connection is not None:
                    await self._runner.run(self._log.run, self._connection)

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Wait for running work; nothing runs in the block."""
        async with self._lock:
            yield

    def detach(self) -> apsw.Connection | None:
        """Return the connection to be closed, and forget it; only while stopped."""
        writer, self._connection = self._connection, None
        self._why_none = self._runner.wording.not_open
        return writer

    def _on_progress(self) -> bool:
        """Send a heartbeat during a statement, without interrupting it."""
        self.pulse.beat()
        return False

    def _transact(self, writer: apsw.Connection, work: Transaction[Returned], busy_ms: int | None) -> Returned:
        if busy_ms is not None:
            writer.set_busy_timeout(busy_ms)
        try:
            # take the write lock first: upgrading after a read fails if another process has written in between
            writer.execute("BEGIN IMMEDIATE")
        finally:
            if busy_ms is not None:
                writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        try:
            self._log.before_write(writer)
            result = work(writer)
            writer.execute("COMMIT")
        except BaseException:
            # after some errors, such as a full disk, SQLite has already rolled back
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        # inside the lock: the checkpoint runs transactions of its own
        self._log.run_if_due(writer, BUSY_TIMEOUT_MS)
        is_small = writer.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)[0] < SMALL_PAGES
        if is_small and writer.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] > SMALL_CACHE_BYTES:
            writer.pragma("shrink_memory")
        return result
