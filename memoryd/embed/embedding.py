"""The embedder that some agents share: remote or local, with a second provider while the first one fails.

The two providers have different vector spaces, and their vectors are never compared. The second provider starts only
when it is needed.
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
from memoryd.retry import Retry, next_try, run_together, wait_within

if TYPE_CHECKING:
    from memoryd.embed.remote.embedder import RemoteEmbedder

log = structlog.get_logger(__name__)

POLL_SECONDS = 2.0
"""Seconds between tries of a failed provider; its breaker lets only few of these tries reach the network."""
QUESTIONS_LONG = 5
"""After how many times the time for a question an opening that goes on is reported: a cold model may take minutes."""
PROBE_TEXT = "Is anybody there?"


class RemoteEmbedding:
    """Runs one remote provider and keeps its slot up to date; `run` loops until cancelled."""

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
        self._credentials: Credentials | None = None
        self._refusal: str | None = None
        """Why the provider cannot be opened, if only the owner can change that."""

    def spent(self) -> int:
        """Return the tokens sent to the provider today."""
        return self._budget.spent(self.settings.destination)

    def trouble(self) -> str | None:
        """Return why the provider fails: calls fail, or it could not be opened; None while it works."""
        return self._refusal or self._breaker.trouble

    async def run(self) -> None:
        """Open the provider, offer and watch it; reopen it when its key, a header or its model has changed."""
        await self.slot.set(ModelPhase.WARMING, f"asking {self.settings.destination}")
        while True:
            try:
                credentials = self._credentials = await self._read_credentials()
                embedder = await self._open(credentials)
            except (MemorydError, OSError) as exc:
                await self._wait_after(exc)
                continue
            self._refusal = None
            try:
                await self._serve(embedder)
            finally:
                await embedder.aclose()

    async def _open(self, credentials: Credentials) -> "RemoteEmbedder":
        """Open the provider; if it keeps silent for much longer than a question may take, that is shown meanwhile."""
        # httpx takes 70 ms to import, and a daemon with a local model never needs it
        from memoryd.embed.remote.embedder import open_remote

        opened, is_over = list["RemoteEmbedder"](), asyncio.Event()
        silence = QUESTIONS_LONG * self.settings.timeouts.query.total_seconds()

        async def ask() -> None:
            try:
                opened.append(await open_remote(self.settings, credentials, self._breaker, self._count_lost))
            finally:
                is_over.set()

        async def tell() -> None:
            if not await wait_within(is_over.wait(), silence):
                reason = self._breaker.reason or f"{self.settings.destination}: no answer for {silence:.0f} s"
                await self.slot.set(ModelPhase.FAILED, f"{reason}; it is still being asked")

        await run_together(ask(), tell())
        return opened[0]

    async def _count_lost(self, texts: Sequence[str]) -> None:
        await self._budget.add(self.settings.destination, sum(map(estimate, texts)))

    async def _read_credentials(self) -> Credentials:
        return await asyncio.to_thread(credentials_of, self.settings, self._keys)

    async def _wait_after(self, exc: Exception) -> None:
        is_config = isinstance(exc, ConfigError | ModelError)
        advice = exc.hint if isinstance(exc, MemorydError) else ""
        # an error with advice is one that the owner must solve: a rejected key, an unknown model
        self._refusal = str(exc) if is_config or advice else self._refusal
        pause = 0.0 if is_config else self._breaker.wait(Purpose.DOCUMENT)
        wait = pause or self._breaker.note_failed_opening(str(exc))
        reason = "; ".join(filter(None, (self._breaker.reason, advice, next_try(wait))))
        provider = self.settings.provider
        log.warning("no answer from the provider; keyword search goes on", provider=provider, reason=reason)
        await self.slot.set(ModelPhase.FAILED, reason)
        await self._sleep_until(time.monotonic() + wait)

    async def _sleep_until(self, end: float) -> None:
        """Sleep until `end` (monotonic clock), or until the key or a header has changed."""
        while (seconds := end - time.monotonic()) > 0:
            await asyncio.sleep(min(self._poll_seconds, seconds))
            if await self._is_changed():
                return

    async def _serve(self, embedder: "RemoteEmbedder") -> None:
        """Offer the embedder until its key, a header or, for good, the model has changed."""
        settings, breaker = self.settings, self._breaker
        metered = MeteredEmbedder(
            self._with_batches(embedder),
            budget=self._budget,
            destination=settings.destination,
            limit=settings.tokens_per_day,
        )
        log.info("remote provider", provider=settings.provider, host=embedder.destination, model=settings.model_name)
        while True:
            await self.slot.set(ModelPhase.READY, embedder=metered)
            await breaker.wait_for_trouble()
            log.warning("the provider fails; keyword search goes on", host=embedder.destination, reason=breaker.reason)
            await self.slot.set(ModelPhase.FAILED, breaker.reason, embedder=metered)
            while breaker.trouble is not None or breaker.has_other_model:
                await asyncio.sleep(self._poll_seconds)
                # in trouble by its answers: it is no slip of one call, and the dimensions are asked for again
                if await self._is_changed() or (breaker.trouble is not None and breaker.has_other_model):
                    return
                # most of these calls fail locally: the breaker lets one through after its back-off
                with contextlib.suppress(EmbeddingError):
                    await embedder.embed_query(PROBE_TEXT)
            log.info("the provider works again", host=embedder.destination)

    def _with_batches(self, embedder: "RemoteEmbedder") -> Embedder:
        batch = self.settings.batch
        if batch is None:
            return embedder
        # imports the HTTP client, which a daemon with a local model never needs
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
            return await self._read_credentials() != self._credentials
        except (ConfigError, ModelError):
            return False


FALLBACK_POLL_SECONDS = 1.0


class Embedding(Struct, frozen=True):
    """The embedder that some agents share: its plan, its slot, and the source that fills the slot (None: none)."""

    plan: EmbedderPlan
    slot: CurrentEmbedder
    source: EmbedderSource | None

    @property
    def local(self) -> LocalEmbedding | None:
        """The source that runs a local model, if there is one."""
        return next((source for source in self._sources() if isinstance(source, LocalEmbedding)), None)

    @property
    def remote(self) -> RemoteEmbedding | None:
        """The source that uses a remote provider, if there is one; the first provider before its fallback."""
        return next((source for source in self._sources() if isinstance(source, RemoteEmbedding)), None)

    @property
    def is_sending_notes(self) -> bool:
        """True if notes are sent to the remote source now: it is the first provider, or the fallback in use."""
        return isinstance(self.plan.first, RemoteSettings) or (
            self.slot.fallback_in_use is not None and self.remote is not None
        )

    def obstacle(self) -> str | None:
        """Return why there are no vectors until something changes; None if there are, or they are expected soon."""
        state = self.slot.state
        if state.phase is ModelPhase.OFF:
            return state.reason
        is_settled = state.phase in (ModelPhase.READY, ModelPhase.FAILED)
        # while the model of the first source is downloaded, the second source may start
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
    """Return the embedding of a plan, not yet running. Batch jobs are stored in the folder `jobs`."""
    keys = KeySources(models, os.environ, plan.profiles)

    def source_of(settings: ProviderSettings, target: CurrentEmbedder) -> EmbedderSource:
        if isinstance(settings, LocalSettings):
            return LocalEmbedding(settings=settings, store=store, slot=target)
        return RemoteEmbedding(settings=settings, keys=keys, slot=target, budget=budget, jobs=jobs)

    if plan.first is None:
        slot.state = PhaseRecord(ModelPhase.OFF, "memorySearch.provider is none")
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
    """Copies the slot of the source in use into `slot`; `run` loops until cancelled.

    `news` is set whenever one of the two slots changes; `names` are the names of the two providers.
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
        """Return why both sources fail; None if one works."""
        return self.first.trouble() if self.second.trouble() is not None else None

    async def run(self) -> None:
        """Run the first source, run the second from when it is first needed, and keep the slot up to date."""
        # together: if one coroutine fails, none must go on beside those of the next run
        await run_together(self.first.run(), self._run_second(), self._watch())

    async def _run_second(self) -> None:
        await self._needed.wait()
        await self.second.run()

    async def _watch(self) -> None:
        while True:
            self.news.clear()
            await self._mirror()
            await wait_within(self.news.wait(), self.poll_seconds)

    async def _mirror(self) -> None:
        self._note_failure(self.first.trouble())
        second = self.second.slot
        is_second_ready = self.second.trouble() is None and second.state.phase is ModelPhase.READY and second.embedder
        fallback_in_use = self._outage if is_second_ready else None
        source = self.first if fallback_in_use is None else self.second
        embedder, state, here = source.slot.embedder, source.slot.state, self.slot
        current = here.embedder, here.state.phase, here.state.reason, here.fallback_in_use
        if current != (embedder, state.phase, state.reason, fallback_in_use):
            await here.set(state.phase, state.reason, embedder=embedder, fallback_in_use=fallback_in_use)
        if state.progress is not None and state.progress != here.state.progress:
            here.note_progress(state.progress)

    def _note_failure(self, reason: str | None) -> None:
        if reason is None:
            if self._outage is not None:
                log.info("back to the first provider", provider=self.names[0])
            self._outage = None
        elif self._outage is None:
            log.warning("a provider fails", provider=self.names[0], fallback_in_use=self.names[1], reason=reason)
            self._outage = ProviderFallback(*self.names, reason, datetime.now(UTC))
            self._needed.set()
