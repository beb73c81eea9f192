"""Keeps a remote provider at work: finds its key, has its endpoint opened, offers the embedder, and tries again."""

import asyncio
import contextlib
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from memoryd.embed.current import CurrentEmbedder, EmbedderPhase
from memoryd.embed.protocol import Embedder, Purpose
from memoryd.embed.remote.gate import EndpointBreaker, MeteredEmbedder, TokenBudget
from memoryd.embed.remote.settings import Credentials, KeySources, RemoteSettings, credentials_of
from memoryd.errors import ConfigError, EmbeddingError, MemorydError, ModelError
from memoryd.retry import Retry

if TYPE_CHECKING:
    from memoryd.embed.remote.embedder import RemoteEmbedder

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 2.0
"""How often a provider that was given up is tried; its own gate lets few of these tries through to the network."""
PROBE_TEXT: Final = "Is anybody there?"


class RemoteEmbedding:
    """Keeps one remote provider at work and its slot truthful; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        settings: RemoteSettings,
        keys: KeySources,
        slot: CurrentEmbedder,
        book: TokenBudget,
        jobs: Path,
        retry: Retry | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.slot = slot
        self.settings = settings
        self._keys = keys
        self._book = book
        self._jobs = jobs
        self._poll_seconds = poll_seconds
        self._gate = EndpointBreaker(retry, hold=settings.timeouts.hold)
        self._asked_with: Credentials | None = None
        self._refusal: str | None = None
        """Why it cannot even be asked, where only its owner can change that."""

    def spent(self) -> int:
        """Return the tokens sent there today."""
        return self._book.spent(self.settings.destination)

    def trouble(self) -> str | None:
        """Return why it is given up: calls fail, or it could not even be asked for the first vector."""
        return self._refusal or self._gate.trouble

    async def run(self) -> None:
        """Open the provider, offer it, and look after it; open it anew when its key or a header was changed."""
        # httpx takes 70 ms to import, and a daemon with a local model never needs it
        from memoryd.embed.remote.endpoint import open_remote

        await self.slot.become(EmbedderPhase.WARMING, f"asking {self.settings.destination}")
        while True:
            try:
                credentials = self._asked_with = await self._credentials()
                embedder = await open_remote(self.settings, credentials, self._gate)
            except (MemorydError, OSError) as exc:
                await self._wait_after(exc)
                continue
            self._refusal = None
            try:
                await self._serve(embedder)
            finally:
                await embedder.aclose()

    async def _credentials(self) -> Credentials:
        return await asyncio.to_thread(credentials_of, self.settings, self._keys)

    async def _wait_after(self, exc: Exception) -> None:
        is_ours = isinstance(exc, ConfigError | ModelError)
        advice = exc.hint if isinstance(exc, MemorydError) else ""
        # what comes with advice is for its owner to change: a refused key, an unknown model
        self._refusal = str(exc) if is_ours or advice else self._refusal
        held = 0.0 if is_ours else self._gate.wait(Purpose.DOCUMENT)
        wait = held or self._gate.opening_failed(str(exc))
        reason = f"{self._gate.reason}; next try in {wait:.0f} s"
        if advice:
            reason += f" ({advice})"
        provider = self.settings.provider
        log.warning("no answer from the provider; keyword search goes on", provider=provider, reason=reason)
        await self.slot.become(EmbedderPhase.FAILED, reason)
        await self._sleep_until(time.monotonic() + wait)

    async def _sleep_until(self, end: float) -> None:
        """Sleep until `end` (monotonic clock), or until there is another key or header to try."""
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(self._poll_seconds, left))
            if await self._is_changed():
                return

    async def _serve(self, embedder: "RemoteEmbedder") -> None:
        """Offer the embedder until its key or a header is another one."""
        settings, gate = self.settings, self._gate
        metered = MeteredEmbedder(
            self._with_batches(embedder),
            book=self._book,
            destination=settings.destination,
            limit=settings.tokens_per_day,
        )
        log.info("remote provider", provider=settings.provider, host=embedder.destination, model=settings.model_name)
        while True:
            await self.slot.become(EmbedderPhase.READY, embedder=metered)
            await gate.given_up()
            log.warning("the provider fails; keyword search goes on", host=embedder.destination, reason=gate.reason)
            await self.slot.become(EmbedderPhase.FAILED, gate.reason, embedder=metered)
            while gate.trouble is not None:
                await asyncio.sleep(self._poll_seconds)
                if await self._is_changed():
                    return
                # most of these never leave the machine: the gate lets one through when its time has come
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
