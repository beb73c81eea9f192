"""The layer that counts requests by route, method and class of the status code, and measures their duration.

It costs each request some microseconds. No text of a client is stored: a path without a route is `unmatched`.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.domain.counters import Durations

EXCHANGE = "memoryd.exchange"
"""The ASGI scope key of a dictionary shared by all layers, into which the router writes the pattern of the route."""
_ROUTE = "route"
UNMATCHED = "unmatched"
ABANDONED = "abandoned"
"""The code of a request whose client left before an answer began."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestCounts:
    """Counts of the requests since the start, on sockets and port together; all in one event loop."""

    def __init__(self) -> None:
        self.codes: Counter[tuple[str, str, str]] = Counter()
        """By route, method and class of the code: `2xx` or the like, or `abandoned`."""
        self.seconds: defaultdict[tuple[str, str], Durations] = defaultdict(Durations)
        """The time until the answer began, by route and method."""
        self.in_flight = 0

    def note(self, route: str, method: str, code: str, seconds: float) -> None:
        """Count one request."""
        known = method if method in _METHODS else "other"
        self.codes[route, known, code] += 1
        self.seconds[route, known].add(seconds)


def count_requests(app: ASGIApp, counts: RequestCounts) -> ASGIApp:
    """Count the answers of `app`. An answer counts when it begins, so a client that has read it sees it counted."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        begun, is_counted = time.perf_counter(), False
        scope = {**scope, EXCHANGE: {}}

        def note(code: str) -> None:
            nonlocal is_counted
            if not is_counted:
                is_counted = True
                counts.note(route_of(scope), scope["method"], code, time.perf_counter() - begun)

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                note(f"{message['status'] // 100}xx")
            await send(message)

        counts.in_flight += 1
        try:
            await app(scope, receive, send_counted)
        finally:
            counts.in_flight -= 1
            note(ABANDONED)

    return answer


def note_route(scope: Mapping[str, Any], pattern: str) -> None:
    """Record the route that answers a request, if requests are counted."""
    scope.get(EXCHANGE, {})[_ROUTE] = pattern


def route_of(scope: Mapping[str, Any]) -> str:
    """Return the route that answers a request, or `unmatched` if none does yet."""
    route: str = scope.get(EXCHANGE, {}).get(_ROUTE, UNMATCHED)
    return route
