"""Routes whose handlers are given the body that the guard has decoded, so that nothing parses it a second time."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from memoryd.api.http.body import DECODED
from memoryd.api.http.measured import note_route


class DecodedRequest(Request):
    """A request whose JSON has been decoded on its way here."""

    async def json(self) -> Any:
        """Return the value that `Body` has decoded; without that layer, decode it."""
        return self.scope[DECODED] if DECODED in self.scope else await super().json()


class DecodedRoute(APIRoute):
    """For routers whose handlers take a body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler, which is given a DecodedRequest."""
        handle, pattern = super().get_route_handler(), self.path_format

        async def handle_decoded(request: Request) -> Response:
            note_route(request.scope, pattern)
            return await handle(DecodedRequest(request.scope, request.receive))

        return handle_decoded
