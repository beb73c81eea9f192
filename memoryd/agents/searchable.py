"""Waiting until what was written is found by its words, or stands in the book."""

import asyncio
import contextlib
import time
from collections.abc import Set
from typing import Final

from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, changed_book
from memoryd.memory.book import MemoryBook

INDEXED_SECONDS: Final = 5.0
"""How long a reply waits until what was written is found by its words."""


async def is_searchable(index: WorkspaceIndex) -> bool:
    """Have what is on disk read at once, as for a question; return whether the index has it."""
    if await index.indexer.catching_up.catch_up(INDEXED_SECONDS, is_heard=False):
        # something is lacking, perhaps another note: wait until all is worked off
        try:
            async with asyncio.timeout(INDEXED_SECONDS):
                await index.settled(index.demand())
        except TimeoutError:
            return False
    return not index.why_held and index.trouble is None


async def caught_up_book(index: WorkspaceIndex, book: MemoryBook, seconds: float) -> Book:
    """Return all memories once the index has what is on disk now, or after these seconds; raises StoreError.

    What the index holds still of files that are gone is left out: an undo may have taken the whole file back.
    """
    until = time.monotonic() + seconds
    if await index.catch_up(seconds) and (left := until - time.monotonic()) > 0:
        # a note that no question waits for may be the one that was written
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await index.settled(index.demand())
    told, gone = await book.now(), index.indexer.gone
    return await asyncio.to_thread(_without_files, told, gone) if gone else told


def _without_files(book: Book, gone: Set[RelativePath]) -> Book:
    stale = [source for memory in book.memories.values() for source in memory.sources if source.path in gone]
    return changed_book(book, stale, (), book.pages.values()) if stale else book
