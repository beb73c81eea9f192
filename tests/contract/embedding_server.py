"""A real HTTP server on loopback that speaks the wire format of a provider, and misbehaves on request.

The shapes of requests, answers and errors are written from the providers' API references.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from memoryd.domain.embedding import PROVIDERS
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Unembeddable
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.embedder import RemoteEmbedder, open_remote
from memoryd.embed.remote.settings import Credentials, EndpointAccess, RemoteSettings

DIMENSIONS = 8


async def opened_at(
    provider: str,
    base_url: str = "",
    *,
    api_key: str = "",
    headers: Mapping[str, str] | None = None,
    breaker: EndpointBreaker | None = None,
    **fields: Any,
) -> RemoteEmbedder:
    """Open an embedder of a provider with the given key and headers."""
    settings = RemoteSettings(provider, access=EndpointAccess(base_url), **fields)
    credentials = Credentials(api_key, tuple((headers or {}).items()))
    return await open_remote(settings, credentials, breaker or EndpointBreaker())


def numbers_for(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector that is unique for a text, and not of length 1."""
    seed = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    return [float(number) for number in np.random.default_rng(seed).normal(size=dimensions)]


def unit(text: str) -> Vector:
    """Return the vector that an embedder must give for a text."""
    vector = np.asarray(numbers_for(text))
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def same(got: Vector | Unembeddable, expected: Vector) -> bool:
    return not isinstance(got, Unembeddable) and got.dtype == np.float32 and np.allclose(got, expected, atol=1e-6)


def are_right(got: Sequence[Vector | Unembeddable], texts: Sequence[str]) -> bool:
    """Tell whether these are the vectors of the texts, in order."""
    return all(same(vector, unit(text)) for vector, text in zip(got, texts, strict=True))


@dataclass
class Asked:
    """A request that the server received."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Reply:
    """A special answer: its bytes, how they are sent, and what happens to the connection."""

    status: int = 200
    body: bytes | object = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    """Close after so many bytes of the body, though Content-Length announces all."""
    drip: bool = False
    """Send single bytes slowly, without end."""
    reset: bool = False
    """Reset the connection without an answer."""
    huge: bool = False
    """Send blanks without end."""

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Behaviour = Callable[[Asked], Reply | None]
"""Returns the reply to a request; None for the provider's ordinary answer."""


@dataclass
class Dialect:
    """The wire format of a provider."""

    provider: str
    texts: Callable[[Any], list[str]]
    answer: Callable[[Sequence[Sequence[object]]], object]
    error: Callable[[int, str], object]
    key_header: str
    paths: tuple[str, ...]
    too_many: tuple[int, str] = (413, "")
    """Status and text for a request with more texts than the provider takes."""
    model: str = ""
    """A model without a prompt: the provider's default, unless that has one."""

    def __post_init__(self) -> None:
        self.model = self.model or PROVIDERS[self.provider].model


def _data(rows: Sequence[Sequence[object]]) -> object:
    entries = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return {"object": "list", "data": entries[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _openai_error(status: int, message: str) -> object:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


def _input(body: Any) -> list[str]:
    return list(body["input"])


DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(
        "openai",
        _input,
        _data,
        _openai_error,
        "authorization",
        ("/v1/embeddings",),
        (400, "Requested 416735 tokens, max 300000 tokens per request"),
    ),
    "voyage": Dialect(
        "voyage",
        _input,
        _data,
        lambda _, message: {"detail": message},
        "authorization",
        ("/v1/embeddings",),
        (400, "The max allowed tokens per submitted batch is 120000. Your batch has 130000 tokens."),
    ),
    "mistral": Dialect(
        "mistral",
        _input,
        _data,
        lambda _, message: {"object": "error", "message": message, "type": "invalid_request_error", "code": "3210"},
        "authorization",
        ("/v1/embeddings",),
        (400, "Too many inputs in request, split into more batches."),
    ),
    "gemini": Dialect(
        "gemini",
        lambda body: [request["content"]["parts"][0]["text"] for request in body["requests"]],
        lambda rows: {"embeddings": [{"values": row} for row in rows]},
        lambda status, message: {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}},
        "x-goog-api-key",
        (
            "/v1/models/gemini-embedding-001:batchEmbedContents",
            "/v1/models/gemini-embedding-2-preview:batchEmbedContents",
        ),
        (400, "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch"),
    ),
    "ollama": Dialect(
        "ollama",
        _input,
        lambda rows: {"model": "m", "embeddings": list(rows), "total_duration": 14143917, "prompt_eval_count": 8},
        lambda _, message: {"error": message},
        "authorization",
        ("/api/embed",),
        model="all-minilm",
    ),
}


@dataclass
class EmbeddingServer:
    """Answers like a provider, unless `behaviour` says otherwise. `script` has one reply for each next request."""

    dialect: Dialect
    dimensions: int = DIMENSIONS
    script: list[Reply | None] = field(default_factory=list)
    behaviour: Behaviour = lambda _request: None
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    busy: int = 0
    most_busy: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is cleared, ordinary answers are held back."""
    _handlers: set[asyncio.Task[None] | None] = field(default_factory=set)
    _server: asyncio.Server | None = None

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1" if self.dialect.paths[0].startswith("/v1/") else self.origin

    @property
    def texts(self) -> list[str]:
        """Every text received so far."""
        return [text for request in self.asked for text in self.dialect.texts(request.body)]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["EmbeddingServer"]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop and break off open requests; `start` uses the same port again."""
        assert self._server is not None
        self._server.close()
        for handler in filter(None, self._handlers):
            handler.cancel()
        await asyncio.gather(*filter(None, self._handlers), return_exceptions=True)
        self._handlers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._handlers.add(asyncio.current_task())
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {key.lower(): value for key, value in (line.split(": ", 1) for line in lines)}
        asked = Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
        self.asked.append(asked)
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        try:
            reply = (self.script.pop(0) if self.script else None) or self.behaviour(asked)
            if reply is None:
                await self.gate.wait()
                reply = self.ordinary(asked)
        finally:
            self.busy -= 1
        return await self._send(reply, writer)

    def ordinary(self, request: Asked) -> Reply:
        if request.path not in self.dialect.paths:
            return Reply(404, b"404 page not found", {"Content-Type": "text/plain"})
        rows = [numbers_for(text, self.dimensions) for text in self.dialect.texts(request.body)]
        return Reply(200, self.dialect.answer(rows))

    def refusal(self, status: int, message: str, **headers: str) -> Reply:
        return Reply(status, self.dialect.error(status, message), headers)

    async def _send(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        if reply.reset:
            writer.transport.abort()
            return False
        content = reply.content()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(content))} | reply.headers
        if reply.drip or reply.huge:
            headers["Content-Length"] = str(1 << 40)
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{key}: {value}" for key, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content[: reply.cut_after])
        await writer.drain()
        while reply.huge:
            writer.write(b" " * (1 << 20))
            await writer.drain()
        while reply.drip:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)
        return reply.cut_after is None
