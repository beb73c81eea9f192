"""Waiting until what was written is found by its words."""

import asyncio
from typing import Final

from memoryd.agents.workspace_index import WorkspaceIndex

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
