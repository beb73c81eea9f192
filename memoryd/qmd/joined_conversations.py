"""An agent's conversations from two engines: its own index, and qmd over their exports; none is told twice."""

import asyncio
from dataclasses import replace
from typing import Protocol

from memoryd.domain.ranking.fusion import Weights
from memoryd.errors import SidecarError
from memoryd.search.combined import joined_hits
from memoryd.search.protocol import Found, Query, SearchBackend


class OptionalBackend(SearchBackend, Protocol):
    """An engine that may have nothing to be asked for."""

    @property
    def is_wanted(self) -> bool:
        """Whether it has."""
        ...


class JoinedConversations:
    """Asks both side by side. Without an index, or while nothing is indexed, qmd alone is asked."""

    def __init__(self, *, index: SearchBackend | None, exports: OptionalBackend, weights: Weights) -> None:
        self._index = index
        self._exports = exports
        self._weights = weights

    async def search(self, query: Query) -> Found:
        """Return the best of both; qmd that cannot answer costs its part. Raises SidecarError where it is alone."""
        if self._index is None:
            return await self._exports.search(query)
        if not self._exports.is_wanted:
            return await self._index.search(query)
        found, exported = await asyncio.gather(self._index.search(query), self._exported(query))
        if exported is None:
            return found
        told = {hit.chunk.path for hit in found.hits}
        new = replace(exported, hits=tuple(hit for hit in exported.hits if hit.chunk.path not in told))
        hits, misses = joined_hits(found, new, self._weights)
        return replace(found, hits=tuple(hits[: query.limit]), misses=tuple(misses[: query.limit]))

    async def _exported(self, query: Query) -> Found | None:
        try:
            return await self._exports.search(query)
        except SidecarError:
            # said already, where qmd answers for the notes
            return None
