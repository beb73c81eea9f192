"""An embedder under watch: notes how its calls end, and says when the common rule gives it up."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from memoryd.domain.breaker import Breaker, BreakerRule, Circuit
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Passage, Unembeddable, Vector
from memoryd.errors import EmbedderUnavailable

Result = TypeVar("Result")

PROBE: Final = "Is anybody there?"


class WatchedEmbedder:
    """Passes documents on; a question that comes while the back-off runs is refused at once: somebody waits for it.

    A failure counts only when the back-off of the one before has passed, so that a burst is one failure; while the
    endpoint `is_busy` for us, that it has no answer yet is none.
    """

    def __init__(self, inner: Embedder, rule: BreakerRule, *, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._inner = inner
        self._is_busy = is_busy
        self._breaker = Breaker(rule=rule)
        self._reason = ""
        self._given_up = asyncio.Event()

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space."""
        return self._inner.identity

    @property
    def trouble(self) -> str | None:
        """Why it is given up, None while it is not."""
        return self._reason if self._given_up.is_set() else None

    async def given_up(self) -> None:
        """Wait until it is given up."""
        await self._given_up.wait()

    async def embed_query(self, text: str) -> Vector:
        """Ask; raises as the embedder does."""
        wait = self._breaker.wait(time.monotonic())
        if wait > 0:
            raise EmbedderUnavailable(f"{self._reason}; next try in {wait:.0f} s")
        return await self._noted(self._inner.embed_query(text))

    async def probe(self) -> None:
        """Ask in spite of the back-off; raises as the embedder does."""
        await self._noted(self._inner.embed_query(PROBE))

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Ask; raises as the embedder does."""
        return await self._noted(self._inner.embed_documents(passages))

    async def _noted(self, call: Awaitable[Result]) -> Result:
        try:
            result = await call
        except EmbedderUnavailable as exc:
            if not self._is_busy():
                self._failed(str(exc))
            raise
        self._breaker = self._breaker.succeeded()
        self._given_up.clear()
        return result

    def _failed(self, reason: str) -> None:
        now = time.monotonic()
        self._reason = reason
        if self._breaker.allows(now):
            self._breaker = self._breaker.tried(now).failed(now, random.random())
        if self._breaker.circuit is not Circuit.CLOSED:
            self._given_up.set()
