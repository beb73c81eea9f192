"""One index file, usable from asyncio: what it holds, by verbs."""

from concurrent.futures import Executor
from pathlib import Path

from memoryd.store.connection import Connector
from memoryd.store.database_file import DatabaseFile
from memoryd.store.index.conversations import Conversations
from memoryd.store.index.documents import Documents
from memoryd.store.index.memories import MemoryTable
from memoryd.store.index.schema import check_tables, prepare_index, problems
from memoryd.store.index.vectors import Purges, Vectors
from memoryd.store.index.words import Words


class Database(DatabaseFile):
    """An index of documents; `open`, or `open_to_read`, and `close` frame each of its lives.

    The verbs of `documents`, `memories`, `conversations`, `vectors` and `words` are one transaction each. They raise
    StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when the file is
    broken. After either, `trouble` and `damage` say what a reopening must deal with.
    """

    def __init__(
        self, *, path: Path, executor: Executor, vector_extension: Path | None = None, loads_vectors: bool = True
    ) -> None:
        super().__init__(Connector(path, vector_extension=vector_extension, loads_vectors=loads_vectors), executor)
        purges = Purges()
        self.documents = Documents(self, purges)
        self.memories = MemoryTable(self)
        self.conversations = Conversations(self, purges)
        self.vectors = Vectors(self, purges)
        self.words = Words(self)

    @property
    def vector_error(self) -> str | None:
        """Why `vectors.nearest` cannot answer."""
        return self._connector.vector_error

    async def open(self) -> None:
        """Open the file, or make it; raises DamagedDatabase if its tables are not those of this version."""
        await self._open_to_write(prepare_index)

    async def open_to_read(self, *, why: str) -> None:
        """Open a file that has our tables and that cannot be written now, `why` being the reason."""
        await self._open_to_read(check_tables, why=why)

    async def problems(self) -> list[str]:
        """Return what is wrong inside the file: broken pages, or rows that lack their counterpart."""
        return await self.read(problems)
