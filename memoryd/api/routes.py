"""The API as one table: every call, who may make it, and what answers it.

The app is made of it, and so are the access rules and the description. What does not stand here is never answered.
"""

import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from fastapi import Depends, FastAPI, Request
from fastapi.datastructures import Default
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import JSONResponse, Response

from memoryd import __version__
from memoryd.api import (
    capture,
    changes,
    core,
    description,
    entities,
    events,
    files,
    forget,
    memories,
    memory_docs,
    metrics,
    opinions,
    problems,
    qa,
    recall,
    reflect,
    reload,
    retain,
    search,
    sessions,
    status,
    sync,
    transfer,
    turns,
)
from memoryd.api.dependencies import AllServices, Services
from memoryd.api.http.connection import peer_of
from memoryd.api.http.decoded import DecodedRoute
from memoryd.api.http.sockets import PORT
from memoryd.api.http.turnstile import Exemptions
from memoryd.domain.access import Who
from memoryd.errors import Denied, NotFound
from memoryd.wire import API

Handler = Callable[..., Coroutine[object, object, object]]


class Served(StrEnum):
    """On which transport a call is answered."""

    EVERYWHERE = "everywhere"
    SOCKET = "socket"
    """On Unix sockets alone: what nobody can take back, a token that got lost does not do."""
    PORT = "port"
    """On the loopback port alone: paths that another program has, for its clients."""


class AtReload(StrEnum):
    """What becomes of a call while a reload exchanges what it asks."""

    WAITS = "waits"
    """A new one is held; one in flight is waited for, before anybody is held if it has a deadline of its own."""
    AGAIN = "again"
    """As it does nothing but wait, it is broken off and asked again."""
    STREAMS = "streams"
    """A new one is held; one in flight goes on."""
    FREE = "free"
    """It goes on, since it needs nothing that is exchanged."""


@dataclass(frozen=True, slots=True)
class Row:
    """One call, its path as the description writes it.

    `replies` is the class of what is no plain JSON; `deadline` is how long an answer may take, None: as any other.
    """

    method: str
    path: str
    who: Who
    handler: Handler
    summary: str
    status: int = 200
    replies: type[Response] | None = None
    deadline: timedelta | None = None
    is_described: bool = True
    served: Served = Served.EVERYWHERE
    at_reload: AtReload = AtReload.WAITS


LONGEST_WAIT: Final = timedelta(hours=1, minutes=1)
"""A little more than a caller may ask for."""
FORGETTING: Final = timedelta(minutes=2)
"""The words of a large index are written anew."""
REFLECTING: Final = timedelta(minutes=10, seconds=10)
"""Thousands of pages may be written, and a model may be asked about some of them."""
RELOADING: Final = timedelta(minutes=14)
"""Calls in flight are waited for, also a run of reflect."""

TABLE: Final = (
    Row(
        "GET",
        "/openapi.json",
        Who.ANYONE,
        description.describe,
        "Describe the API",
        is_described=False,
        at_reload=AtReload.FREE,
    ),
    Row("GET", f"{API}/health", Who.ANYONE, status.get_health, "Say that the daemon answers", at_reload=AtReload.FREE),
    Row("GET", f"{API}/status", Who.AGENT, status.get_status, "Describe the daemon and its agents"),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics, "Tell figures to Prometheus", replies=metrics.MetricsText),
    Row("POST", f"{API}/search", Who.SESSION, search.search, "Search a memory"),
    Row("GET", f"{API}/files/{{path}}", Who.SESSION, files.get_file, "Read lines of a document"),
    Row("POST", f"{API}/sessions/start", Who.SESSION, sessions.start, "Begin a session"),
    Row("GET", f"{API}/sessions", Who.SESSION, sessions.listing, "List conversations and transcripts"),
    Row("GET", f"{API}/sessions/lines", Who.SESSION, sessions.lines, "Read lines of a conversation"),
    Row(
        "POST",
        f"{API}/sessions/sync",
        Who.AGENT,
        sessions.sync,
        "Read transcripts now",
        deadline=LONGEST_WAIT,
        at_reload=AtReload.AGAIN,
    ),
    Row(
        "POST",
        f"{API}/sessions/forget",
        Who.OWNER,
        sessions.forget,
        "Take a conversation out of everything",
        deadline=FORGETTING,
        served=Served.SOCKET,
    ),
    Row("POST", f"{API}/sessions/remember", Who.SESSION, sessions.remember, "Do not remember a conversation"),
    Row("POST", f"{API}/qa/turns", Who.SESSION, qa.add, "Store a turn of a conversation"),
    Row("GET", f"{API}/qa/sessions", Who.SESSION, qa.sessions, "List conversations"),
    Row("GET", f"{API}/qa/sessions/{{session}}", Who.SESSION, qa.session, "Read turns of a conversation"),
    Row("POST", f"{API}/qa/context", Who.SESSION, qa.context, "Choose the turns to put before an agent"),
    Row("POST", f"{API}/qa/mark", Who.SESSION, qa.mark, "Keep the answer of a turn, or drop it"),
    Row("GET", f"{API}/qa/topics", Who.SESSION, qa.topics, "List what was talked about"),
    Row("GET", f"{API}/qa/stats", Who.SESSION, qa.stats, "Count turns and kept answers"),
    Row("POST", f"{API}/turns", Who.SESSION, turns.take, "Take a message of a conversation"),
    Row("POST", f"{API}/recall", Who.SESSION, recall.recall, "Recall what answers"),
    Row("POST", f"{API}/capture", Who.OWNER, capture.capture, "Keep what a message states, or say what would be"),
    Row("POST", f"{API}/retain", Who.SESSION, retain.retain, "State memories"),
    Row("GET", f"{API}/memories", Who.SESSION, memories.listing, "List memories"),
    Row("POST", f"{API}/memories", Who.SESSION, memories.add, "State one memory"),
    Row("POST", f"{API}/memories/search", Who.SESSION, memories.search, "Find memories that answer"),
    Row("GET", f"{API}/memories/stats", Who.SESSION, memories.stats, "Count memories"),
    Row("GET", f"{API}/memories/decay", Who.SESSION, memories.decay, "Say how memories will stand"),
    Row("GET", f"{API}/memories/export", Who.OWNER, transfer.export, "Hand out memories, a page at a time"),
    Row("POST", f"{API}/memories/import", Who.OWNER, transfer.take, "State memories of another workspace"),
    Row("GET", f"{API}/memories/{{memory}}/why", Who.SESSION, memories.why, "Say why a memory stands where it does"),
    Row("GET", f"{API}/memories/{{memory}}", Who.SESSION, memories.get, "Tell a memory"),
    Row("DELETE", f"{API}/memories/{{memory}}", Who.SESSION, memories.delete, "Take the lines of a memory out"),
    Row("POST", f"{API}/memories/{{memory}}/pin", Who.SESSION, memories.pin, "Pin a memory"),
    Row("POST", f"{API}/memories/{{memory}}/unpin", Who.SESSION, memories.unpin, "Take the pin of a memory away"),
    Row("POST", f"{API}/memories/{{memory}}/importance", Who.SESSION, memories.importance, "Say how important it is"),
    Row(
        "POST",
        f"{API}/forget",
        Who.OWNER,
        forget.forget,
        "Take a memory out of everything",
        deadline=FORGETTING,
        served=Served.SOCKET,
    ),
    Row("GET", f"{API}/verify", Who.SESSION, forget.verify, "Tell whether a citation still stands"),
    Row("GET", f"{API}/opinions", Who.SESSION, opinions.listing, "List opinions with their confidence"),
    Row("GET", f"{API}/opinions/{{opinion}}", Who.SESSION, opinions.why, "Say why an opinion is held"),
    Row("POST", f"{API}/opinions/replay", Who.SESSION, opinions.replay, "Compute all confidences anew and compare"),
    Row("GET", f"{API}/core", Who.OWNER, core.show, "Show the core file"),
    Row("POST", f"{API}/core/append", Who.OWNER, core.append, "Add lines to the core file"),
    Row("POST", f"{API}/core/replace", Who.OWNER, core.replace, "Replace a text of the core file"),
    Row("POST", f"{API}/core/insert", Who.OWNER, core.insert, "Insert lines into the core file"),
    Row("GET", f"{API}/entities", Who.SESSION, entities.listing, "List what memories are about"),
    Row("GET", f"{API}/entities/{{entity}}", Who.SESSION, entities.show, "Tell what is known of an entity"),
    Row("POST", f"{API}/entities/merge", Who.OWNER, entities.merge, "Make a name an alias of an entity"),
    Row("POST", f"{API}/entities/split", Who.OWNER, entities.split, "Take an alias out again"),
    Row("GET", f"{API}/changes", Who.OWNER, changes.changes, "List what was written"),
    Row("POST", f"{API}/undo", Who.OWNER, changes.undo, "Take back what was written"),
    Row(
        "GET",
        f"{API}/events",
        Who.SESSION,
        events.events,
        "Follow what happens",
        replies=events.EventStream,
        at_reload=AtReload.STREAMS,
    ),
    Row(
        "POST", f"{API}/reflect", Who.OWNER, reflect.reflect, "Bring pages and opinions up to date", deadline=REFLECTING
    ),
    Row("GET", f"{API}/proposals", Who.OWNER, reflect.proposals, "List changes that wait for the owner"),
    Row("GET", f"{API}/proposals/{{proposal}}", Who.OWNER, reflect.proposal, "Show a proposal"),
    Row("POST", f"{API}/proposals/{{proposal}}/accept", Who.OWNER, reflect.accept, "Write what a proposal says"),
    Row("POST", f"{API}/proposals/{{proposal}}/reject", Who.OWNER, reflect.reject, "Take a proposal out of the queue"),
    Row(
        "POST",
        f"{API}/sync",
        Who.AGENT,
        sync.sync,
        "Scan now, and wait for it",
        deadline=LONGEST_WAIT,
        at_reload=AtReload.AGAIN,
    ),
    Row("POST", f"{API}/reindex", Who.OWNER, sync.reindex, "Read or embed everything again", status=202),
    Row(
        "POST",
        f"{API}/reload",
        Who.OWNER,
        reload.reload,
        "Read the configuration again",
        deadline=RELOADING,
        served=Served.SOCKET,
        at_reload=AtReload.FREE,
    ),
    # as rsclaw has them, for programs that were written for it
    *(
        Row(method, f"/api/v1/memory/{path}", Who.OWNER, handler, summary, served=Served.PORT)
        for method, path, handler, summary in (
            ("GET", "stats", memory_docs.stats, "Count memories, for clients of rsclaw"),
            ("GET", "docs", memory_docs.listing, "List or find memories, for clients of rsclaw"),
            ("GET", "docs/{memory}", memory_docs.get, "Tell a memory, for clients of rsclaw"),
            ("POST", "{memory}/pin", memory_docs.pin, "Pin a memory, for clients of rsclaw"),
            ("POST", "{memory}/unpin", memory_docs.unpin, "Take a pin away, for clients of rsclaw"),
            ("POST", "{memory}/importance", memory_docs.importance, "Weigh a memory, for clients of rsclaw"),
            ("DELETE", "{memory}", memory_docs.delete, "Take a memory out, for clients of rsclaw"),
        )
    ),
)


def deadlines() -> dict[str, timedelta]:
    """Return the paths whose answers may take longer than others."""
    return {row.path: row.deadline for row in TABLE if row.deadline is not None}


def exemptions() -> Exemptions:
    """Return which paths are not simply held while a reload exchanges what they ask."""
    paths = {kind: frozenset(row.path for row in TABLE if row.at_reload is kind) for kind in AtReload}
    return Exemptions(
        free=paths[AtReload.FREE],
        streams=paths[AtReload.STREAMS],
        again=paths[AtReload.AGAIN],
        long=paths[AtReload.WAITS] & deadlines().keys(),
    )


def application(services: Services | None = None, table: Sequence[Row] = TABLE) -> FastAPI:
    """Return the app of a table; without services it can be described, and nothing else."""
    app = FastAPI(
        title="memoryd",
        version=__version__,
        openapi_url=None,
        responses=description.ERRORS,
        redirect_slashes=False,
    )
    app.state.services = services
    problems.install(app)
    description.install(app)
    install(app, table)
    return app


def install(app: FastAPI, table: Sequence[Row]) -> None:
    """Serve a table behind the gate, and nothing beside it; raises ValueError for an app that has other routes."""
    register_url_convertor("anyPath", _AnyPath())
    rows = {(row.method, row.path): row for row in table}

    async def guard(request: Request, services: AllServices) -> None:
        # looked up by what is served, so that a route that was added behind our back is for nobody
        row = rows.get((request.method, request.scope["route"].path_format))
        socket = peer_of(request.scope).socket
        services.gate.admit_call(socket, None if row is None else row.who)
        if row is not None:
            _check_served(row.served, is_port=socket == PORT)

    app.router.dependencies.append(Depends(guard))
    app.router.route_class = DecodedRoute
    for row in table:
        app.add_api_route(
            # a name that holds a slash is a name all the same, and of nothing that there is
            re.sub(r"\{(path|session|entity)\}", r"{\1:anyPath}", row.path),
            row.handler,
            methods=[row.method],
            summary=row.summary,
            status_code=row.status,
            # said only where it must be: FastAPI writes models as JSON by a shorter way where nobody chose a class
            response_class=row.replies or Default(JSONResponse),
            include_in_schema=row.is_described,
        )
    for route in app.routes:
        calls = {(it, route.path_format) for it in route.methods or ()} if isinstance(route, APIRoute) else None
        if calls is None or not calls <= rows.keys():
            raise ValueError(f"the app answers what does not stand in the table: {route}")


def _check_served(served: Served, *, is_port: bool) -> None:
    """Raise Denied or NotFound for a call that is not answered on this transport."""
    if served is Served.SOCKET and is_port:
        raise Denied("this call is answered on the owner's socket alone", hint="memoryctl asks there")
    if served is Served.PORT and not is_port:
        raise NotFound("this path is answered on the loopback port alone", hint="set http.enabled: true to open it")


class _AnyPath(Convertor[str]):
    """Takes every name that a file can have; the framework's own convertor ends at a line break."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value
