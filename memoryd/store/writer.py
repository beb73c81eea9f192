"""The one connection that writes a database: one transaction after the other, and the log in between."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import apsw

from memoryd.domain.heartbeats import Pulse
from memoryd.errors import StoreUnavailable
from memoryd.store.connecting import BUSY_TIMEOUT_MS
from memoryd.store.running import Returned, Runner
from memoryd.store.write_ahead import WriteAheadLog

PROGRESS_STEPS = 1_000_000
"""How many steps of SQLite's machine lie between two signs of life of one statement: some tenth of a second."""


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

    async def run(self, work: Callable[[apsw.Connection], Returned], busy_ms: int | None = None) -> Returned:
        """Run `work` in one transaction and return what it returns; any exception rolls back.

        `busy_ms`: how long the lock of another process is waited for, if not as long as always.
        """
        # with the wait for the lock: it must come free, too
        with self.pulse.work():
            return await self._run_alone(work, busy_ms)

    async def _run_alone(self, work: Callable[[apsw.Connection], Returned], busy_ms: int | None) -> Returned:
        async with self._lock:
            # only within the lock: who had it before may have closed the file
            writer = self.require()
            try:
                return await self._runner.run(self._transact, writer, work, busy_ms)
            finally:
                # also after a failure: what of it was done, nobody knows
                self.count += 1

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing."""
        with self.pulse.work():
            async with self._lock:
                if self._connection is not None:
                    await self._runner.run(self._log.run, self._connection)

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[apsw.Connection | None]:
        """Wait for what runs, and give the connection away to be closed; nothing runs in the block."""
        async with self._lock:
            writer, self._connection = self._connection, None
            self._why_none = self._runner.wording.not_open
            yield writer

    def _get_on(self) -> bool:
        """Give a sign in the middle of a statement, which is not to be broken off."""
        self.pulse.beat()
        return False

    def _transact(
        self, writer: apsw.Connection, work: Callable[[apsw.Connection], Returned], busy_ms: int | None
    ) -> Returned:
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
        return result
