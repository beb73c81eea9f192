"""Which chunks of the index an asker may not see: they are neither found nor told, nor counted."""

from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import beyond_reach
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.store.index.database import Database

_REMEMBERED: Final = 16
"""Askers; each is an agent in a channel."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """What an asker may not see: memories; and their chunks, with all others that stand under a scope."""

    memories: frozenset[MemoryId] = frozenset()
    chunks: frozenset[int] = frozenset()


class HiddenChunks:
    """Tells what is hidden in one workspace; remembered while nothing is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._moment: tuple[int, int] = (-1, -1)
        self._book: Book | None = None
        self._known: dict[MemoryReach, Hidden] = {}

    async def of(self, book: Book, reach: MemoryReach) -> Hidden:
        """Return what is hidden from an asker; raises StoreError."""
        moment = (self._database.epoch, self._database.writes)
        if book is not self._book or moment != self._moment or len(self._known) > _REMEMBERED:
            self._book, self._moment, self._known = book, moment, {}
        known = self._known
        if reach not in known:
            # into the table of the moment at which it was looked up
            known[reach] = await self._hidden(book, reach)
        return known[reach]

    async def _hidden(self, book: Book, reach: MemoryReach) -> Hidden:
        beyond = beyond_reach(book, reach)
        chunks = (source.chunk for key in beyond for source in book.memories[key].sources)
        scoped = await self._database.memories.scoped()
        return Hidden(beyond, frozenset([*chunks, *(one for one in scoped if not reach.admits(scoped[one]))]))
