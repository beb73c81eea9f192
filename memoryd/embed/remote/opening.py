"""Opens an endpoint and finds out how many dimensions its model has."""

import asyncio

import httpx

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.api import Api
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.channel import Channel
from memoryd.embed.remote.credentials import Credentials
from memoryd.embed.remote.failures import CallError
from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.http import Endpoint, tls
from memoryd.embed.remote.provider import api_of, context_of, identity_of
from memoryd.embed.remote.remote_embedder import RemoteEmbedder, unavailable
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.embed.remote.splitting import PROBE
from memoryd.errors import EmbedderUnavailable, ModelError


async def open_remote(settings: RemoteSettings, credentials: Credentials, gate: EndpointGate) -> RemoteEmbedder:
    """Ask the endpoint for one vector, of a word that is not the user's, and return the embedder it tells of.

    A `gate` that outlives the try remembers how long the endpoint asked to be left alone.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint where one is known, when
    the endpoint does not answer, refuses the key or does not know the model.
    """
    gate.enter(credentials)
    api = api_of(settings, credentials.api_key)
    await asyncio.to_thread(tls)
    channel = Channel(_endpoint(settings, credentials, api, gate), api)
    try:
        dimensions = channel.dimensions = await _dimensions(channel, settings)
    except BaseException:
        await channel.endpoint.aclose()
        raise
    gate.admit()
    return RemoteEmbedder(
        channel,
        identity_of(settings, channel.api, dimensions),
        tokens=PROVIDERS[settings.provider].tokens,
        context=context_of(settings),
    )


def _endpoint(settings: RemoteSettings, credentials: Credentials, api: Api, gate: EndpointGate) -> Endpoint:
    facts = PROVIDERS[settings.provider]
    if facts.needs_key and not credentials.api_key and settings.is_own_address:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint="set memorySearch.remote.apiKey")
    # names in one case, so that a configured header replaces ours instead of standing beside it
    own = {name.lower(): value for name, value in api.auth.items()}
    headers = own | {name.lower(): value for name, value in credentials.headers}
    try:
        for text in (*headers, *headers.values()):
            if not (text.isascii() and text.isprintable()):
                raise ValueError("not for a header")
        return Endpoint(
            base_url=api.base_url,
            headers=headers,
            secrets=[credentials.api_key, *(value for _, value in credentials.headers)],
            concurrency=settings.concurrency or facts.concurrency,
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
        (row,) = await channel.rows([PROBE], Purpose.DOCUMENT, attempts=2)
    except CallError as exc:
        raise unavailable(exc) from exc
    if settings.dimensions not in {None, len(row)}:
        raise ModelError(
            f"{settings.dimensions} dimensions were asked for, and {channel.endpoint.host} answers with {len(row)}",
            hint=f"set memorySearch.outputDimensionality to {len(row)}, or leave it out",
        )
    return len(row)
