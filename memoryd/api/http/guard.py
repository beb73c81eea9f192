"""What every request passes before a route sees it, outermost first: counting, error replies, on a port the doorkeeper,
shedding, body, deadline.

Pure ASGI layers around the whole app, so that the framework never sees bytes that were not checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from starlette.types import ASGIApp, Receive, Scope, Send

from memoryd.api.http.body import Body
from memoryd.api.http.deadline import Deadline
from memoryd.api.http.doorkeeper import Door, Doorkeeper
from memoryd.api.http.error_replies import ErrorReplies
from memoryd.api.http.measured import Measured, RequestCounts
from memoryd.api.http.shedding import Admission, Shedding


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Bounds on one request; `deadlines` gives single paths more time, and a streamed answer has no deadline."""

    body_bytes: int = 1024 * 1024
    json_depth: int = 32
    body_timeout: timedelta = timedelta(seconds=10)
    deadline: timedelta = timedelta(seconds=60)
    deadlines: Mapping[str, timedelta] = field(default_factory=dict)


class Guard:
    """Wraps `app` in the layers; a request that breaks a limit gets its error reply from them.

    Without a `door` whoever reaches it may ask, as far as the gate lets them; without `counts` nobody counts, and
    without `admission` as many are at work as there are connections.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: GuardLimits | None = None,
        door: Door | None = None,
        counts: RequestCounts | None = None,
        admission: Admission | None = None,
    ) -> None:
        limits = limits or GuardLimits()
        timed = Deadline(app, usual=limits.deadline, deadlines=limits.deadlines)
        read = Body(
            timed,
            max_bytes=limits.body_bytes,
            max_depth=limits.json_depth,
            timeout=limits.body_timeout,
            is_strict=door is not None,
        )
        admitted = read if admission is None else Shedding(read, admission)
        # who is not let in takes nobody's room
        replying = ErrorReplies(admitted if door is None else Doorkeeper(admitted, door))
        self._http: ASGIApp = replying if counts is None else Measured(replying, counts)
        self._other = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._http if scope["type"] == "http" else self._other)(scope, receive, send)
