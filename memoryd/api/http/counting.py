"""The layer that counts requests: by the route that answered, the method and the class of the code, and how long.

It costs a request some microseconds. Nothing that a client chose is kept: a path that no route has is `unmatched`.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.domain.counters import Durations

EXCHANGE: Final = "memoryd.exchange"
"""Where in the ASGI scope the exchange stands, whose route is written by the route itself."""
UNMATCHED: Final = "unmatched"
ABANDONED: Final = "abandoned"
"""The code of a request whose client left before an answer began."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Exchange:
    """One request on its way; `route` is the pattern of the path that answers it."""

    __slots__ = ("is_counted", "route")

    def __init__(self) -> None:
        self.route = UNMATCHED
        self.is_counted = False


class RequestCounts:
    """What was answered since the start, on sockets and port together; all in one event loop."""

    def __init__(self) -> None:
        self.codes: Counter[tuple[str, str, str]] = Counter()
        """By route, method and class of the code: `2xx` or the like, or `abandoned`."""
        self.seconds: defaultdict[tuple[str, str], Durations] = defaultdict(Durations)
        """Until the answer began, by route and method."""
        self.in_flight = 0

    def note(self, route: str, method: str, code: str, seconds: float) -> None:
        """Count one."""
        known = method if method in _METHODS else "other"
        self.codes[route, known, code] += 1
        self.seconds[route, known].add(seconds)


class Measured:
    """Counts what `app` answers. An answer counts when it begins: whoever has read it finds it counted."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, counts, exchange = time.perf_counter(), self._counts, Exchange()

        def note(code: str) -> None:
            if not exchange.is_counted:
                exchange.is_counted = True
                counts.note(exchange.route, scope["method"], code, time.perf_counter() - begun)

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                note(f"{message['status'] // 100}xx")
            await send(message)

        counts.in_flight += 1
        try:
            await self._app({**scope, EXCHANGE: exchange}, receive, send_counted)
        finally:
            counts.in_flight -= 1
            note(ABANDONED)


def note_route(scope: Mapping[str, Any], pattern: str) -> None:
    """Say which route answers a request; without the layer that counts nobody wants to know."""
    exchange = scope.get(EXCHANGE)
    if exchange is not None:
        exchange.route = pattern


def route_of(scope: Mapping[str, Any]) -> str:
    """Return the route that answers a request, `unmatched` before one does."""
    exchange = scope.get(EXCHANGE)
    return UNMATCHED if exchange is None else exchange.route
