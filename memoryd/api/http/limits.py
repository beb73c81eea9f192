"""What every request passes before a route sees it: pure ASGI layers, so that the framework sees checked bytes only.

Outermost first: counting, error replies, on a port the doorkeeper, shedding, body, deadline. Too many requests are
turned away at once, with an error that says when to come again; those on the daemon's state and its repair are always
answered.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from msgspec import Struct, field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.http.body import Body
from memoryd.api.http.counting import Measured, RequestCounts
from memoryd.api.http.loopback import Door, Doorkeeper
from memoryd.api.problems import Problem, log_unexpected, problem_of
from memoryd.errors import DeadlineExceeded, InvalidRequest, NotNow, Overloaded, RequestError, ShuttingDown, TooLarge
from memoryd.wire import API

ALWAYS: Final = frozenset({f"{API}/health", f"{API}/status", f"{API}/reload", "/metrics"})
STREAMS: Final = frozenset({f"{API}/events"})
"""They wait for news without end, and are bounded as connections."""


class Deadline:
    """Cancels `app` at its deadline, which `deadlines` gives for single paths; raises DeadlineExceeded then.

    Expects the whole body in the first message. A streamed answer has no deadline once it has begun.
    """

    def __init__(self, app: ASGIApp, *, usual: timedelta, deadlines: Mapping[str, timedelta]) -> None:
        self._app = app
        self._usual = usual
        self._deadlines = deadlines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        seconds = self._deadlines.get(scope["path"], self._usual).total_seconds()
        exchange = _Exchange(self._app, receive, send)
        try:
            async with asyncio.timeout(seconds) as clock:
                await exchange.run(scope, clock)
        except TimeoutError as exc:
            if not exchange.is_abandoned:
                raise DeadlineExceeded(f"no answer within {seconds:g} s") from exc


class _Exchange:
    """One request on its way through the app, while somebody watches that the client is still there."""

    def __init__(self, app: ASGIApp, receive: Receive, send: Send) -> None:
        self._app = app
        self._receive = receive
        self._send = send
        self._has_left = asyncio.Event()
        self._is_over = False
        """Whether the app has sent all of its answer, or has ended."""
        self.is_abandoned = False

    async def run(self, scope: Scope, clock: asyncio.Timeout) -> None:
        """Run the app to its end; `clock` stops when the answer begins and strikes when the client leaves.

        If the app raises, the watch outlives it: the failed request's answer or hang-up, which follows, is what it
        waits for.
        """
        body = await self._receive()
        await asyncio.gather(self._answer(scope, body, clock), self._watch(clock))

    async def _answer(self, scope: Scope, body: Message, clock: asyncio.Timeout) -> None:
        messages = iter([body])

        async def receive() -> Message:
            if (message := next(messages, None)) is not None:
                return message
            await self._has_left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start" and not clock.expired():
                clock.reschedule(None)
            elif message["type"] == "http.response.body":
                self._is_over = not message.get("more_body", False)
            await self._send(message)

        try:
            await self._app(scope, receive, send)
        finally:
            self._is_over = True

    async def _watch(self, clock: asyncio.Timeout) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._has_left.set()
        # the server says so of a complete answer, too: then the app may finish, but an answer to HEAD is complete
        # while its event stream still runs
        if not self._is_over and not clock.expired():
            self.is_abandoned = True
            clock.reschedule(asyncio.get_running_loop().time())


class ErrorReplies:
    """Answers for `app` where it does not; an answer that breaks off half-way can only be logged and cut."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["method"] == "HEAD"
        reply = _Reply(send, is_head=is_head)
        # a copy for the layers behind to write into: the router notes its route there, which the log names
        inner = {**scope, "method": "GET"} if is_head else dict(scope)
        try:
            await self._app(inner, receive, reply)
        except asyncio.CancelledError:
            # only the end of the daemon cancels a request as a whole; its client should know that it may ask again
            await reply.fail(problem_of(ShuttingDown("the daemon is stopping", hint="ask again in a moment")))
            raise
        except Exception as exc:
            # the app's own handlers have answered and logged, unless the answer broke off or was never begun
            if reply.is_complete:
                return
            if reply.is_started or not isinstance(exc, RequestError | NotNow):
                log_unexpected(inner, exc)
            if reply.is_started:
                raise
            await reply.fail(problem_of(exc), closes=not _is_whole(exc))


class _Reply:
    """The way to the client; knows whether an answer has begun, and can still say that it failed."""

    def __init__(self, send: Send, *, is_head: bool) -> None:
        self._send = send
        self._is_head = is_head
        self.is_started = False
        self.is_complete = False

    async def __call__(self, message: Message) -> None:
        """Pass a message of the app on, without the body if nobody wants it."""
        if self.is_complete:
            return
        if message["type"] == "http.response.start":
            self.is_started = True
            await self._send(message)
            if self._is_head:
                # now, because the body of an event stream never ends
                await self._finish(b"")
            return
        self.is_complete = not message.get("more_body", False)
        await self._send(message)

    async def fail(self, problem: Problem, *, closes: bool = True) -> None:
        """Send `problem` unless an answer has begun; the connection `closes` where its input may be half read."""
        if self.is_started:
            return
        self.is_started = True
        body = problem.body()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
            *([(b"connection", b"close")] if closes else []),
        ]
        await self._send({"type": "http.response.start", "status": problem.http_status, "headers": headers})
        await self._finish(body)

    async def _finish(self, body: bytes) -> None:
        self.is_complete = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _is_whole(error: Exception) -> bool:
    """Tell whether the whole body had been read before it was refused: the next request begins where it should."""
    return isinstance(error, InvalidRequest) and not isinstance(error, TooLarge)


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


class GuardLimits(Struct, frozen=True):
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
