"""The API: one table of calls, those of each noun from the end of its module, and the app that serves it.

The app, the access rules and the description are made of the table. A call that is not in it is never answered.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoryd.api import metrics, openapi, problems
from memoryd.api.access import Services
from memoryd.api.call import AtReload, Row, Served
from memoryd.api.calls import (
    changes,
    conversations,
    entities,
    index,
    memories,
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
from memoryd.domain.expressions import expression
from memoryd.errors import Denied, NotFound
from memoryd.wire import ErrorCode

TABLE = (
    Row("GET", "/openapi.json", Who.ANYONE, openapi.describe, is_described=False, at_reload=AtReload.FREE),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics),
    *status.CALLS,
    *search.CALLS,
    *recall.CALLS,
    *retain.CALLS,
    *transfer.CALLS,
    *memories.CALLS,
    *changes.CALLS,
    *entities.CALLS,
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


class Application:
    """The app of a table; without services it can be described, and nothing else. A reply is not checked again."""

    def __init__(self, services: Services | None = None, table: Sequence[Row] = TABLE) -> None:
        self.services = services
        self.table = tuple(table)
        self._fixed = {(row.method, row.path): row for row in table if "{" not in row.path}
        self._named = [(_pattern(row.path), row) for row in table if "{" in row.path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, also where its handler raises; raises what a reply that writes itself does."""
        try:
            response = await self._answer(scope, receive)
        except Exception as exc:
            problem = problems.problem_of(exc)
            # first: the client may have left
            if problem.code is ErrorCode.INTERNAL:
                problems.log_unexpected(scope, exc)
            await _respond(send, problem.http_status, problem.body(), problem.headers)
            return
        if isinstance(response, Response):
            await response(scope, receive, send)
        else:
            await _respond(send, *response)

    async def _answer(self, scope: Scope, receive: Receive) -> Response | tuple[int, bytes]:
        row, named = self._row(scope["method"], scope["path"])
        note_route(scope, row.path)
        if self.services is None:
            raise NotFound("this app has no services")
        socket = peer_of(scope).socket
        self.services.gate.admit_call(socket, row.who)
        _check_served(row.served, is_port=socket == PORT)
        scope.update(app=self, path_params=named)
        reply = await row.answer(Request(scope, receive))
        return reply if isinstance(reply, Response) else (row.status, msgspec.json.encode(reply))

    def _row(self, method: str, path: str) -> tuple[Row, dict[str, str]]:
        """Return the call that is meant, and what its path names; raises HTTPException."""
        if (row := self._fixed.get((method, path))) is not None:
            return row, {}
        matches = [(row, match.groupdict()) for pattern, row in self._named if (match := pattern.fullmatch(path))]
        found = next(((row, named) for row, named in matches if row.method == method), None)
        if found is not None:
            return found
        others = {of for of, fixed in self._fixed if fixed == path} | {row.method for row, _ in matches}
        if others:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(others))})
        raise HTTPException(404)


def _pattern(path: str) -> re.Pattern[str]:
    """Return what paths of a call look like; names of documents, sessions and entities may hold a slash.

    Nothing may be of that name: the handler says so.
    """
    named = re.sub(r"\\{(path|session|entity)\\}", r"(?P<\1>(?s:.*))", re.escape(path))
    return expression(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", named))


async def _respond(send: Send, status: int, body: bytes, more: Mapping[str, str] = MappingProxyType({})) -> None:
    headers = [
        (b"content-length", str(len(body)).encode()),
        (b"content-type", b"application/json"),
        *((name.lower().encode(), value.encode()) for name, value in more.items()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _check_served(served: Served, *, is_port: bool) -> None:
    """Raise Denied or NotFound for a call that is not answered on this transport."""
    if served is Served.SOCKET and is_port:
        raise Denied("this call is answered on the owner's socket alone", hint="memoryctl asks there")
    if served is Served.PORT and not is_port:
        raise NotFound("this path is answered on the loopback port alone", hint="set http.enabled: true to open it")
