"""The seam between engines: what answers a question, and how one says that it stands in for another."""

from typing import Protocol

from memoryd.search.query import Found, Query


class SearchBackend(Protocol):
    """Answers questions. An engine that cannot answer raises SidecarError; it never waits past the deadline."""

    async def search(self, query: Query) -> Found:
        """Return what it finds within the query's deadline."""
        ...
