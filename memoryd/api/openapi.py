"""The OpenAPI description: every route with the errors it can answer, and every field with its docstring.

The docstrings are read from the source on demand: pydantic could take them (`use_attribute_docstrings`), but would
read all of them at each start of the daemon.
"""

import ast
import contextlib
import copy
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import JSONResponse

from memoryd.api.models import ErrorReply, Reply
from memoryd.api.models import Request as RequestModel

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

_SHAPE_AT: Final = "#/components/schemas/{model}"


def install(app: FastAPI) -> None:
    """Describe `app` without the framework's own form of errors, which nobody is ever sent."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
            schema = _with_our_errors(schema)
            describe_fields(schema)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # the way FastAPI documents


async def describe(request: Request) -> JSONResponse:
    """Describe every call, with its request and its replies."""
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


def _with_our_errors(schema: dict[str, Any]) -> dict[str, Any]:
    """Put ours in the place of the framework's.

    They are written here, and not told to the framework, which would make a validator of each for each route at the
    start, for replies that it never sends.
    """
    replies = {str(status): _error_reply(text) for status, text in sorted({**_ALWAYS, **_BY_GATE}.items())}
    for path in schema["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            operation["responses"].update(copy.deepcopy(replies))
    shapes = schema["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        shapes.pop(name, None)
    _, ours = models_json_schema([(ErrorReply, "serialization")], ref_template=_SHAPE_AT)
    schema["components"]["schemas"] = dict(sorted({**shapes, **ours["$defs"]}.items()))
    return schema


def _error_reply(text: str) -> dict[str, Any]:
    shape = {"$ref": _SHAPE_AT.format(model=ErrorReply.__name__)}
    return {"description": text, "content": {"application/json": {"schema": shape}}}


def describe_fields(schema: dict[str, Any]) -> None:
    """Give each property of the shapes of an OpenAPI schema its meaning.

    Where the program was replaced while it runs, its source is gone, and what cannot be read is left out.
    """
    shapes = schema["components"]["schemas"]
    for model in _models(RequestModel, Reply):
        if model.__name__ not in shapes:
            # what others have in common is no shape by itself
            continue
        properties = shapes[model.__name__].get("properties", {})
        for name, text in _docstrings(model):
            field = model.model_fields[name]
            properties[field.alias or name]["description"] = text


def _models(*bases: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for base in bases:
        yield base
        yield from _models(*base.__subclasses__())


def _docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a model and of those above it, the uppermost first, with their docstrings."""
    for kind in reversed(model.__mro__):
        if issubclass(kind, RequestModel | Reply):
            body = _body_of(kind)
            for field, below in pairwise(body):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    yield ast.unparse(field.target), inspect.cleandoc(ast.literal_eval(below.value))


def _body_of(kind: type[BaseModel]) -> list[ast.stmt]:
    with contextlib.suppress(OSError, SyntaxError):
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        if isinstance(source, ast.ClassDef) and source.name == kind.__name__:
            return source.body
    return []
