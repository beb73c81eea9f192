"""What is written to the conversation index of one agent, by whichever loop: one at a time, and told to the others."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memoryd.domain.documents import RelativePath
from memoryd.domain.text.entries import ChunkSettings
from memoryd.index.committing import Withdrawn
from memoryd.store.index.conversations import ConversationRow, KnownConversation
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent


@dataclass(frozen=True, slots=True)
class ConversationNews:
    """Whom to tell that something was written, or that texts were purged."""

    on_commit: Callable[[], None]
    on_purge: Callable[[], None]


class ConversationWriter:
    """Writes to one index, and remembers what it holds; all of it raises StoreError."""

    def __init__(
        self,
        *,
        database: Database,
        chunks: ChunkSettings,
        news: ConversationNews,
        trouble: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.lock = asyncio.Lock()
        """Held while a step is read and written, and while something is forgotten."""
        self.chunks = chunks
        self.forgotten = Withdrawn()
        """Those that nobody may be told of, though the index has them still."""
        self._database = database
        self._trouble = trouble
        """What its keeper says of the file."""
        self._news = news
        self._known: dict[RelativePath, KnownConversation] = {}
        self._epoch: int | None = None
        """Of the file that this is known of."""
        self._owes_purge = False

    @property
    def chunker(self) -> str:
        return self.chunks.fingerprint

    @property
    def is_open(self) -> bool:
        return self._database.is_open

    def why_closed(self) -> str:
        """Return why the file cannot be used; empty while it can, or is being opened."""
        return "" if self._database.is_open else self._trouble() or ""

    async def known(self) -> Mapping[RelativePath, KnownConversation]:
        """Return what the index holds."""
        if self._epoch != self._database.epoch:
            epoch = self._database.epoch
            self._known = await self._database.conversations.known()
            self._epoch = epoch
        return dict(self._known)

    async def distrust(self) -> None:
        """Have everything be read anew, whatever its source says has changed."""
        async with self.lock:
            await self._database.conversations.distrust()
            self._epoch = None

    async def row(self, path: RelativePath) -> ConversationRow | None:
        """Return how far a conversation was read, by the rules of today; None: it is to be read anew."""
        row = await self._database.conversations.row(path)
        return row if row is not None and row.chunker == self.chunker else None

    async def put(self, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
        """Keep what was read of a conversation."""
        await self._database.conversations.put(row, parts, is_afresh=is_afresh)
        self._known[row.path] = KnownConversation(row.stamp, row.chunker, row.problem)
        if parts or is_afresh:
            self._news.on_commit()

    async def purge(self, paths: Sequence[RelativePath]) -> None:
        """Remove conversations that are gone from their source."""
        async with self.lock:
            await self.erase(paths)
            await self.drop_remains()

    async def forget(self, path: RelativePath) -> int:
        """Remove a conversation, at once for whoever asks; return how many parts it had."""
        # if the index cannot be written now, it is told to nobody all the same
        self.forgotten.add([path])
        async with self.lock:
            removed = await self.erase([path])
            await self.drop_remains()
        return removed

    async def erase(self, paths: Sequence[RelativePath]) -> int:
        """Remove conversations; return how many parts they had. The caller holds the lock."""
        if not paths:
            return 0
        removed = await self._database.conversations.purge(paths)
        for path in paths:
            self._known.pop(path, None)
        self.forgotten.release(paths)
        self._owes_purge = self._owes_purge or bool(removed)
        if removed:
            self._news.on_purge()
        return removed

    async def drop_remains(self) -> None:
        """Rewrite the keyword index without what was purged, once for all of it, and cut the log that had it."""
        if self._owes_purge:
            await self._database.documents.drop_remains()
            self._news.on_purge()
            # after the rewriting, which the log holds too; if it fails, all of it is still owed
            await self._database.checkpoint()
            self._owes_purge = False
