"""The running index and daemon: `/v1/events`, `/v1/files/{path}`, `/v1/reload`, `/v1/sync` and `/v1/reindex`.

`/v1/page` opens the page for a browser.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing
from datetime import timedelta
from typing import Annotated

from pydantic import Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoryd.agents.events import PublishedEvent, Subscription
from memoryd.api.access import AdmittedByQuery, AllServices, Memories, RequestCaller, Waited, wait_left
from memoryd.api.call import LONGEST_WAIT, AtReload, Transport, call
from memoryd.api.models import Request, WaitMs
from memoryd.domain.access import Who
from memoryd.errors import NotNow
from memoryd.files.excerpts import DEFAULT_LINES, LineRange
from memoryd.replies.daemon import PageReply
from memoryd.replies.search import FileReply, ReindexReply, ReloadReply, SyncReply
from memoryd.wire import LINES_MAX, POSITION_MAX, SyncGoal


class SyncRequest(Request):
    """`indexed` waits until everything that was on disk is searchable by words, `embedded` also by vector."""

    wait: SyncGoal = "indexed"
    """What to wait for: `none`, `indexed` (found by words) or `embedded` (by meaning, too)."""
    timeout_ms: WaitMs = None
    """The maximum wait in milliseconds; null: 30 seconds."""


class ReindexRequest(Request):
    """`force` reads and cuts every file anew, `embeddings` makes every vector anew."""

    force: bool = False
    """Read and cut every file anew, even if it has not changed."""
    embeddings: bool = False
    """Make every vector anew."""


class EventStream(Response):
    """A reply that lasts until the last event, or until the client leaves and the guard cancels it."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._chunks) as chunks:
            # the generator subscribes first: one stream too many then becomes an error reply, not a broken stream
            chunk: bytes | None = await anext(chunks, b"")
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while chunk is not None:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                chunk = await anext(chunks, None)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _stream(events: AbstractContextManager[Subscription], keep_alive: timedelta) -> AsyncGenerator[bytes, None]:
    with events as subscription:
        yield b": connected\n\n"
        while True:
            try:
                async with asyncio.timeout(keep_alive.total_seconds()):
                    event = await subscription.next()
            except TimeoutError:
                yield b": keep-alive\n\n"
                continue
            if event is None:
                return
            yield encode_event(event)


def encode_event(event: PublishedEvent) -> bytes:
    """Return an event in the format of the stream; `dropped` is added to its data if events were dropped."""
    data = {**event.data, "dropped": event.dropped} if event.dropped else dict(event.data)
    return f"event: {event.event}\ndata: {json.dumps(data)}\n\n".encode()


async def events(admitted: AdmittedByQuery, memories: Memories, services: AllServices) -> EventStream:
    """Follow indexing, embedding, model and degradation events as they happen.

    Without an agent and a session key, follow those of all agents.
    """
    return EventStream(_stream(memories.follow(admitted), services.keep_alive))


DocumentPath = Annotated[
    str, Field(description="the path of the document, or a citation of its lines, percent-encoded")
]
FromLine = Annotated[int, Field(alias="from", ge=1, le=POSITION_MAX, description="the first line, from 1")]
LineCount = Annotated[int, Field(ge=1, le=LINES_MAX, description="maximum number of lines")]
FromColumn = Annotated[int, Field(ge=1, le=POSITION_MAX, description="the first character of that line, from 1")]


async def get_file(
    path: DocumentPath,
    admitted: AdmittedByQuery,
    memories: Memories,
    from_: FromLine = 1,
    lines: LineCount = DEFAULT_LINES,
    column: FromColumn = 1,
) -> FileReply:
    """Read lines of a document or conversation, by its path or a citation. Only indexed documents can be read."""
    return await memories.read(admitted, path, LineRange(from_, lines, column))


IsDry = Annotated[bool, Field(alias="dryRun", description="`true`: only report what a reload would do")]


async def reload(services: AllServices, is_dry: IsDry = False) -> ReloadReply:
    """Load the configuration anew and apply what changed; other calls wait until then, and none is refused.

    An invalid file changes nothing; the reply says why.
    """
    reload = services.check_at_reload if is_dry else services.reload
    if reload is None:
        raise NotNow("there is no configuration file to read again")
    return await reload()


class PageRequest(Request):
    """The agent whose memory the page shows first, and how long the page stays open."""

    keep: bool = False
    """Keep it open until the daemon exits; else it closes after half an hour without a request."""


async def page(request: PageRequest, caller: RequestCaller, services: AllServices) -> PageReply:
    """Open the page for a browser on this machine, and return a link that is valid once, within a minute.

    If the loopback port is off, it is opened only for the page.
    """
    if services.open_page is None:
        raise NotNow("there is no page here")
    return await services.open_page(caller.agent_of(request.agent), request.keep)


async def sync(request: SyncRequest, caller: RequestCaller, memories: Memories, waited: Waited) -> SyncReply:
    """Scan now; with `wait`, answer when everything that was on disk before the call is searchable.

    Vectors that are made only on request are made if the owner makes the call: an agent must not spend what its
    owner holds back.
    """
    agent, limit = caller.agent_of(request.agent), wait_left(request.timeout_ms, waited)
    return await memories.sync(agent, request.wait, limit, is_asking=caller.binding.is_owner)


async def reindex(request: ReindexRequest, caller: RequestCaller, memories: Memories) -> ReindexReply:
    """Read every file again, or make every vector again, in the background."""
    agent = caller.agent_of(request.agent)
    return await memories.reindex(agent, force=request.force, embeddings=request.embeddings)


RELOADING = timedelta(minutes=14)
"""A reload waits for calls in flight, including a run of reflect."""

CALLS = (
    call("GET", "/files/{path}", Who.SESSION, get_file),
    call("GET", "/events", Who.SESSION, events, at_reload=AtReload.STREAMS),
    call("POST", "/sync", Who.AGENT, sync, deadline=LONGEST_WAIT, at_reload=AtReload.AGAIN),
    call("POST", "/reindex", Who.OWNER, reindex, status=202),
    call("POST", "/page", Who.OWNER, page, served=Transport.SOCKET, at_reload=AtReload.FREE),
    call("POST", "/reload", Who.OWNER, reload, deadline=RELOADING, served=Transport.SOCKET, at_reload=AtReload.FREE),
)
