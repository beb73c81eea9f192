"""Routes whose handlers are given the body that the guard has decoded, so that nothing parses it a second time."""

from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from pydantic import BaseModel

from memoryd.api.http.body import DECODED


class DecodedRequest(Request):
    """A request whose JSON has been decoded on its way here."""

    async def json(self) -> Any:
        """Return the value that `Body` has decoded; without that layer, decode it."""
        return self.scope[DECODED] if DECODED in self.scope else await super().json()


class DecodedRoute(APIRoute):
    """For routers whose handlers take a body.

    The replies that all routes have in common are made ready once: for each route anew, this takes most of a start.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        common = options.pop("responses", None) or {}
        super().__init__(path, endpoint, **options)
        self.responses = common
        self.response_fields = {
            status: _field_of(status, reply["model"]) for status, reply in common.items() if "model" in reply
        }

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler, which is given a DecodedRequest."""
        handle = super().get_route_handler()

        async def handle_decoded(request: Request) -> Response:
            return await handle(DecodedRequest(request.scope, request.receive))

        return handle_decoded


@cache
def _field_of(status: int | str, model: type[BaseModel]) -> Any:
    return create_model_field(f"Response_{status}", model, mode="serialization")
