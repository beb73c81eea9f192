"""The app that serves the table of calls, and nothing beside it, behind the gate."""

import functools
import re
from collections.abc import Sequence

import msgspec
from fastapi import Depends, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import JSONResponse, Response

from memoryd import __version__
from memoryd.api import openapi, problems
from memoryd.api.access import AllServices, Services
from memoryd.api.http.body import DecodedRoute
from memoryd.api.http.connection import peer_of
from memoryd.api.http.sockets import PORT
from memoryd.api.routes import TABLE, Handler, Row, Served
from memoryd.errors import Denied, NotFound


def application(services: Services | None = None, table: Sequence[Row] = TABLE) -> FastAPI:
    """Return the app of a table; without services it can be described, and nothing else."""
    app = FastAPI(
        title="memoryd",
        version=__version__,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.services = services
    problems.install(app)
    openapi.install(app)
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
            _answering(row.handler, row.status),
            methods=[row.method],
            summary=row.summary,
            status_code=row.status,
            response_model=None,
            response_class=row.replies or JSONResponse,
            include_in_schema=row.is_described,
        )
    for route in app.routes:
        calls = {(it, route.path_format) for it in route.methods or ()} if isinstance(route, APIRoute) else None
        if calls is None or not calls <= rows.keys():
            raise ValueError(f"the app answers what does not stand in the table: {route}")


def _answering(handler: Handler, status: int) -> Handler:
    """Have the reply of a handler, a TypedDict, written as JSON: it is what its type says, and nobody looks again."""

    @functools.wraps(handler)
    async def answer(**given: object) -> Response:
        reply = await handler(**given)
        if isinstance(reply, Response):
            return reply
        return Response(msgspec.json.encode(reply), status, media_type="application/json")

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
