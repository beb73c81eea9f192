"""Which row of the index stands for an embedder's vector space."""

import time

from memoryd.embed.protocol import Embedder
from memoryd.store.index.database import Database


class Spaces:
    """Finds the space of an embedder in one index, and remembers it while the file stays the same."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, int], int] = {}

    async def of(self, embedder: Embedder) -> int:
        """Return the id of the embedder's space, made if it is new; raises StoreError."""
        identity, now = embedder.identity, time.time()
        key = (identity.fingerprint, self._database.epoch)
        if key not in self._known:
            # an index that can only be read still answers with the vectors it has
            found = await self._database.vectors.find_space(identity.fingerprint)
            self._known[key] = (
                found
                if found is not None
                else await self._database.vectors.open_space(
                    fingerprint=identity.fingerprint,
                    provider=identity.provider,
                    model=identity.model,
                    dimensions=identity.dimensions,
                    now=now,
                )
            )
        return self._known[key]
