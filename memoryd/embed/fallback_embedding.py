"""A second provider that stands in while the first one fails, with vectors of its own.

The slot's embedder changes, and with it the vector space: vectors of the two are never compared. The second one is
not even started before it is needed.
"""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Final

import structlog

from memoryd.embed.embedder_source import EmbedderSource
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, StandIn

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0


class FallbackEmbedding:
    """Mirrors into `slot` the source that is to be used now; `run` loops until cancelled.

    `news` is set whenever a slot of the two changes; `names` are what the two are called.
    """

    def __init__(
        self,
        *,
        first: EmbedderSource,
        second: EmbedderSource,
        slot: EmbedderSlot,
        names: tuple[str, str],
        news: asyncio.Event,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.slot = slot
        self.first = first
        self.second = second
        self._names = names
        self._news = news
        self._look_seconds = look_seconds
        self._needed = asyncio.Event()
        self._outage: StandIn | None = None

    def trouble(self) -> str | None:
        """Return why neither can embed."""
        return self.first.trouble() if self.second.trouble() is not None else None

    async def run(self) -> None:
        """Run the first, the second from when it is first needed, and tell the slot which of them embeds."""
        await asyncio.gather(self.first.run(), self._run_second(), self._watch())

    async def _run_second(self) -> None:
        await self._needed.wait()
        await self.second.run()

    async def _watch(self) -> None:
        while True:
            self._news.clear()
            await self._mirror()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._look_seconds):
                    await self._news.wait()

    async def _mirror(self) -> None:
        self._note_outage(self.first.trouble())
        stand_in = self._outage if self._is_second_ready() else None
        source = self.first if stand_in is None else self.second
        there, here = source.slot, self.slot
        is_same = (there.embedder, there.state.phase, there.state.reason, stand_in) == (
            here.embedder,
            here.state.phase,
            here.state.reason,
            here.stand_in,
        )
        if not is_same:
            await here.become(there.state.phase, there.state.reason, embedder=there.embedder, stand_in=stand_in)
        if there.state.progress is not None and there.state.progress != here.state.progress:
            here.note_progress(there.state.progress)

    def _note_outage(self, reason: str | None) -> None:
        if reason is None:
            if self._outage is not None:
                log.info("back to the first provider", provider=self._names[0])
            self._outage = None
        elif self._outage is None:
            log.warning("a provider fails", provider=self._names[0], stand_in=self._names[1], reason=reason)
            self._outage = StandIn(*self._names, reason, datetime.now(UTC))
            self._needed.set()

    def _is_second_ready(self) -> bool:
        if self._outage is None or self.second.trouble() is not None:
            return False
        return self.second.slot.state.phase is EmbedderPhase.READY and self.second.slot.embedder is not None
