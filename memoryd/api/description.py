"""The OpenAPI description: every route names the errors it can answer with, in our form."""

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse

from memoryd.api.meanings import describe_fields
from memoryd.api.models import ErrorReply

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

ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorReply, "description": text} for status, text in sorted({**_ALWAYS, **_BY_GATE}.items())
}
"""For `FastAPI(responses=…)`."""


def install(app: FastAPI) -> None:
    """Describe `app` without the framework's own form of errors, which nobody is ever sent."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
            describe_fields(schema)
            app.openapi_schema = _with_our_errors(schema)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # the way FastAPI documents


async def describe(request: Request) -> JSONResponse:
    """Describe every call, with its request and its replies."""
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


def _with_our_errors(schema: dict[str, Any]) -> dict[str, Any]:
    """Take out the framework's, and let the errors of a stream be JSON, too."""
    for path in schema["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            for status, reply in operation["responses"].items():
                if int(status) in ERRORS:
                    (content,) = reply["content"].values()
                    reply["content"] = {"application/json": content}
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)
    return schema
