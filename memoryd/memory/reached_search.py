"""Search without the memories of others: agents that share a workspace may have lines of their own in one log."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.errors import StoreError
from memoryd.memory.cleared_rows import cleared_hits
from memoryd.memory.hidden_chunks import Hidden, HiddenChunks
from memoryd.search.protocol import Found, Query, SearchBackend, Untold
from memoryd.store.index.database import Database


class ReachedSearch:
    """Asks `inner`; what states a memory beyond the reach of whoever asks is neither found nor told, nor counted.

    The index may learn of such a line between the look at the book and the search, and another engine cuts documents
    otherwise: so the text of every hit is looked at, too.
    """

    def __init__(self, *, inner: SearchBackend, book: Callable[[], Awaitable[Book]], database: Database) -> None:
        self._inner = inner
        self._book = book
        self._hidden = HiddenChunks(database)

    async def search(self, query: Query) -> Found:
        """Return what is found within the query's deadline."""
        reach = query.reach
        if reach is None:
            return await self._inner.search(query)
        hidden = await self._beyond(reach)
        found = await self._inner.search(replace(query, untold=query.untold | Untold(chunks=hidden.chunks)))
        hits = tuple(cleared_hits(found.hits, reach))
        misses = tuple(cleared_hits(found.misses, reach))
        return found if (hits, misses) == (found.hits, found.misses) else replace(found, hits=hits, misses=misses)

    async def _beyond(self, reach: MemoryReach) -> Hidden:
        try:
            return await self._hidden.of(await self._book(), reach)
        except StoreError:
            # the search itself says so
            return Hidden()
