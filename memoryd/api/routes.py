"""The API as one table: every call, who may make it, and what answers it.

The app, the access rules and the description are made of it. What is not in it is never answered.
"""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct
from starlette.responses import Response

from memoryd.api import metrics, openapi
from memoryd.api.calls import (
    changes,
    core,
    entities,
    forget,
    index,
    memories,
    opinions,
    qa,
    recall,
    reflect,
    retain,
    search,
    sessions,
    status,
    transfer,
    turns,
)
from memoryd.api.http.reload_gate import Exemptions
from memoryd.domain.access import Who
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
    """One in flight is waited for before anybody is held, longer if it has a deadline of its own; then a new one is."""
    AGAIN = "again"
    """As it does nothing but wait, it is broken off and asked again."""
    STREAMS = "streams"
    """A new one is held; one in flight goes on."""
    FREE = "free"
    """It goes on, since it needs nothing that is exchanged."""


class Row(Struct, frozen=True):
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
        openapi.describe,
        "Describe the API",
        is_described=False,
        at_reload=AtReload.FREE,
    ),
    Row("GET", f"{API}/health", Who.ANYONE, status.get_health, "Say that the daemon answers", at_reload=AtReload.FREE),
    Row("GET", f"{API}/status", Who.AGENT, status.get_status, "Describe the daemon and its agents"),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics, "Tell figures to Prometheus", replies=metrics.MetricsText),
    Row("POST", f"{API}/search", Who.SESSION, search.search, "Search a memory"),
    Row("GET", f"{API}/files/{{path}}", Who.SESSION, index.get_file, "Read lines of a document"),
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
    Row("POST", f"{API}/capture", Who.OWNER, retain.capture, "Keep what a message states, or say what would be"),
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
    Row("POST", f"{API}/memories/{{memory}}/replace", Who.SESSION, memories.replace, "Say what holds in its place"),
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
        index.events,
        "Follow what happens",
        replies=index.EventStream,
        at_reload=AtReload.STREAMS,
    ),
    Row(
        "POST", f"{API}/reflect", Who.OWNER, reflect.reflect, "Bring pages and opinions up to date", deadline=REFLECTING
    ),
    Row("GET", f"{API}/disagreements", Who.OWNER, memories.disagreements, "List what may contradict what"),
    Row("POST", f"{API}/disagreements/{{disagreement}}", Who.OWNER, memories.settle, "Say which of two holds"),
    Row("GET", f"{API}/proposals", Who.OWNER, reflect.proposals, "List changes that wait for the owner"),
    Row("GET", f"{API}/proposals/{{proposal}}", Who.OWNER, reflect.proposal, "Show a proposal"),
    Row("POST", f"{API}/proposals/{{proposal}}/accept", Who.OWNER, reflect.accept, "Write what a proposal says"),
    Row("POST", f"{API}/proposals/{{proposal}}/reject", Who.OWNER, reflect.reject, "Take a proposal out of the queue"),
    Row(
        "POST",
        f"{API}/sync",
        Who.AGENT,
        index.sync,
        "Scan now, and wait for it",
        deadline=LONGEST_WAIT,
        at_reload=AtReload.AGAIN,
    ),
    Row("POST", f"{API}/reindex", Who.OWNER, index.reindex, "Read or embed everything again", status=202),
    Row(
        "POST",
        f"{API}/reload",
        Who.OWNER,
        index.reload,
        "Read the configuration again",
        deadline=RELOADING,
        served=Served.SOCKET,
        at_reload=AtReload.FREE,
    ),
    # as rsclaw has them, for programs that were written for it
    *(
        Row(method, f"/api/v1/memory/{path}", Who.OWNER, handler, summary, served=Served.PORT)
        for method, path, handler, summary in (
            ("GET", "stats", transfer.stats, "Count memories, for clients of rsclaw"),
            ("GET", "docs", transfer.listing, "List or find memories, for clients of rsclaw"),
            ("GET", "docs/{memory}", transfer.get, "Tell a memory, for clients of rsclaw"),
            ("POST", "{memory}/pin", transfer.pin, "Pin a memory, for clients of rsclaw"),
            ("POST", "{memory}/unpin", transfer.unpin, "Take a pin away, for clients of rsclaw"),
            ("POST", "{memory}/importance", transfer.importance, "Weigh a memory, for clients of rsclaw"),
            ("DELETE", "{memory}", transfer.delete, "Take a memory out, for clients of rsclaw"),
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
