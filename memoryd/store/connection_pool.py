"""All connections to one database file: one writer and several readers, which never wait for it (WAL)."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import apsw

from memoryd.domain.heartbeats import Pulse
from memoryd.store.file_opening import OpenFile, close_all
from memoryd.store.readers import Readers
from memoryd.store.running import Returned, Runner
from memoryd.store.write_ahead import WriteAheadLog
from memoryd.store.writer import Writer


class ConnectionPool:
    """What the verbs of the store run on: they hand in functions of a connection, which nobody else sees.

    Raises StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when the file
    is broken.
    """

    def __init__(self, runner: Runner, log: WriteAheadLog) -> None:
        self._runner = runner
        self._log = log
        self._readers = Readers(runner)
        self._writer = Writer(runner, log)

    @property
    def is_open(self) -> bool:
        return self._readers.is_open

    @property
    def writes(self) -> int:
        """Counts the transactions."""
        return self._writer.count

    @property
    def pulse(self) -> Pulse:
        """The signs of life of the writer."""
        return self._writer.pulse

    async def read(self, work: Callable[[apsw.Connection], Returned]) -> Returned:
        """Run `work` on a read-only connection; when the caller is cancelled, the query is interrupted."""
        return await self._readers.run(work)

    async def write(self, work: Callable[[apsw.Connection], Returned], *, busy_ms: int | None = None) -> Returned:
        """Run `work` in one transaction and return what it returns; any exception rolls back.

        `busy_ms`: how long the lock of another process is waited for, if not as long as always.
        """
        return await self._writer.run(work, busy_ms)

    def require_writer(self) -> None:
        """Raise StoreUnavailable if nothing can be written."""
        self._writer.require()

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing."""
        await self._writer.checkpoint()

    def attach(self, file: OpenFile) -> None:
        """Take connections, which `close` will close; nobody gets one before `note_open`."""
        self._readers.attach(file.readers)
        self._writer.attach(file.writer)

    def note_open(self, *, why_no_writer: str = "") -> None:
        """Say that the connections may be asked."""
        self._runner.forget()
        self._writer.note_absence(why_no_writer)
        self._readers.is_open = True

    async def close(self) -> None:
        """Interrupt what reads, wait for it, move the write-ahead log into the file and close every connection."""
        # the writer first: what it commits meanwhile is in the log before that is moved for the last time
        async with self._writer.stopped() as writer, self._readers.stopped() as readers:
            await self._runner.run(self._close, readers, writer)

    @asynccontextmanager
    async def reopening(self) -> AsyncIterator[None]:
        """Close all; questions wait until the end of the block, which is to open the file in some way."""
        with self._readers.holding_back():
            await self.close()
            yield

    def _close(self, readers: Sequence[apsw.Connection], writer: apsw.Connection | None) -> None:
        # the writer last: SQLite removes the log with the last connection, if that one may write
        close_all(readers)
        if writer is not None:
            self._log.finish(writer)
