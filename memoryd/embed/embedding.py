"""The embedder that some agents share: remote or local, with a second provider for while the first one fails.

A switch changes the vector space: vectors of the two are never compared. The second one starts only when it is needed.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from msgspec import Struct, field

from memoryd.config.providers import ModelsSection
from memoryd.domain.embedding import NONE
from memoryd.domain.text.tokens import estimate
from memoryd.embed.choice import EmbedderPlan, ProviderSettings
from memoryd.embed.current import CurrentEmbedder, EmbedderSource, ModelPhase, PhaseRecord, ProviderFallback
from memoryd.embed.local.local_model import LocalEmbedding, LocalSettings
from memoryd.embed.protocol import Embedder, Purpose
from memoryd.embed.remote.breaker import EndpointBreaker, MeteredEmbedder, TokenBudget
from memoryd.embed.remote.settings import Credentials, KeySources, RemoteSettings, credentials_of
from memoryd.errors import ConfigError, EmbeddingError, MemorydError, ModelError
from memoryd.models.store import ModelStore
from memoryd.retry import Retry, happens, together

if TYPE_CHECKING:
    from memoryd.embed.remote.embedder import RemoteEmbedder

log = structlog.get_logger(__name__)

POLL_SECONDS = 2.0
"""How often a provider that was given up is tried; its own breaker lets few of these tries through to the network."""
PROBE_TEXT = "Is anybody there?"


class RemoteEmbedding:
    """Keeps one remote provider at work and its slot truthful; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        settings: RemoteSettings,
        keys: KeySources,
        slot: CurrentEmbedder,
        budget: TokenBudget,
        jobs: Path,
        retry: Retry | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.slot = slot
        self.settings = settings
        self._keys = keys
        self._budget = budget
        self._jobs = jobs
        self._poll_seconds = poll_seconds
        self._breaker = EndpointBreaker(retry, longest_wait=settings.timeouts.hold)
        self._asked_with: Credentials | None = None
        self._refusal: str | None = None
        """Why it cannot even be asked, where only its owner can change that."""

    def spent(self) -> int:
        """Return the tokens sent there today."""
        return self._budget.spent(self.settings.destination)

    def trouble(self) -> str | None:
        """Return why it is given up: calls fail, or it could not even be asked for the first vector."""
        return self._refusal or self._breaker.trouble

    async def run(self) -> None:
        """Open the provider, offer it, and look after it; open it anew when its key or a header was changed."""
        # httpx takes 70 ms to import, and a daemon with a local model never needs it
        from memoryd.embed.remote.embedder import open_remote

        await self.slot.become(ModelPhase.WARMING, f"asking {self.settings.destination}")
        while True:
            try:
                credentials = self._asked_with = await self._credentials()
                embedder = await open_remote(self.settings, credentials, self._breaker, self._note_lost)
            except (MemorydError, OSError) as exc:
                await self._wait_after(exc)
                continue
            self._refusal = None
            try:
                await self._serve(embedder)
            finally:
                await embedder.aclose()

    async def _note_lost(self, texts: Sequence[str]) -> None:
        await self._budget.add(self.settings.destination, sum(map(estimate, texts)))

    async def _credentials(self) -> Credentials:
        return await asyncio.to_thread(credentials_of, self.settings, self._keys)

    async def _wait_after(self, exc: Exception) -> None:
        is_ours = isinstance(exc, ConfigError | ModelError)
        advice = exc.hint if isinstance(exc, MemorydError) else ""
        # what comes with advice is for its owner to change: a refused key, an unknown model
        self._refusal = str(exc) if is_ours or advice else self._refusal
        held = 0.0 if is_ours else self._breaker.wait(Purpose.DOCUMENT)
        wait = held or self._breaker.note_failed_opening(str(exc))
        reason = f"{self._breaker.reason}; next try in {wait:.0f} s"
        if advice:
            reason += f" ({advice})"
        provider = self.settings.provider
        log.warning("no answer from the provider; keyword search goes on", provider=provider, reason=reason)
        await self.slot.become(ModelPhase.FAILED, reason)
        await self._sleep_until(time.monotonic() + wait)

    async def _sleep_until(self, end: float) -> None:
        """Sleep until `end` (monotonic clock), or until there is another key or header to try."""
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(self._poll_seconds, left))
            if await self._is_changed():
                return

    async def _serve(self, embedder: "RemoteEmbedder") -> None:
        """Offer the embedder until its key or a header is another one."""
        settings, breaker = self.settings, self._breaker
        metered = MeteredEmbedder(
            self._with_batches(embedder),
            budget=self._budget,
            destination=settings.destination,
            limit=settings.tokens_per_day,
        )
        log.info("remote provider", provider=settings.provider, host=embedder.destination, model=settings.model_name)
        while True:
            await self.slot.become(ModelPhase.READY, embedder=metered)
            await breaker.given_up()
            log.warning("the provider fails; keyword search goes on", host=embedder.destination, reason=breaker.reason)
            await self.slot.become(ModelPhase.FAILED, breaker.reason, embedder=metered)
            while breaker.trouble is not None:
                await asyncio.sleep(self._poll_seconds)
                if await self._is_changed():
                    return
                # most of these never leave the machine: the breaker lets one through when its time has come
                with contextlib.suppress(EmbeddingError):
                    await embedder.embed_query(PROBE_TEXT)
            log.info("the provider works again", host=embedder.destination)

    def _with_batches(self, embedder: "RemoteEmbedder") -> Embedder:
        batch = self.settings.batch
        if batch is None:
            return embedder
        # with it comes the HTTP client, which a daemon with a local model never needs
        from memoryd.embed.remote.batch_embedder import BatchEmbedder, BatchSettings

        settings = BatchSettings(
            wait=batch.wait,
            concurrency=batch.concurrency,
            poll=timedelta(milliseconds=batch.poll_interval_ms),
            timeout=timedelta(minutes=batch.timeout_minutes),
        )
        return BatchEmbedder(embedder, self._jobs, settings)

    async def _is_changed(self) -> bool:
        try:
            return await self._credentials() != self._asked_with
        except (ConfigError, ModelError):
            return False


NO_PROVIDER = "memorySearch.provider is none"
FALLBACK_POLL_SECONDS = 1.0


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
        if state.phase is ModelPhase.OFF:
            return state.reason
        is_settled = state.phase in (ModelPhase.READY, ModelPhase.FAILED)
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
    budget: TokenBudget,
    jobs: Path,
) -> Embedding:
    """Make the parts that a plan names; nothing runs yet. Batch jobs are noted in the folder `jobs`."""
    keys = KeySources(models, os.environ, plan.profiles)

    def source_of(settings: ProviderSettings, its: CurrentEmbedder) -> EmbedderSource:
        if isinstance(settings, LocalSettings):
            return LocalEmbedding(settings=settings, store=store, slot=its)
        return RemoteEmbedding(settings=settings, keys=keys, slot=its, budget=budget, jobs=jobs)

    if plan.first is None:
        slot.state = PhaseRecord(ModelPhase.OFF, NO_PROVIDER)
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
        poll_seconds=FALLBACK_POLL_SECONDS,
    )
    return Embedding(plan, slot, both)


class FallbackEmbedding(Struct, kw_only=True, eq=False):
    """Mirrors into `slot` the source that is to be used now; `run` loops until cancelled.

    `news` is set whenever a slot of the two changes; `names` are what the two are called.
    """

    first: EmbedderSource
    second: EmbedderSource
    slot: CurrentEmbedder
    names: tuple[str, str]
    news: asyncio.Event
    poll_seconds: float = FALLBACK_POLL_SECONDS
    _needed: asyncio.Event = field(default_factory=asyncio.Event)
    _outage: ProviderFallback | None = None

    def trouble(self) -> str | None:
        """Return why neither can embed."""
        return self.first.trouble() if self.second.trouble() is not None else None

    async def run(self) -> None:
        """Run the first, the second from when it is first needed, and tell the slot which of them embeds."""
        # what runs on when one of them fails would run beside those of the next try
        await together(self.first.run(), self._run_second(), self._watch())

    async def _run_second(self) -> None:
        await self._needed.wait()
        await self.second.run()

    async def _watch(self) -> None:
        while True:
            self.news.clear()
            await self._mirror()
            await happens(self.news.wait(), self.poll_seconds)

    async def _mirror(self) -> None:
        self._note_failure(self.first.trouble())
        second = self.second.slot
        is_second_ready = self.second.trouble() is None and second.state.phase is ModelPhase.READY and second.embedder
        fallback_in_use = self._outage if is_second_ready else None
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
                log.info("back to the first provider", provider=self.names[0])
            self._outage = None
        elif self._outage is None:
            log.warning("a provider fails", provider=self.names[0], fallback_in_use=self.names[1], reason=reason)
            self._outage = ProviderFallback(*self.names, reason, datetime.now(UTC))
            self._needed.set()
