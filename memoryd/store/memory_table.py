"""The memories of an index, by verbs: each is one transaction, and raises StoreError."""

from collections.abc import Collection, Mapping

from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.memory_rows import FileVersion, MemoryCounts, MemoryFiles, memory_counts, memory_files, scoped_chunks


class MemoryTable:
    """Which documents state memories, by which lines, and which are pages of entities."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    async def files(self, known: Collection[FileVersion] = ()) -> MemoryFiles:
        """Return all files that state memories, with the lines of those whose version is not among the `known`."""
        return await self._pool.read(lambda db: memory_files(db, known))

    async def scoped(self) -> Mapping[int, str]:
        """Return the chunks that stand under a scope and state no memory, with it."""
        return await self._pool.read(scoped_chunks)

    async def counts(self) -> MemoryCounts:
        """Count memories, the lines that state them, and pages of entities."""
        return await self._pool.read(memory_counts)
