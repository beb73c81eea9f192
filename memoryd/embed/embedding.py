"""The embedder that some agents share, made from their plan."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.config.providers import ModelsSection
from memoryd.domain.embedding import NONE
from memoryd.embed.choice import EmbedderPlan, ProviderSettings
from memoryd.embed.embedder_source import EmbedderSource
from memoryd.embed.fallback_embedding import FallbackEmbedding
from memoryd.embed.local.local_embedding import LocalEmbedding, LocalSettings
from memoryd.embed.remote.api_keys import KeySources
from memoryd.embed.remote.remote_embedding import RemoteEmbedding
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.embed.remote.spending import SpendingBook
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.models.store import ModelStore

NO_PROVIDER: Final = "memorySearch.provider is none"


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder that some agents share: its plan, its slot, and what fills the slot (None: nothing)."""

    plan: EmbedderPlan
    slot: EmbedderSlot
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
            self.slot.stand_in is not None and self.remote is not None
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
        return state.reason if state.is_out_of_reach else None

    def _sources(self) -> Iterator[EmbedderSource]:
        if isinstance(self.source, FallbackEmbedding):
            yield self.source.first
            yield self.source.second
        elif self.source is not None:
            yield self.source


def build(
    plan: EmbedderPlan, models: ModelsSection, *, store: ModelStore, slot: EmbedderSlot, book: SpendingBook, jobs: Path
) -> Embedding:
    """Make the parts that a plan names; nothing runs yet. Batch jobs are noted in the folder `jobs`."""
    keys = KeySources(models, os.environ, plan.profiles)

    def source_of(settings: ProviderSettings, its: EmbedderSlot) -> EmbedderSource:
        if isinstance(settings, LocalSettings):
            return LocalEmbedding(settings=settings, store=store, slot=its)
        return RemoteEmbedding(settings=settings, keys=keys, slot=its, book=book, jobs=jobs)

    if plan.first is None:
        slot.state = EmbedderState(EmbedderPhase.OFF, NO_PROVIDER)
        return Embedding(plan, slot, None)
    if plan.second is None:
        return Embedding(plan, slot, source_of(plan.first, slot))
    news = asyncio.Event()
    first, second = (EmbedderSlot(lambda _state: news.set()) for _ in range(2))
    both = FallbackEmbedding(
        first=source_of(plan.first, first),
        second=source_of(plan.second, second),
        slot=slot,
        names=(plan.choice.provider, plan.choice.fallback or NONE),
        news=news,
    )
    return Embedding(plan, slot, both)
