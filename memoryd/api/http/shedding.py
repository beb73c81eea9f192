"""The layer that turns requests away while too many are at work: at once, with an error that says when to come again.

What tells how the daemon does, and what mends it, is answered however crowded it is.
"""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from memoryd.errors import Overloaded
from memoryd.wire import API

ALWAYS: Final = frozenset({f"{API}/health", f"{API}/status", f"{API}/reload", "/metrics"})
STREAMS: Final = frozenset({f"{API}/events"})
"""They wait for news without end, and are bounded as connections."""


class Admission:
    """How many requests may be at work, on sockets and port together; `most` may be changed at any time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.at_work = 0
        self.refused = 0
        """Since the start."""


class Shedding:
    """Lets `app` answer as long as there is room; raises Overloaded else, before anything of a body is read."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in ALWAYS | STREAMS:
            await self._app(scope, receive, send)
            return
        room = self._admission
        if room.at_work >= room.most:
            room.refused += 1
            raise Overloaded(
                f"{room.most} requests are at work already, as many as may be (limits.maxRequests)",
                hint="ask again in a second",
            )
        room.at_work += 1
        try:
            await self._app(scope, receive, send)
        finally:
            room.at_work -= 1
