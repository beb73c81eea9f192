"""The conversations of an index, by verbs: each is one transaction, and raises StoreError."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from memoryd.domain.documents import RelativePath
from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.conversation_rows import (
    ConversationCounts,
    ConversationExtent,
    ConversationRow,
    KnownConversation,
    conversation_counts,
    conversation_extents,
    conversation_lines,
    conversation_row,
    distrust_conversations,
    known_conversations,
    part_paths,
    purge_conversations,
    put_parts,
)
from memoryd.store.document_rows import FileContent
from memoryd.store.purges import Purges


class Conversations:
    """What was read of each conversation; its parts are documents of the same index."""

    def __init__(self, pool: ConnectionPool, purges: Purges) -> None:
        self._pool = pool
        self._purges = purges

    async def known(self) -> dict[RelativePath, KnownConversation]:
        """Return every conversation that was read."""
        return await self._pool.read(known_conversations)

    async def row(self, path: RelativePath) -> ConversationRow | None:
        """Return how far a conversation was read, None if it was not."""
        return await self._pool.read(lambda db: conversation_row(db, path))

    async def put(self, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
        """Make the index hold these parts and note how far the source was read: after a kill, both or neither.

        `is_afresh`: they are all that is left of it.
        """
        with self._purges.counted() if is_afresh else nullcontext():
            await self._pool.write(lambda db: put_parts(db, row, parts, is_afresh=is_afresh))

    async def distrust(self) -> None:
        """Have every conversation count as cut by nobody's rules: it is read anew, and what is held stays so long."""
        await self._pool.write(distrust_conversations)

    async def purge(self, paths: Sequence[RelativePath]) -> int:
        """Drop conversations with the vectors that only they used, as `Documents.remove` does what is purged.

        Return how many parts there were.
        """
        with self._purges.counted():
            return await self._pool.write(lambda db: purge_conversations(db, paths))

    async def lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what the index holds of these lines, by number; those that say nothing are left out."""
        return await self._pool.read(lambda db: conversation_lines(db, path, first, last))

    async def parts(self, path: RelativePath) -> int:
        """Count the parts of a conversation."""
        return await self._pool.read(lambda db: len(part_paths(db, path)))

    async def extents(self) -> Mapping[RelativePath, ConversationExtent]:
        """Return how far each conversation goes."""
        return await self._pool.read(conversation_extents)

    async def counts(self) -> ConversationCounts:
        """Count conversations, parts and chunks."""
        return await self._pool.read(conversation_counts)
