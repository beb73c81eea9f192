"""From the settings of a remote provider to a working embedder: find its key, ask it, offer it, try again."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import structlog

from memoryd.config.providers import ADDRESS_EXPECTED, NOT_AN_ADDRESS, NOT_AN_ENTRY, BatchSection
from memoryd.config.secret import Secret
from memoryd.domain.breaker import Breaker, BreakerRule, Circuit
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api_keys import AddressOwner, KeySources, hint, revealed
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.provider import RemoteSettings, open_remote
from memoryd.embed.remote.remote_settings import CallTimeouts
from memoryd.embed.remote.spending import MeteredEmbedder, SpendingBook
from memoryd.embed.remote.watched import WatchedEmbedder
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot
from memoryd.errors import ConfigError, EmbeddingError, MemorydError, ModelError

if TYPE_CHECKING:
    from memoryd.embed.remote.remote_embedder import RemoteEmbedder

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 2.0
"""How often a provider that was given up is tried; its own gate lets few of these tries through to the network."""


@dataclass(frozen=True, slots=True)
class RemoteWish:
    """A remote provider as the configuration wants it; secrets are still references."""

    provider: str
    model: str = ""
    base_url: str = ""
    address: AddressOwner = AddressOwner.USUAL
    key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    dimensions: int | None = None
    query_instruction: str | None = None
    document_instruction: str | None = None
    query_input_type: str | None = None
    document_input_type: str | None = None
    concurrency: int | None = None
    timeout: timedelta = timedelta(seconds=120)
    tokens_per_day: int | None = None
    batch: BatchSection | None = None
    """How the provider's batch interface is used; None: not at all."""

    @property
    def destination(self) -> str:
        """The host that texts go to, with the port if it is not the usual one."""
        return urlsplit(self.base_url or PROVIDERS[self.provider].base_url).netloc.rpartition("@")[2]

    @property
    def model_name(self) -> str:
        """The model that is asked for."""
        return self.model or PROVIDERS[self.provider].model


def resolved(wish: RemoteWish, keys: KeySources, rule: BreakerRule) -> RemoteSettings:
    """Read the secrets and return what the provider is opened with.

    Raises ConfigError for a reference that leads nowhere, ModelError when the provider needs a key and there is none.
    """
    if wish.base_url == NOT_AN_ENTRY:
        raise ConfigError([f"models.providers: the entry of {wish.provider} must be an object {{ … }} in this file"])
    if wish.base_url == NOT_AN_ADDRESS:
        raise ConfigError([f"models.providers: the baseUrl of {wish.provider} {ADDRESS_EXPECTED}"])
    key = keys.find(wish.provider, wish.key, wish.address)
    if key is None and PROVIDERS[wish.provider].needs_key and wish.address is AddressOwner.USUAL:
        raise ModelError(f"there is no key for {wish.provider}", hint=hint(wish.provider))
    return RemoteSettings(
        provider=wish.provider,
        model=wish.model,
        base_url=wish.base_url,
        api_key="" if key is None else key.reveal(),
        headers={name: revealed(f"the header {name}", secret) for name, secret in wish.headers},
        dimensions=wish.dimensions,
        query_instruction=wish.query_instruction,
        document_instruction=wish.document_instruction,
        query_input_type=wish.query_input_type,
        document_input_type=wish.document_input_type,
        concurrency=wish.concurrency,
        timeouts=replace(CallTimeouts(), bulk=wish.timeout),
        rule=rule,
    )


class RemoteEmbedding:
    """Keeps one remote provider at work and its slot truthful; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        wish: RemoteWish,
        keys: KeySources,
        slot: EmbedderSlot,
        book: SpendingBook,
        jobs: Path,
        rule: BreakerRule | None = None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.slot = slot
        self.wish = wish
        self.spent: Callable[[], int] = lambda: book.spent(wish.destination)
        """Tokens sent there today."""
        self._keys = keys
        self._book = book
        self._jobs = jobs
        self._rule = rule or BreakerRule()
        self._look_seconds = look_seconds
        self._breaker = Breaker(rule=self._rule)
        self._gate = EndpointGate(self._rule, random.random)
        self._asked: RemoteSettings | None = None
        """With which settings the gate was last passed."""
        self._watched: WatchedEmbedder | None = None
        self._refusal: str | None = None

    def trouble(self) -> str | None:
        """Return why it is given up: calls fail, or it could not even be asked for the first vector."""
        if self._watched is not None:
            return self._watched.trouble
        return self._refusal

    async def run(self) -> None:
        """Open the provider, offer it, and look after it; open it anew when its key or a header was changed."""
        await self.slot.become(EmbedderPhase.WARMING, f"asking {self.wish.destination}")
        while True:
            try:
                settings = await self._settings()
                embedder = await open_remote(settings, self._gate_of(settings))
            except (MemorydError, OSError) as exc:
                await self._wait_after(exc)
                continue
            try:
                await self._serve(embedder, settings)
            finally:
                self._watched = None
                await embedder.aclose()

    async def _settings(self) -> RemoteSettings:
        return await asyncio.to_thread(resolved, self.wish, self._keys, self._rule)

    def _gate_of(self, settings: RemoteSettings) -> EndpointGate:
        """Return the gate of these settings; of another key's account the endpoint has said nothing yet."""
        if settings != self._asked:
            self._asked, self._gate = settings, EndpointGate(self._rule, random.random)
        return self._gate

    async def _wait_after(self, exc: Exception) -> None:
        now = time.monotonic()
        self._breaker = self._breaker.failed(now, random.random())
        is_ours = isinstance(exc, ConfigError | ModelError)
        # what comes with advice is for its owner to change: a refused key, an unknown model
        is_final = is_ours or (isinstance(exc, MemorydError) and bool(exc.hint))
        wait, held = self._breaker.wait(now), 0.0 if is_ours else self._gate.wait(Purpose.DOCUMENT, now)
        if is_final or self._breaker.circuit is not Circuit.CLOSED or held > CallTimeouts().hold.total_seconds():
            self._refusal = str(exc)
        reason = f"{self._gate.reason if held > wait else exc}; next try in {max(wait, held):.0f} s"
        if advice := exc.hint if isinstance(exc, MemorydError) else "":
            reason += f" ({advice})"
        log.warning("no answer from the provider; keyword search goes on", provider=self.wish.provider, reason=reason)
        await self.slot.become(EmbedderPhase.FAILED, reason)
        await self._sleep_until(now + max(wait, held))

    async def _sleep_until(self, end: float) -> None:
        """Sleep until `end` (monotonic clock), or until there is another key or header to try."""
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(self._look_seconds, left))
            if await self._is_changed(self._asked):
                return

    async def _serve(self, embedder: "RemoteEmbedder", settings: RemoteSettings) -> None:
        """Offer the embedder until its key or a header is another one."""
        self._breaker = self._breaker.succeeded()
        self._refusal = None
        watched = self._watched = self._under_watch(embedder)
        metered = MeteredEmbedder(
            watched, book=self._book, destination=self.wish.destination, limit=self.wish.tokens_per_day
        )
        log.info("remote provider", provider=self.wish.provider, host=embedder.destination, model=self.wish.model_name)
        while True:
            await self.slot.become(EmbedderPhase.READY, embedder=metered)
            await watched.given_up()
            log.warning("the provider fails; keyword search goes on", host=embedder.destination, reason=watched.trouble)
            await self.slot.become(EmbedderPhase.FAILED, watched.trouble or "", embedder=metered)
            while watched.trouble is not None:
                await asyncio.sleep(self._look_seconds)
                if await self._is_changed(settings):
                    return
                with contextlib.suppress(EmbeddingError):
                    await watched.probe()
            log.info("the provider works again", host=embedder.destination)

    def _under_watch(self, embedder: "RemoteEmbedder") -> WatchedEmbedder:
        if self.wish.batch is None:
            return WatchedEmbedder(embedder, self._rule)
        # with it comes the HTTP client, which a daemon with a local model never needs
        from memoryd.embed.remote.batch.batch_embedder import BatchEmbedder, BatchSettings

        batch = self.wish.batch
        settings = BatchSettings(
            wait=batch.wait,
            concurrency=batch.concurrency,
            poll=timedelta(milliseconds=batch.poll_interval_ms),
            timeout=timedelta(minutes=batch.timeout_minutes),
        )
        by_jobs = BatchEmbedder(embedder, self._jobs, settings)
        return WatchedEmbedder(by_jobs, self._rule, is_busy=lambda: by_jobs.running_texts > 0)

    async def _is_changed(self, settings: RemoteSettings | None) -> bool:
        try:
            return await self._settings() != settings
        except (ConfigError, ModelError):
            return False
