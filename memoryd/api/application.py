"""The API: the table of calls, collected from the modules of `calls`, the app that serves it, and its description.

The app, the access rules and the description are derived from the table. Only calls in the table are answered.

The OpenAPI description contains every route with its possible errors, and every field with its docstring. The
docstrings are read from the source on demand: pydantic could read them (`use_attribute_docstrings`), but would do so at
each start of the daemon.
"""

import ast
import contextlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, is_typeddict

import msgspec
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from memoryd import __version__
from memoryd.api import metrics, problems
from memoryd.api.access import Services
from memoryd.api.call import REQUIRED, AtReload, Injected, Row, Transport
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
)
from memoryd.api.http.connection import peer_of
from memoryd.api.http.counting import note_route
from memoryd.api.http.sockets import PORT
from memoryd.api.models import ErrorReply, RequestPart
from memoryd.config.section import attribute_docstrings, describe_properties
from memoryd.domain.access import Who
from memoryd.domain.expressions import expression
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.wire import ErrorCode

_ERRORS = {
    400: "The request is malformed or a value is out of range",
    401: "On the loopback port: the token is missing or wrong",
    403: "The access rules do not admit this session",
    404: "No such document or agent",
    408: "The request did not arrive in time",
    409: "The requested feature is off for this agent",
    413: "The request is too large",
    429: "On the loopback port: too many wrong tokens",
    431: "The request's header is too large",
    500: "An unexpected error",
    503: "Not now: stopping, busy or out of space",
    504: "The answer was not ready in the time allowed",
}

_SHAPE_AT = "#/components/schemas/{name}"
_MODEL_AT = _SHAPE_AT.replace("name", "model")
_ANSWERED = "Successful Response"
_REPLIES = "memoryd.replies."


FullTable = Annotated[tuple[Row, ...], Injected(lambda request, _sent: request.app.table)]


async def describe(table: FullTable) -> JSONResponse:
    """Describe every call, with its request and its replies."""
    return JSONResponse(description(table))


@cache
def description(table: tuple[Row, ...]) -> dict[str, Any]:
    """Return the description of a table of calls."""
    rows = [row for row in table if row.is_described]
    models = dict.fromkeys(row.body for row in rows if row.body is not None)
    bodies, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_MODEL_AT)
    shapes = definitions.get("$defs", {})
    describe_properties(RequestPart, shapes)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        parameters = row.checks.json_schema(ref_template=_MODEL_AT)
        shapes |= parameters.get("$defs", {})
        body = None if row.body is None else bodies[row.body, "validation"]
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, parameters.get("properties", {}), body)
    replies = [row.reply for row in rows if is_typeddict(row.reply)]
    return {
        "openapi": "3.1.0",
        "info": {"title": "memoryd", "version": __version__},
        "paths": paths,
        "components": {"schemas": dict(sorted({**shapes, **_replies([ErrorReply, *replies])}.items()))},
    }


def _operation(row: Row, parameters: Mapping[str, Any], body: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the description of a call: its parameters in path and query, its body, and the common errors."""
    operation: dict[str, Any] = {
        "summary": row.summary,
        "description": row.description,
        "operationId": re.sub(r"\W", "_", f"{row.handler.__name__}{row.path}_{row.method.lower()}"),
    }
    if parameters:
        named = zip(row.parameters, parameters.items(), strict=True)
        operation["parameters"] = [_parameter(row, name, *item) for name, item in named]
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}, "required": True}
    errors = {str(status): _content(text, ErrorReply) for status, text in _ERRORS.items()}
    return operation | {"responses": {str(row.status): _answer(row), **errors}}


def _parameter(row: Row, name: str, sent_as: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    default = row.default(name)
    return {
        "name": sent_as,
        "in": "path" if row.is_in_path(name) else "query",
        "required": default is REQUIRED,
        "schema": shape if default is None or default is REQUIRED else {**shape, "default": default},
        "description": shape.get("description", ""),
    }


def _answer(row: Row) -> dict[str, Any]:
    if row.stream is None:
        return _content(_ANSWERED, row.reply)
    return {"description": _ANSWERED, "content": {row.stream.media_type: {"schema": {"type": "string"}}}}


def _replies(kinds: Sequence[type]) -> dict[str, Any]:
    """Return the schemas of replies, each key with its docstring."""
    _, shapes = msgspec.json.schema_components(kinds, ref_template=_SHAPE_AT)
    docs = _docs_of(kinds)
    for name, shape in shapes.items():
        properties = shape.get("properties", {})
        shape["description"] = inspect.cleandoc(shape.get("description", ""))
        for key, text in docs.get(name, {}).items():
            # in the order of the source, which may have other keys if the program was replaced while running
            if key in properties:
                properties[key] = {**properties.pop(key), "description": text}
    return shapes


def _content(text: str, kind: type) -> dict[str, Any]:
    shape = {"$ref": _SHAPE_AT.format(name=kind.__name__)}
    return {"description": text, "content": {"application/json": {"schema": shape}}}


def _docs_of(kinds: Iterable[type]) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the keys of replies, by the names of the replies; none if the source is missing."""
    declared: dict[str, tuple[list[str], dict[str, str]]] = {}
    for module in {kind.__module__ for kind in kinds} | {name for name in sys.modules if name.startswith(_REPLIES)}:
        with contextlib.suppress(OSError, SyntaxError):
            declared |= _declared_in(ast.parse(inspect.getsource(sys.modules[module])))

    def all_of(name: str) -> dict[str, str]:
        above, own = declared.get(name, ([], {}))
        return {key: text for base in above for key, text in all_of(base).items()} | own

    return {name: all_of(name) for name in declared}


def _declared_in(tree: ast.Module) -> Iterator[tuple[str, tuple[list[str], dict[str, str]]]]:
    """Yield each class with its bases and the docstrings of its keys, including a TypedDict that is made by a call."""
    for node, below in pairwise([*tree.body, ast.Pass()]):
        if isinstance(node, ast.ClassDef):
            yield node.name, ([ast.unparse(base) for base in node.bases], attribute_docstrings(node.body))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(below, ast.Expr):
            keys = [ast.literal_eval(key) for argument in node.value.args[1:] for key in getattr(argument, "keys", ())]
            yield ast.unparse(node.targets[0]), ([], dict.fromkeys(keys, ast.literal_eval(below.value)))


TABLE = (
    Row("GET", "/openapi.json", Who.ANYONE, describe, is_described=False, at_reload=AtReload.FREE),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics),
    *status.CALLS,
    *search.CALLS,
    *recall.CALLS,
    *retain.CALLS,
    *memories.CALLS,
    *changes.CALLS,
    *entities.CALLS,
    *reflect.CALLS,
    *conversations.CALLS,
    *index.CALLS,
)


def deadlines() -> dict[str, timedelta]:
    """Return the longer deadlines of calls, by path."""
    return {row.path: row.deadline for row in TABLE if row.deadline is not None}


def at_reload() -> dict[str, AtReload]:
    """Return the behaviour of calls at a reload, by path; a missing path has the default, `AtReload.WAITS`."""
    return {row.path: row.at_reload for row in TABLE if row.at_reload is not AtReload.WAITS}


class Application:
    """The app of a table. Without services it can only be described. Replies are not validated."""

    def __init__(self, services: Services | None = None, table: Sequence[Row] = TABLE) -> None:
        self.services = services
        self.table = tuple(table)
        self._fixed = {(row.method, row.path): row for row in table if "{" not in row.path}
        self._named = [(_pattern(row.path), row) for row in table if "{" in row.path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with an error reply if its handler raises. A reply that streams itself may raise."""
        try:
            response = await self._answer(scope, receive)
        except Exception as exc:
            problem = problems.problem_of(exc)
            # first: the client may have left
            if problem.code is ErrorCode.INTERNAL:
                problems.log_unexpected(scope, exc)
            await _respond(send, problem.http_status, problems.body_of(problem), problem.headers)
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
        """Return the requested call and the parameters in its path.

        Raises NotFound, or InvalidRequest for a wrong method.
        """
        if (row := self._fixed.get((method, path))) is not None:
            return row, {}
        matches = [(row, match.groupdict()) for pattern, row in self._named if (match := pattern.fullmatch(path))]
        for row, named in matches:
            if row.method == method:
                return row, named
        others = {of for of, fixed in self._fixed if fixed == path} | {row.method for row, _ in matches}
        if others:
            refused = InvalidRequest("Method Not Allowed", hint=problems.FIELDS_HINT)
            refused.http_status, refused.headers = 405, {"Allow": ", ".join(sorted(others))}
            raise refused
        raise NotFound("Not Found", hint=problems.FIELDS_HINT)


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern for the paths of a call; names of documents, sessions and entities may contain a slash.

    A matched name need not exist; the handler checks that.
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


def _check_served(served: Transport, *, is_port: bool) -> None:
    """Raise Denied or NotFound if a call is not available on this transport."""
    if served is Transport.SOCKET and is_port:
        raise Denied("this call is answered on the owner's socket alone", hint="memoryctl asks there")
    if served is Transport.PORT and not is_port:
        raise NotFound("this path is answered on the loopback port alone", hint="set http.enabled: true to open it")
