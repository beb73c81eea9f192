"""The OpenAPI description: every route with the errors it can answer, and every field with its docstring.

The docstrings are read from the source on demand: pydantic could take them (`use_attribute_docstrings`), but would
read all of them at each start of the daemon.
"""

import ast
import contextlib
import copy
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, get_type_hints, is_typeddict

import msgspec
from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse

from memoryd.api.models import ErrorReply
from memoryd.api.models import Request as RequestModel
from memoryd.config.section import docstrings, subclasses

_ALWAYS: Final = {
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
_BY_GATE: Final = {403: "The access rules do not let this session ask", 409: "What is asked for is off for this agent"}

_SHAPE_AT: Final = "#/components/schemas/{name}"
_REPLIES: Final = "memoryd.replies."


def install(app: FastAPI) -> None:
    """Describe `app` without the framework's own form of errors, which nobody is ever sent."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
            _add_replies(schema, [route for route in app.routes if isinstance(route, APIRoute)])
            _describe_requests(schema["components"]["schemas"])
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # the way FastAPI documents


async def describe(request: Request) -> JSONResponse:
    """Describe every call, with its request and its replies."""
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


def _add_replies(schema: dict[str, Any], routes: Iterable[APIRoute]) -> None:
    """Put in the shape of each reply, and the errors, which are ours: the framework never sends its own."""
    errors = {str(status): _content(text, ErrorReply) for status, text in sorted({**_ALWAYS, **_BY_GATE}.items())}
    kinds: list[type] = [ErrorReply]
    for route in routes:
        operation = schema["paths"].get(route.path_format, {}).get(min(route.methods or ("",)).lower())
        if operation is None:
            continue
        kind: Any = get_type_hints(inspect.unwrap(route.endpoint)).get("return")
        if is_typeddict(kind):
            operation["responses"][str(route.status_code)] = _content("Successful Response", kind)
            kinds.append(kind)
        operation["responses"].pop("422", None)
        operation["responses"].update(copy.deepcopy(errors))
    shapes = schema["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        shapes.pop(name, None)
    _, ours = msgspec.json.schema_components(kinds, ref_template=_SHAPE_AT)
    told = _told_of(kinds)
    for name, shape in ours.items():
        properties = shape.get("properties", {})
        shape["description"] = inspect.cleandoc(shape.get("description", ""))
        for key, said in told.get(name, {}).items():
            # in the order in which they are declared; a source that was replaced meanwhile may have others
            if key in properties:
                properties[key] = {**properties.pop(key), "description": said}
    schema["components"]["schemas"] = dict(sorted({**shapes, **ours}.items()))


def _content(text: str, kind: type) -> dict[str, Any]:
    shape = {"$ref": _SHAPE_AT.format(name=kind.__name__)}
    return {"description": text, "content": {"application/json": {"schema": shape}}}


def _told_of(kinds: Iterable[type]) -> Mapping[str, Mapping[str, str]]:
    """Return the keys of replies, by the names of these, with their docstrings; none where the source is gone."""
    declared: dict[str, tuple[list[str], dict[str, str]]] = {}
    for module in {kind.__module__ for kind in kinds} | {name for name in sys.modules if name.startswith(_REPLIES)}:
        with contextlib.suppress(OSError, SyntaxError):
            declared |= _declared_in(ast.parse(inspect.getsource(sys.modules[module])))

    def all_of(name: str) -> dict[str, str]:
        above, own = declared.get(name, ([], {}))
        return {key: text for base in above for key, text in all_of(base).items()} | own

    return {name: all_of(name) for name in declared}


def _declared_in(tree: ast.Module) -> Iterator[tuple[str, tuple[list[str], dict[str, str]]]]:
    """Yield each class with what stands above it and what its docstrings say; of a key that is a keyword, its dict."""
    for node, below in pairwise([*tree.body, ast.Pass()]):
        if isinstance(node, ast.ClassDef):
            yield node.name, ([ast.unparse(base) for base in node.bases], dict(_said(node.body)))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(below, ast.Expr):
            keys = [ast.literal_eval(key) for one in node.value.args[1:] for key in getattr(one, "keys", ())]
            yield ast.unparse(node.targets[0]), ([], dict.fromkeys(keys, ast.literal_eval(below.value)))


def _said(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class with their docstrings."""
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            yield ast.unparse(field.target), inspect.cleandoc(ast.literal_eval(below.value))


def _describe_requests(shapes: dict[str, Any]) -> None:
    """Give each property of a request its meaning.

    Where the program was replaced while it runs, its source is gone, and what cannot be read is left out.
    """
    for model in subclasses(RequestModel):
        if model.__name__ not in shapes:
            # what others have in common is no shape by itself
            continue
        properties = shapes[model.__name__].get("properties", {})
        for name, text in docstrings(model).items():
            field = model.model_fields[name]
            properties[field.alias or name]["description"] = text
