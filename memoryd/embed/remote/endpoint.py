"""Opens the endpoint of a remote provider: its wire format, its address and headers, and the dimensions it has."""

import asyncio
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from memoryd.domain.embedding import BY_KEY, PROVIDERS
from memoryd.embed.protocol import EmbedderIdentity, Purpose
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.embedder import PROBE_INPUT, Channel, RemoteEmbedder, unavailable
from memoryd.embed.remote.failures import CallError
from memoryd.embed.remote.http import Endpoint, Lost, tls
from memoryd.embed.remote.providers import CONTEXTS, SIZES, WIRES, OpenAiWire, PromptTemplates, WireOptions, overridden
from memoryd.embed.remote.settings import OWN_KEY, Credentials, RemoteSettings
from memoryd.errors import EmbedderUnavailable, ModelError


async def open_remote(
    settings: RemoteSettings, credentials: Credentials, breaker: EndpointBreaker, on_lost: Lost | None = None
) -> RemoteEmbedder:
    """Ask the endpoint for one vector, of a word that is not the user's, and return the embedder it tells of.

    A `breaker` that outlives the try remembers how long the endpoint asked to be left alone.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint where one is known, when
    the endpoint does not answer, refuses the key or does not know the model.
    """
    breaker.start_with(credentials)
    wire = wire_of(settings, credentials.api_key)
    await asyncio.to_thread(tls)
    channel = Channel(_endpoint(settings, credentials, wire, breaker, on_lost), wire)
    try:
        dimensions = channel.dimensions = await _dimensions(channel, settings)
    except BaseException:
        await channel.endpoint.aclose()
        raise
    breaker.admit()
    return RemoteEmbedder(
        channel,
        identity_of(settings, channel.wire, dimensions),
        tokens=PROVIDERS[settings.provider].tokens,
        context=context_of(settings),
    )


def _endpoint(
    settings: RemoteSettings,
    credentials: Credentials,
    wire: OpenAiWire,
    breaker: EndpointBreaker,
    on_lost: Lost | None,
) -> Endpoint:
    if settings.provider in BY_KEY and not credentials.api_key and settings.is_own_address:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint=f"set {OWN_KEY}")
    return Endpoint(
        whose=settings.provider,
        base_url=wire.base_url,
        auth=wire.auth,
        credentials=credentials,
        concurrency=settings.concurrency or PROVIDERS[settings.provider].concurrency,
        timeouts=settings.timeouts,
        breaker=breaker,
        on_lost=on_lost,
    )


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


def wire_of(settings: RemoteSettings, api_key: str = "") -> OpenAiWire:
    """Return the provider's wire format for these settings; raises ModelError."""
    model, dimensions = model_of(settings), settings.dimensions
    sizes = SIZES.get(model)
    if sizes and dimensions not in {None, *sizes}:
        choices = ", ".join(map(str, sizes))
        raise ModelError(f"{model} gives no {dimensions} dimensions", hint=f"outputDimensionality is one of {choices}")
    options = WireOptions(
        base_url=settings.base_url,
        model=model,
        key=api_key,
        dimensions=dimensions,
        prompts=_prompts(settings),
        items=PROVIDERS[settings.provider].items,
    )
    return WIRES[settings.provider](options)


def identity_of(settings: RemoteSettings, wire: OpenAiWire, dimensions: int) -> EmbedderIdentity:
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
    model, wire = model_of(settings), WIRES[settings.provider]
    own = wire.own_prompts(model)
    query, document = settings.query, settings.document
    if not PROVIDERS[settings.provider].has_input_types:
        query, document = replace(query, input_type=None), replace(document, input_type=None)
    template = overridden(own.document, document)
    is_beside = wire.takes_title(model, template)
    return PromptTemplates(overridden(own.query, query), template if is_beside else template.titled)
