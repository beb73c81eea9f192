"""The API: one table of calls, those of each noun from the end of its module, and the app that serves it.

The app, the access rules and the description are made of the table. A call that is not in it is never answered.
"""

import re
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoryd.api import metrics, openapi, problems
from memoryd.api.access import Services
from memoryd.api.call import AtReload, Row, Served
from memoryd.api.calls import (
    changes,
    conversations,
    entities,
    index,
    memories,
    opinions,
    recall,
    reflect,
    retain,
    search,
    status,
    transfer,
)
from memoryd.api.http.connection import peer_of
from memoryd.api.http.counting import note_route
from memoryd.api.http.sockets import PORT
from memoryd.domain.access import Who
from memoryd.errors import Denied, NotFound

TABLE: Final = (
    Row("GET", "/openapi.json", Who.ANYONE, openapi.describe, is_described=False, at_reload=AtReload.FREE),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics),
    *status.CALLS,
    *search.CALLS,
    *recall.CALLS,
    *retain.CALLS,
    # its paths stand before that of a memory, which a name is put into
    *transfer.CALLS,
    *memories.CALLS,
    *changes.CALLS,
    *entities.CALLS,
    *opinions.CALLS,
    *reflect.CALLS,
    *conversations.CALLS,
    *index.CALLS,
)


def deadlines() -> dict[str, timedelta]:
    """Return the paths whose answers may take longer than others."""
    return {row.path: row.deadline for row in TABLE if row.deadline is not None}


def at_reload() -> dict[str, AtReload]:
    """Return what happens to calls at a reload, by the paths of those that are not simply held and waited for."""
    return {row.path: row.at_reload for row in TABLE if row.at_reload is not AtReload.WAITS}


def application(services: Services | None = None, table: Sequence[Row] = TABLE) -> Starlette:
    """Return the app of a table; without services it can be described, and nothing else."""
    register_url_convertor("anyPath", _AnyPath())
    app = Starlette(routes=[_route(row) for row in table], exception_handlers=problems.HANDLERS)
    app.router.redirect_slashes = False
    app.state.services, app.state.table = services, table
    return app


def _route(row: Row) -> Route:
    # a name may hold a slash; nothing of that name exists, and the handler says so
    path = re.sub(r"\{(path|session|entity)\}", r"{\1:anyPath}", row.path)
    route = Route(path, _answering(row), methods=[row.method])
    # the framework would answer HEAD wherever it answers GET
    route.methods = {row.method}
    return route


def _answering(row: Row) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Return the function that answers a call; a reply has the type that is declared, and is not checked again."""

    async def answer(request: Request) -> Response:
        note_route(request.scope, row.path)
        services: Services = request.app.state.services
        socket = peer_of(request.scope).socket
        services.gate.admit_call(socket, row.who)
        _check_served(row.served, is_port=socket == PORT)
        reply = await row.answer(request)
        if isinstance(reply, Response):
            return reply
        return Response(msgspec.json.encode(reply), row.status, media_type="application/json")

    return answer


def _check_served(served: Served, *, is_port: bool) -> None:
    """Raise Denied or NotFound for a call that is not answered on this transport."""
    if served is Served.SOCKET and is_port:
        raise Denied("this call is answered on the owner's socket alone", hint="memoryctl asks there")
    if served is Served.PORT and not is_port:
        raise NotFound("this path is answered on the loopback port alone", hint="set http.enabled: true to open it")


class _AnyPath(Convertor[str]):
    """Takes every name of a file; the framework's own convertor ends at a line break."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value
