"""The life cycle of one database file, whatever its tables are: open, check whether it is still the same, close.

Writes of a database run one after the other, each in its own transaction; readers never wait for them.
All databases of the daemon share one small thread pool.
"""

from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial

from memoryd.domain.documents import FileStat
from memoryd.domain.heartbeats import Pulse
from memoryd.store.connection import INDEX, Connector, Wording
from memoryd.store.opening import Check, OpenFile, WriteAheadLog, open_to_read, open_to_write
from memoryd.store.pool import ConnectionPool, Runner


class DatabaseFile:
    """One file and the connections to it; an opening and `close` frame each of its lives.

    After a StoreError `trouble` and `damage` say what a reopening must deal with.
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
        self._pool = ConnectionPool(self._runner, self._log)
        self._inode: int | None = None

    @property
    def is_open(self) -> bool:
        return self._pool.is_open

    @property
    def writes(self) -> int:
        """Counts the transactions: as long as it stands still, so does what the file holds."""
        return self._pool.writes

    @property
    def pulse(self) -> Pulse:
        """The signs of life of whoever writes it."""
        return self._pool.pulse

    @property
    def damage(self) -> str | None:
        """What is broken in the file, as of the last error."""
        return self._runner.damage

    @property
    def trouble(self) -> str | None:
        """Why the file is to be opened anew, though it is sound."""
        return self._runner.trouble

    async def close(self) -> None:
        """Interrupt what reads, wait for it, move the write-ahead log into the file and close every connection."""
        await self._pool.close()

    @asynccontextmanager
    async def reopening(self) -> AsyncIterator[None]:
        """Close the file; questions wait until the end of the block, which is to open it in some way."""
        async with self._pool.reopening():
            yield

    def is_replaced(self) -> bool:
        """Tell whether the path no longer leads to the file that is open. Blocks for one stat."""
        try:
            return self.is_open and self.path.stat().st_ino != self._inode
        except OSError:
            return True

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, so that deleted text is in neither."""
        await self._pool.checkpoint()

    async def _open_to_write(self, prepare: Check) -> None:
        await self._runner.run(lambda: self._attach(open_to_write(self._connector, self._log, prepare)))
        self._note_open(None)

    async def _open_to_read(self, check: Check, *, why: str, leaves_folder: bool = False) -> None:
        opening = partial(open_to_read, self._connector, self._log, check, leaves_folder=leaves_folder)
        await self._runner.run(lambda: self._attach(opening()))
        self._note_open(why)

    def _attach(self, file: OpenFile) -> None:
        # still in the thread: when whoever waits for it gives up, `close` must find what was opened meanwhile
        self._pool.attach(file)
        self._inode = file.inode

    def _note_open(self, why_read_only: str | None) -> None:
        self.why_read_only = why_read_only
        self.epoch += 1
        self._pool.note_open(why_no_writer=f"{self._runner.wording.name} cannot be written: {why_read_only}")


_MAX_INTEGER = 2**63 - 1


def stored_stat(stat: FileStat) -> tuple[int, int, int, int, int]:
    """Return device, inode, size, mtime and ctime as they are stored; a time beyond the year 2262 is the last one."""
    device, inode = (number - 2**64 if number > _MAX_INTEGER else number for number in (stat.device, stat.inode))
    mtime_ns, ctime_ns = (min(max(at, -_MAX_INTEGER), _MAX_INTEGER) for at in (stat.mtime_ns, stat.ctime_ns))
    return device, inode, stat.size, mtime_ns, ctime_ns


def file_stat_of(device: int, inode: int, size: int, mtime_ns: int, ctime_ns: int) -> FileStat:
    """Return the stat that was stored."""
    return FileStat(device % 2**64, inode % 2**64, size, mtime_ns, ctime_ns)
