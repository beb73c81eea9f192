"""One vector for all who ask the same at the same time: notes and conversations of an agent do, with every question."""

import asyncio

from memoryd.domain.embedding import Vector
from memoryd.embed.protocol import Embedder


class SharedQuestions:
    """Embeds a question once while several wait for it; nothing is kept afterwards."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[str, str], asyncio.Future[Vector | None]] = {}

    async def embedded(self, embedder: Embedder, text: str) -> Vector:
        """Return the vector of a question; raises EmbeddingError."""
        key = embedder.identity.fingerprint, text
        while (others := self._under_way.get(key)) is not None:
            # shielded: who gives up must not take it from the others
            vector = await asyncio.shield(others)
            if vector is not None:
                return vector
            # whoever asked had no more time, or no luck
        mine: asyncio.Future[Vector | None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        vector = None
        try:
            vector = await embedder.embed_query(text)
            return vector
        finally:
            del self._under_way[key]
            mine.set_result(vector)
