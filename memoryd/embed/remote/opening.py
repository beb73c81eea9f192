"""Opens an endpoint and finds out how many dimensions its model has."""

import asyncio
import random

import httpx

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.channel import Channel
from memoryd.embed.remote.failures import CallError
from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.http import Endpoint, tls
from memoryd.embed.remote.provider import api_of, context_of, identity_of
from memoryd.embed.remote.remote_embedder import RemoteEmbedder, unavailable
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.embed.remote.splitting import PROBE
from memoryd.errors import EmbedderUnavailable, ModelError


async def opened(settings: RemoteSettings, gate: EndpointGate | None) -> RemoteEmbedder:
    """The embedder; see `open_remote`."""
    api = api_of(settings)
    await asyncio.to_thread(tls)
    channel = Channel(_endpoint(settings, api, gate), api)
    try:
        dimensions = await _dimensions(channel, settings)
    except BaseException:
        await channel.endpoint.aclose()
        raise
    return RemoteEmbedder(
        channel,
        identity_of(settings, channel.api, dimensions),
        tokens=PROVIDERS[settings.provider].tokens,
        context=context_of(settings),
    )


def _endpoint(settings: RemoteSettings, api: Api, gate: EndpointGate | None) -> Endpoint:
    facts = PROVIDERS[settings.provider]
    if facts.needs_key and not settings.api_key and settings.base_url in {"", facts.base_url}:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint="set memorySearch.remote.apiKey")
    # names in one case, so that a configured header replaces ours instead of standing beside it
    own = {name.lower(): value for name, value in api.auth.items()}
    headers = own | {name.lower(): value for name, value in settings.headers.items()}
    try:
        for text in (*headers, *headers.values()):
            if not (text.isascii() and text.isprintable()):
                raise ValueError("not for a header")
        return Endpoint(
            base_url=api.base_url,
            headers=headers,
            secrets=[settings.api_key, *settings.headers.values()],
            concurrency=settings.concurrency or facts.concurrency,
            timeouts=settings.timeouts,
            gate=gate or EndpointGate(settings.rule, random.random),
        )
    except httpx.InvalidURL as exc:
        raise ModelError(f"the address of {settings.provider} cannot be used: {exc}") from exc
    except ValueError:
        # not `from`: the exception quotes the value
        raise ModelError("the API key or a header holds a character that HTTP does not allow") from None


async def _dimensions(channel: Channel, settings: RemoteSettings) -> int:
    try:
        (row,) = await channel.rows([PROBE], Purpose.DOCUMENT, attempts=2)
    except CallError as exc:
        raise unavailable(exc) from exc
    if settings.dimensions not in {None, len(row)}:
        raise ModelError(
            f"{settings.dimensions} dimensions were asked for, and {channel.endpoint.host} answers with {len(row)}",
            hint=f"set memorySearch.outputDimensionality to {len(row)}, or leave it out",
        )
    return len(row)
