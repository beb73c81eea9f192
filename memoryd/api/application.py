"""The app that serves a table of calls, and nothing beside it, behind the gate."""

import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoryd.api import problems
from memoryd.api.access import Services
from memoryd.api.call import Row, Served
from memoryd.api.http.connection import peer_of
from memoryd.api.http.counting import note_route
from memoryd.api.http.sockets import PORT
from memoryd.api.routes import TABLE
from memoryd.errors import Denied, NotFound


def application(services: Services | None = None, table: Sequence[Row] = TABLE) -> Starlette:
    """Return the app of a table; without services it can be described, and nothing else."""
    register_url_convertor("anyPath", _AnyPath())
    app = Starlette(routes=[_route(row) for row in table], exception_handlers=problems.HANDLERS)
    app.router.redirect_slashes = False
    app.state.services, app.state.table = services, table
    return app


def _route(row: Row) -> Route:
    # a name that holds a slash is a name all the same, and of nothing that there is
    path = re.sub(r"\{(path|session|entity)\}", r"{\1:anyPath}", row.path)
    route = Route(path, _answering(row), methods=[row.method])
    # the framework answers HEAD wherever it answers GET
    route.methods = {row.method}
    return route


def _answering(row: Row) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Return what answers a call, for whoever may make it; a reply is what its type says, and nobody looks again."""

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
    """Takes every name that a file can have; the framework's own convertor ends at a line break."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value
