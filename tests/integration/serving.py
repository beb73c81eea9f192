"""A small app behind the real guard, server and socket, with clients for HTTP and for raw bytes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import httpx
from pydantic import BaseModel, ConfigDict, Field

from memoryd.agents.events import EventBus
from memoryd.agents.memories import AgentMemories, AgentMemory
from memoryd.api.access import AccessPolicy, DaemonState, Services
from memoryd.api.application import Application
from memoryd.api.call import Injected, call
from memoryd.api.calls import index as events
from memoryd.api.http.connection import ConnectionLimits, peer_of
from memoryd.api.http.limits import Admission, GuardLimits, guard_app
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import Listener, Peer, bind_listener
from memoryd.domain.access import AccessRules, Binding, Who
from memoryd.errors import StoreUnavailable
from tests.waiting import SECONDS

GATE = AccessPolicy(rules=AccessRules(), agents=["main", "other"], bindings={"agent": Binding("main")})


def services(
    *,
    bus: EventBus | None = None,
    gate: AccessPolicy = GATE,
    memories: Sequence[AgentMemory] = (),
    keep_alive: timedelta = timedelta(seconds=15),
) -> Services:
    """Return the services of handlers, without a daemon."""

    def no_daemon() -> DaemonState:
        raise AssertionError("there is no daemon")

    return Services(gate, AgentMemories(memories, bus=bus or EventBus()), no_daemon, keep_alive)


class Note(BaseModel):
    """A body with one required field."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(min_length=1)
    max_results: int = Field(default=6, alias="maxResults", ge=1)


class Anything(BaseModel):
    """Any object."""

    model_config = ConfigDict(extra="allow")


@dataclass
class Stage:
    """The app as a test sees it: the event bus, and requests that wait for `release`."""

    bus: EventBus = field(default_factory=EventBus)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    cancelled: int = 0


def small_app(stage: Stage) -> Application:
    async def health() -> dict[str, bool]:
        return {"ok": True}

    async def peer(caller: Annotated[Peer, Injected(lambda request, _: peer_of(request.scope))]) -> dict[str, object]:
        return {"uid": caller.uid, "pid": caller.pid, "socket": caller.socket}

    async def echo(note: Note) -> dict[str, object]:
        return {"text": note.text, "maxResults": note.max_results}

    async def raw(value: Anything) -> dict[str, Any]:
        return {"value": value.model_dump()}

    async def large(size: Annotated[int, Field(description="how many signs")]) -> dict[str, str]:
        return {"text": "x" * size}

    async def wait() -> dict[str, bool]:
        stage.waiting += 1
        try:
            await stage.release.wait()
        except asyncio.CancelledError:
            stage.cancelled += 1
            raise
        finally:
            stage.waiting -= 1
        return {"done": True}

    async def broken() -> None:
        raise RuntimeError("secret memory text in /home/somebody/notes.md")

    async def full() -> None:
        raise StoreUnavailable(
            "cannot write /home/somebody/.local/state/index.sqlite: disk full", hint="free some space"
        )

    table = [
        call("GET", "/events", Who.ANYONE, events.events),
        call("GET", "/health", Who.ANYONE, health),
        call("GET", "/peer", Who.ANYONE, peer),
        call("POST", "/echo", Who.ANYONE, echo),
        call("POST", "/raw", Who.ANYONE, raw),
        call("GET", "/large", Who.ANYONE, large),
        call("GET", "/wait", Who.ANYONE, wait),
        call("GET", "/broken", Who.ANYONE, broken),
        call("GET", "/full", Who.ANYONE, full),
    ]
    return Application(services(bus=stage.bus), table)


@contextlib.asynccontextmanager
async def serving(
    path: Path,
    stage: Stage,
    *,
    limits: ConnectionLimits | None = None,
    guard: GuardLimits | None = None,
    admission: Admission | None = None,
    listeners: list[Listener] | None = None,
    **options: Any,
) -> AsyncIterator[Server]:
    """Serve the app of `stage` with the real server, from listening to the end of its graceful stop."""
    app = guard_app(small_app(stage), guard, admission=admission)
    found = listeners if listeners is not None else [bind_listener(path)]
    server = Server(app=app, listeners=found, limits=limits, on_stopping=stage.bus.close, **options)
    running = asyncio.create_task(server.run(), name="server")
    try:
        async with asyncio.timeout(SECONDS):
            await server.started.wait()
            yield server
    finally:
        server.stop()
        await asyncio.wait([running])
        if not running.cancelled():
            running.result()


def client(path: Path) -> httpx.AsyncClient:
    """Return an HTTP client that keeps its connections open."""
    return httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(uds=str(path), verify=False), base_url="http://localhost"
    )


async def talk(path: Path, sent: bytes, *, then_eof: bool = False) -> bytes:
    """Send bytes and return the reply until the server hangs up."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        writer.write(sent)
        if then_eof:
            writer.write_eof()
        async with asyncio.timeout(SECONDS):
            return await read_all(reader)
    finally:
        await hang_up(writer)


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """Return everything until the other end hangs up, gracefully or not."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(65536):
            received += chunk
    return received


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
