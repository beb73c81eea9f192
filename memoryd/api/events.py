"""`GET /v1/events`: what happens in the daemon, as a stream of server-sent events."""

import asyncio
import json
from contextlib import AbstractContextManager
from datetime import timedelta

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoryd.agents.events import Happening, Subscription
from memoryd.api.dependencies import AdmittedByQuery, AllServices, Memories


class EventStream(Response):
    """A reply that lasts until nothing more can happen, or the client leaves, for which the guard cancels it."""

    media_type = "text/event-stream"

    def __init__(self, followed: AbstractContextManager[Subscription], *, keep_alive: timedelta) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._followed = followed
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # subscribing comes first: one stream too many is then an error reply, not a broken stream
        with self._followed as subscription:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await _send_chunk(send, b": connected\n\n")
            while (chunk := await self._next_chunk(subscription)) is not None:
                await _send_chunk(send, chunk)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next_chunk(self, subscription: Subscription) -> bytes | None:
        try:
            async with asyncio.timeout(self._keep_alive.total_seconds()):
                happening = await subscription.next()
        except TimeoutError:
            return b": keep-alive\n\n"
        return None if happening is None else encoded(happening)


async def _send_chunk(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


def encoded(happening: Happening) -> bytes:
    """Return an event as the stream carries it; its data gains `dropped` if any were."""
    data = {**happening.data, "dropped": happening.dropped} if happening.dropped else dict(happening.data)
    return f"event: {happening.event}\ndata: {json.dumps(data)}\n\n".encode()


async def events(admitted: AdmittedByQuery, memories: Memories, services: AllServices) -> EventStream:
    """Follow indexing, embedding, model and degradation events as they happen.

    Without an agent and a session key they are those of all agents.
    """
    return EventStream(memories.follow(admitted), keep_alive=services.keep_alive)
