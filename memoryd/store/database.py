"""One index file, usable from asyncio: its life cycle, and what it holds by verbs.

Writes of a database run one after the other, each in its own transaction; readers never wait for them.
All databases of the daemon share one small thread pool.
"""

from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from pathlib import Path

from memoryd.store.connecting import Connector
from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.document_table import Documents
from memoryd.store.file_opening import OpenFile, open_to_read, open_to_write
from memoryd.store.index_schema import check_tables, prepare_index, problems
from memoryd.store.running import Runner
from memoryd.store.vector_table import Vectors
from memoryd.store.word_table import Words
from memoryd.store.write_ahead import WriteAheadLog


class Database:
    """An index of documents; `open`, or `open_to_read`, and `close` frame each of its lives.

    The verbs of `documents`, `vectors` and `words` are one transaction each. They raise StoreUnavailable when the
    disk, a lock or the closed state stands in the way, DamagedDatabase when the file is broken. After either,
    `trouble` and `damage` say what a reopening must deal with.
    """

    def __init__(
        self, *, path: Path, executor: Executor, vector_extension: Path | None = None, loads_vectors: bool = True
    ) -> None:
        self.path = path
        self.epoch = 0
        """Counts the openings: numbers of chunks, vectors and spaces of another epoch mean nothing."""
        self.why_read_only: str | None = None
        """What keeps an open file from being written."""
        self._connector = Connector(path, vector_extension=vector_extension, loads_vectors=loads_vectors)
        self._runner = Runner(executor)
        self._log = WriteAheadLog(path)
        self._pool = ConnectionPool(self._runner, self._log)
        self._inode: int | None = None
        self.documents = Documents(self._pool)
        self.vectors = Vectors(self._pool)
        self.words = Words(self._pool)

    @property
    def is_open(self) -> bool:
        return self._pool.is_open

    @property
    def writes(self) -> int:
        """Counts the transactions: as long as it stands still, so does what the file holds."""
        return self._pool.writes

    @property
    def damage(self) -> str | None:
        """What is broken in the file, as of the last error."""
        return self._runner.damage

    @property
    def trouble(self) -> str | None:
        """Why the file is to be opened anew, though it is sound."""
        return self._runner.trouble

    @property
    def vector_error(self) -> str | None:
        """Why `vectors.nearest` cannot answer."""
        return self._connector.vector_error

    async def open(self) -> None:
        """Open the file, or make it; raises DamagedDatabase if its tables are not those of this version."""
        await self._runner.run(lambda: self._attach(open_to_write(self._connector, self._log, prepare_index)))
        self._note_open(None)

    async def open_to_read(self, *, why: str) -> None:
        """Open a file that has our tables and that cannot be written now, `why` being the reason."""
        await self._runner.run(lambda: self._attach(open_to_read(self._connector, self._log, check_tables)))
        self._note_open(why)

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

    def require_writable(self) -> None:
        """Raise StoreUnavailable if nothing can be written: for work that would be in vain."""
        self._pool.require_writer()

    async def problems(self) -> list[str]:
        """Return what is wrong inside the file: broken pages, or rows that lack their counterpart."""
        return await self._pool.read(problems)

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and cut it to nothing, so that deleted text is in neither."""
        await self._pool.checkpoint()

    def _attach(self, file: OpenFile) -> None:
        # still in the thread: when whoever waits for it gives up, `close` must find what was opened meanwhile
        self._pool.attach(file)
        self._inode = file.inode

    def _note_open(self, why_read_only: str | None) -> None:
        self.why_read_only = why_read_only
        self.epoch += 1
        self._pool.note_open(why_no_writer=f"the index cannot be written: {why_read_only}")
