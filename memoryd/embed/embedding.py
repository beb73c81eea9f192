"""The embedder that some agents share, made from their plan, with a second provider for while the first one fails.

A switch changes the vector space: vectors of the two are never compared. The second one starts only when it is needed.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from memoryd.config.providers import ModelsSection
from memoryd.domain.embedding import NONE
from memoryd.embed.choice import EmbedderPlan, ProviderSettings
from memoryd.embed.current import CurrentEmbedder, EmbedderPhase, EmbedderSource, EmbedderState, ProviderFallback
from memoryd.embed.local.local_model import LocalEmbedding, LocalSettings
from memoryd.embed.remote.embedding import RemoteEmbedding
from memoryd.embed.remote.gate import TokenBudget
from memoryd.embed.remote.settings import KeySources, RemoteSettings
from memoryd.models.store import ModelStore

log = structlog.get_logger(__name__)

NO_PROVIDER: Final = "memorySearch.provider is none"
POLL_SECONDS: Final = 1.0


class Embedding(Struct, frozen=True):
    """The embedder that some agents share: its plan, its slot, and what fills the slot (None: nothing)."""

    plan: EmbedderPlan
    slot: CurrentEmbedder
    source: EmbedderSource | None

    @property
    def local(self) -> LocalEmbedding | None:
        """The part that runs a model here, if one does."""
        return next((source for source in self._sources() if isinstance(source, LocalEmbedding)), None)

    @property
    def remote(self) -> RemoteEmbedding | None:
        """The part that sends text away, if one does; the first provider before its fallback."""
        return next((source for source in self._sources() if isinstance(source, RemoteEmbedding)), None)

    @property
    def sends(self) -> bool:
        """Whether notes go to the remote part now, rather than only while it stands in."""
        return isinstance(self.plan.first, RemoteSettings) or (
            self.slot.fallback_in_use is not None and self.remote is not None
        )

    def obstacle(self) -> str | None:
        """Return why no vectors will come until something changes; None while they come, or are on their way."""
        state = self.slot.state
        if state.phase is EmbedderPhase.OFF:
            return state.reason
        is_settled = state.phase in (EmbedderPhase.READY, EmbedderPhase.FAILED)
        # while the first is fetched, the second may be at work in a moment
        if is_settled or isinstance(self.source, FallbackEmbedding):
            return None if self.source is None else self.source.trouble()
        return state.reason if state.is_unreachable else None

    def _sources(self) -> Iterator[EmbedderSource]:
        if isinstance(self.source, FallbackEmbedding):
            yield self.source.first
            yield self.source.second
        elif self.source is not None:
            yield self.source


def build(
    plan: EmbedderPlan,
    models: ModelsSection,
    *,
    store: ModelStore,
    slot: CurrentEmbedder,
    book: TokenBudget,
    jobs: Path,
) -> Embedding:
    """Make the parts that a plan names; nothing runs yet. Batch jobs are noted in the folder `jobs`."""
    keys = KeySources(models, os.environ, plan.profiles)

    def source_of(settings: ProviderSettings, its: CurrentEmbedder) -> EmbedderSource:
        if isinstance(settings, LocalSettings):
            return LocalEmbedding(settings=settings, store=store, slot=its)
        return RemoteEmbedding(settings=settings, keys=keys, slot=its, book=book, jobs=jobs)

    if plan.first is None:
        slot.state = EmbedderState(EmbedderPhase.OFF, NO_PROVIDER)
        return Embedding(plan, slot, None)
    if plan.second is None:
        return Embedding(plan, slot, source_of(plan.first, slot))
    news = asyncio.Event()
    first, second = (CurrentEmbedder(lambda _state: news.set()) for _ in range(2))
    both = FallbackEmbedding(
        first=source_of(plan.first, first),
        second=source_of(plan.second, second),
        slot=slot,
        names=(plan.choice.provider, plan.choice.fallback or NONE),
        news=news,
    )
    return Embedding(plan, slot, both)


class FallbackEmbedding:
    """Mirrors into `slot` the source that is to be used now; `run` loops until cancelled.

    `news` is set whenever a slot of the two changes; `names` are what the two are called.
    """

    def __init__(
        self,
        *,
        first: EmbedderSource,
        second: EmbedderSource,
        slot: CurrentEmbedder,
        names: tuple[str, str],
        news: asyncio.Event,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.slot = slot
        self.first = first
        self.second = second
        self._names = names
        self._news = news
        self._poll_seconds = poll_seconds
        self._needed = asyncio.Event()
        self._outage: ProviderFallback | None = None

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
                async with asyncio.timeout(self._poll_seconds):
                    await self._news.wait()

    async def _mirror(self) -> None:
        self._note_failure(self.first.trouble())
        fallback_in_use = self._outage if self._is_second_ready() else None
        source = self.first if fallback_in_use is None else self.second
        there, here = source.slot, self.slot
        is_same = (there.embedder, there.state.phase, there.state.reason, fallback_in_use) == (
            here.embedder,
            here.state.phase,
            here.state.reason,
            here.fallback_in_use,
        )
        if not is_same:
            await here.become(
                there.state.phase, there.state.reason, embedder=there.embedder, fallback_in_use=fallback_in_use
            )
        if there.state.progress is not None and there.state.progress != here.state.progress:
            here.note_progress(there.state.progress)

    def _note_failure(self, reason: str | None) -> None:
        if reason is None:
            if self._outage is not None:
                log.info("back to the first provider", provider=self._names[0])
            self._outage = None
        elif self._outage is None:
            log.warning("a provider fails", provider=self._names[0], fallback_in_use=self._names[1], reason=reason)
            self._outage = ProviderFallback(*self._names, reason, datetime.now(UTC))
            self._needed.set()

    def _is_second_ready(self) -> bool:
        if self._outage is None or self.second.trouble() is not None:
            return False
        return self.second.slot.state.phase is EmbedderPhase.READY and self.second.slot.embedder is not None
