"""From the settings of a remote provider to a working embedder: find its key, open its endpoint, try again."""

import asyncio
import contextlib
import time
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpx
import structlog
from msgspec.structs import replace

from memoryd.domain.embedding import BY_KEY, INPUT_TYPES
from memoryd.embed.current import EmbedderPhase, EmbedderSlot
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Purpose
from memoryd.embed.remote.api import PromptTemplates, WireFormat, overridden
from memoryd.embed.remote.embedder import PROBE_INPUT, Channel, RemoteEmbedder, unavailable
from memoryd.embed.remote.failures import CallError
from memoryd.embed.remote.gate import EndpointGate, MeteredEmbedder, SpendingBook
from memoryd.embed.remote.http import Endpoint, tls
from memoryd.embed.remote.providers import CONTEXTS, PROVIDERS, SIZES
from memoryd.embed.remote.settings import Credentials, KeySources, RemoteSettings, credentials_of
from memoryd.errors import ConfigError, EmbedderUnavailable, EmbeddingError, MemorydError, ModelError
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 2.0
"""How often a provider that was given up is tried; its own gate lets few of these tries through to the network."""
PROBE_TEXT: Final = "Is anybody there?"


async def open_remote(settings: RemoteSettings, credentials: Credentials, gate: EndpointGate) -> RemoteEmbedder:
    """Ask the endpoint for one vector, of a word that is not the user's, and return the embedder it tells of.

    A `gate` that outlives the try remembers how long the endpoint asked to be left alone.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint where one is known, when
    the endpoint does not answer, refuses the key or does not know the model.
    """
    gate.enter(credentials)
    wire = wire_of(settings, credentials.api_key)
    await asyncio.to_thread(tls)
    channel = Channel(_endpoint(settings, credentials, wire, gate), wire)
    try:
        dimensions = channel.dimensions = await _dimensions(channel, settings)
    except BaseException:
        await channel.endpoint.aclose()
        raise
    gate.admit()
    return RemoteEmbedder(
        channel,
        identity_of(settings, channel.wire, dimensions),
        tokens=PROVIDERS[settings.provider].tokens,
        context=context_of(settings),
    )


def _endpoint(settings: RemoteSettings, credentials: Credentials, wire: WireFormat, gate: EndpointGate) -> Endpoint:
    if settings.provider in BY_KEY and not credentials.api_key and settings.is_own_address:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint="set memorySearch.remote.apiKey")
    # names in one case, so that a configured header replaces ours instead of standing beside it
    own = {name.lower(): value for name, value in wire.auth.items()}
    headers = own | {name.lower(): value for name, value in credentials.headers}
    try:
        for text in (*headers, *headers.values()):
            if not (text.isascii() and text.isprintable()):
                raise ValueError("not for a header")
        return Endpoint(
            base_url=wire.base_url,
            headers=headers,
            secrets=[credentials.api_key, *(value for _, value in credentials.headers)],
            concurrency=settings.concurrency or PROVIDERS[settings.provider].concurrency,
            timeouts=settings.timeouts,
            gate=gate,
        )
    except httpx.InvalidURL as exc:
        raise ModelError(f"the address of {settings.provider} cannot be used: {exc}") from exc
    except ValueError:
        # not `from`: the exception quotes the value
        raise ModelError("the API key or a header holds a character that HTTP does not allow") from None


async def _dimensions(channel: Channel, settings: RemoteSettings) -> int:
    try:
        (row,) = await channel.rows([PROBE_INPUT], Purpose.DOCUMENT, attempts=2)
    except CallError as exc:
        raise unavailable(exc) from exc
    if settings.dimensions not in {None, len(row)}:
        raise ModelError(
            f"{settings.dimensions} dimensions were asked for, and {channel.endpoint.host} answers with {len(row)}",
            hint=f"set memorySearch.outputDimensionality to {len(row)}, or leave it out",
        )
    return len(row)


def model_of(settings: RemoteSettings) -> str:
    """Return the model as the endpoint names it."""
    model, row = settings.model_name, PROVIDERS[settings.provider]
    # a router's models carry the maker's name: there it is part of theirs
    if row.is_spoken_by_others and not settings.is_own_address:
        return model
    for prefix in row.prefixes:
        model = model.removeprefix(prefix)
    return model


def wire_of(settings: RemoteSettings, api_key: str = "") -> WireFormat:
    """Return the provider's wire format for these settings; raises ModelError."""
    row = PROVIDERS.get(settings.provider)
    if row is None:
        raise ModelError(f"there is no embedding provider {settings.provider}", hint=f"one of {', '.join(PROVIDERS)}")
    _require_dimensions(settings)
    return row.wire(
        base_url=settings.base_url,
        model=model_of(settings),
        key=api_key,
        dimensions=settings.dimensions,
        prompts=_prompts(settings),
        items=row.items,
    )


def identity_of(settings: RemoteSettings, wire: WireFormat, dimensions: int) -> EmbedderIdentity:
    """Return what the vectors depend on. No key, no header, and of the address neither a password nor a query."""
    address = urlsplit(wire.base_url)
    return EmbedderIdentity(
        provider=settings.provider,
        model=model_of(settings),
        revision="",
        endpoint=urlunsplit((address.scheme, address.netloc.rpartition("@")[2], address.path, "", "")),
        dimensions=dimensions,
        pooling="",
        query_prompt=wire.prompts.query.name,
        document_prompt=wire.prompts.document.name,
    )


def context_of(settings: RemoteSettings) -> int:
    """Return the tokens of one text that the model takes; 0 if the endpoint cuts by itself, or nobody knows."""
    row = PROVIDERS[settings.provider]
    return CONTEXTS.get(model_of(settings), row.context if settings.is_own_address else 0)


def _prompts(settings: RemoteSettings) -> PromptTemplates:
    model, wire = model_of(settings), PROVIDERS[settings.provider].wire
    own = wire.own_prompts(model)
    query, document = settings.query, settings.document
    if settings.provider not in INPUT_TYPES:
        query, document = replace(query, input_type=None), replace(document, input_type=None)
    template = overridden(own.document, document)
    is_beside = wire.takes_title(model, template)
    return PromptTemplates(overridden(own.query, query), template if is_beside else template.titled)


def _require_dimensions(settings: RemoteSettings) -> None:
    model, dimensions = model_of(settings), settings.dimensions
    sizes = SIZES.get(model)
    if sizes and dimensions not in {None, *sizes}:
        choices = ", ".join(map(str, sizes))
        raise ModelError(f"{model} gives no {dimensions} dimensions", hint=f"outputDimensionality is one of {choices}")


class RemoteEmbedding:
    """Keeps one remote provider at work and its slot truthful; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        settings: RemoteSettings,
        keys: KeySources,
        slot: EmbedderSlot,
        book: SpendingBook,
        jobs: Path,
        retry: Retry | None = None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.slot = slot
        self.settings = settings
        self._keys = keys
        self._book = book
        self._jobs = jobs
        self._look_seconds = look_seconds
        self._gate = EndpointGate(retry, hold=settings.timeouts.hold)
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
            await asyncio.sleep(min(self._look_seconds, left))
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
                await asyncio.sleep(self._look_seconds)
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
