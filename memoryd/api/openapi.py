"""The OpenAPI description: every route with the errors it can answer, and every field with its docstring.

The docstrings are read from the source on demand: pydantic could take them (`use_attribute_docstrings`), but would
read all of them at each start of the daemon.
"""

import ast
import contextlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, is_typeddict

import msgspec
from pydantic.json_schema import models_json_schema
from starlette.responses import JSONResponse

from memoryd import __version__
from memoryd.api.call import REQUIRED, Injected, Row
from memoryd.api.models import ErrorReply
from memoryd.api.models import Request as RequestModel
from memoryd.config.section import attribute_docstrings, describe_properties

_ALWAYS = {
    400: "The request is malformed or a value is out of range",
    401: "On the loopback port: the token is missing or wrong",
    404: "No such document or agent",
    408: "The request did not come in time",
    413: "The request is too large",
    429: "On the loopback port: too many wrong tokens",
    431: "The request's header is too large",
    500: "An unexpected error",
    503: "Not now: stopping, busy or out of space",
    504: "The answer did not come in the time allowed",
}
_BY_GATE = {403: "The access rules do not let this session ask", 409: "What is asked for is off for this agent"}

_SHAPE_AT = "#/components/schemas/{name}"
_MODEL_AT = _SHAPE_AT.replace("name", "model")
_ANSWERED = "Successful Response"
_REPLIES = "memoryd.replies."


WholeTable = Annotated[tuple[Row, ...], Injected(lambda request, _sent: request.app.table)]


async def describe(table: WholeTable) -> JSONResponse:
    """Describe every call, with its request and its replies."""
    return JSONResponse(description(table))


@cache
def description(table: tuple[Row, ...]) -> dict[str, Any]:
    """Return the description of a table of calls."""
    rows = [row for row in table if row.is_described]
    models = dict.fromkeys(row.body for row in rows if row.body is not None)
    bodies, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_MODEL_AT)
    shapes = definitions.get("$defs", {})
    describe_properties(RequestModel, shapes)
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
    """Return the description of a call: its parameters in path and query, its body, and the errors, which all share."""
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
    errors = {str(status): _content(text, ErrorReply) for status, text in sorted({**_ALWAYS, **_BY_GATE}.items())}
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
    """Return the shapes of replies, each key with its docstring."""
    _, shapes = msgspec.json.schema_components(kinds, ref_template=_SHAPE_AT)
    docs = _docs_of(kinds)
    for name, shape in shapes.items():
        properties = shape.get("properties", {})
        shape["description"] = inspect.cleandoc(shape.get("description", ""))
        for key, text in docs.get(name, {}).items():
            # in the order of the source, which may have other keys where the program was replaced meanwhile
            if key in properties:
                properties[key] = {**properties.pop(key), "description": text}
    return shapes


def _content(text: str, kind: type) -> dict[str, Any]:
    shape = {"$ref": _SHAPE_AT.format(name=kind.__name__)}
    return {"description": text, "content": {"application/json": {"schema": shape}}}


def _docs_of(kinds: Iterable[type]) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the keys of replies, by the names of the replies; none where the source is gone."""
    declared: dict[str, tuple[list[str], dict[str, str]]] = {}
    for module in {kind.__module__ for kind in kinds} | {name for name in sys.modules if name.startswith(_REPLIES)}:
        with contextlib.suppress(OSError, SyntaxError):
            declared |= _declared_in(ast.parse(inspect.getsource(sys.modules[module])))

    def all_of(name: str) -> dict[str, str]:
        above, own = declared.get(name, ([], {}))
        return {key: text for base in above for key, text in all_of(base).items()} | own

    return {name: all_of(name) for name in declared}


def _declared_in(tree: ast.Module) -> Iterator[tuple[str, tuple[list[str], dict[str, str]]]]:
    """Yield each class with its bases and the docstrings of its keys; also a TypedDict that is made by a call."""
    for node, below in pairwise([*tree.body, ast.Pass()]):
        if isinstance(node, ast.ClassDef):
            yield node.name, ([ast.unparse(base) for base in node.bases], attribute_docstrings(node.body))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(below, ast.Expr):
            keys = [ast.literal_eval(key) for argument in node.value.args[1:] for key in getattr(argument, "keys", ())]
            yield ast.unparse(node.targets[0]), ([], dict.fromkeys(keys, ast.literal_eval(below.value)))
