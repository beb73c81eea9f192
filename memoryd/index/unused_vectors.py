"""Vectors that no passage has any more: a cache for texts that come back, and bounded."""

from collections.abc import Callable, Sequence

import structlog

from memoryd.embed.current import EmbedderSlot
from memoryd.errors import StoreError
from memoryd.index.spaces import Spaces
from memoryd.store.index.database import Database

log = structlog.get_logger(__name__)

SPARE_SHARE = 20
"""Of the unused vectors that may be kept, one in so many goes beforehand."""


class UnusedVectors:
    """Keeps at most `limit` of them; those in the spaces of the `providers` for present passages are in use."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        slot: EmbedderSlot,
        limit: int,
        providers: Sequence[str],
        on_removed: Callable[[], None],
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._slot = slot
        self._limit = limit
        self._providers = providers
        self._on_removed = on_removed
        self._is_checked = False

    def look_again(self) -> None:
        """Say that there may be more of them than at the last look."""
        self._is_checked = False

    async def bound(self) -> None:
        """Drop those that have been unused longest, if there are too many; tried again if the store refuses."""
        if self._is_checked:
            return
        # before the first await: what is removed meanwhile asks for another look
        self._is_checked = True
        vectors, embedder = self._database.vectors, self._slot.embedder
        try:
            current = set() if embedder is None else {await self._spaces.of(embedder)}
            in_use = current | await vectors.spaces_of(self._providers)
            if await vectors.count_unused(in_use) <= self._limit:
                return
            # some more than must go, for whoever holds vectors in memory has to load them anew each time
            dropped = await vectors.evict_unused(in_use, self._limit - self._limit // SPARE_SHARE)
        except StoreError:
            self._is_checked = False
            return
        self._on_removed()
        log.info("vectors dropped that nothing uses", dropped=dropped)
