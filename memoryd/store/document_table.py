"""The documents of an index, by verbs: each is one transaction, and raises StoreError."""

from collections.abc import Sequence

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import Known
from memoryd.store.chunks import (
    ChunkRow,
    Counts,
    PassageRow,
    chunk_paths,
    chunk_rows,
    counts,
    matching_files,
    passages_of_hashes,
)
from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.document_rows import (
    FileContent,
    Indexed,
    Rename,
    drop_remains,
    flagged_files,
    is_indexed,
    known_files,
    purge_files,
    put_file,
    remove_files,
    rename_files,
    touch_file,
)
from memoryd.store.purges import Purges


class Documents:
    """Files and the chunks that they are cut into."""

    def __init__(self, pool: ConnectionPool, purges: Purges) -> None:
        self._pool = pool
        self._purges = purges

    async def known(self, chunker: str) -> dict[RelativePath, Known]:
        """Return every indexed file with the stat it was read at; stale is what another chunker cut."""
        return await self._pool.read(lambda db: known_files(db, chunker))

    async def is_indexed(self, path: str) -> bool:
        """Tell whether the index holds this very path."""
        return await self._pool.read(lambda db: is_indexed(db, path))

    async def flagged(self, limit: int) -> list[tuple[str, str]]:
        """Return path and flags of the first files that were not read as they are, or are copies of a conflict."""
        return await self._pool.read(lambda db: flagged_files(db, limit))

    async def matching(self, filters: Filters) -> list[int]:
        """Return the ids of the files that may answer."""
        return await self._pool.read(lambda db: matching_files(db, filters))

    async def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the chunks of these ids that still exist."""
        return await self._pool.read(lambda db: chunk_rows(db, ids))

    async def paths(self, ids: Sequence[int]) -> dict[int, RelativePath]:
        """Return the documents of the chunks of these ids that still exist."""
        return await self._pool.read(lambda db: chunk_paths(db, ids))

    async def passages_of_hashes(self, hashes: Sequence[bytes]) -> list[PassageRow]:
        """Return every passage that has one of the hashes."""
        return await self._pool.read(lambda db: passages_of_hashes(db, hashes))

    async def counts(self) -> Counts:
        """Count files, chunks, passages, vectors and the bytes of the database file."""
        return await self._pool.read(counts)

    async def put(self, files: Sequence[FileContent]) -> list[Indexed]:
        """Make the index hold these files with these chunks, all or none; what is alike costs a third of many puts."""
        return await self._pool.write(lambda db: [put_file(db, file) for file in files])

    async def touch(self, path: RelativePath, stat: FileStat, read_at_ns: int) -> None:
        """Note that the content was found unchanged at this stat."""
        await self._pool.write(lambda db: touch_file(db, path, stat, read_at_ns))

    async def rename(self, renames: Sequence[Rename]) -> None:
        """Give indexed files their new paths, in this order; chunks, passages and vectors stay."""
        await self._pool.write(lambda db: rename_files(db, renames))

    async def remove(self, gone: Sequence[RelativePath], *, purged: Sequence[RelativePath] = ()) -> int:
        """Drop files and everything that hangs on them, save vectors; return how many there were.

        Of the `purged` ones the vectors that only they used go, too.
        The words of those are only marked as deleted until `drop_remains`, which is to follow once for many files.
        """
        if not purged:
            return await self._pool.write(lambda db: remove_files(db, gone))
        with self._purges.counted():
            return await self._pool.write(lambda db: purge_files(db, purged) + remove_files(db, gone))

    async def drop_remains(self) -> None:
        """Drop what purged files left: words that are only marked as deleted, and vectors that no passage uses."""
        with self._purges.counted():
            await self._pool.write(drop_remains)
