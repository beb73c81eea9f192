"""The layers that every request passes before a route: pure ASGI, so that the framework sees only checked bytes.

From the outside: counting, error replies, the token (on a port), load, body, deadline. A request above the load limit
is refused at once, with an error that says when to try again; requests for status and repair are always answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.http.body import Body, header_of
from memoryd.api.http.connection import exchange_of
from memoryd.api.http.counting import RequestCounts, count_requests
from memoryd.api.problems import body_of, log_unexpected, problem_of
from memoryd.errors import DeadlineExceeded, MemorydError, NotNow, Overloaded, RequestError, ShuttingDown
from memoryd.wire import API

ALWAYS = frozenset({f"{API}/health", f"{API}/status", f"{API}/reload", "/metrics"})
STREAMS = frozenset({f"{API}/events", "/web/events"})
"""Streams wait for events without end, and are limited as connections."""
DRAINED = 8
"""A refused body is read up to this multiple of the limit, for clients that send everything before they read."""


def limit_time(app: ASGIApp, *, default: timedelta, deadlines: Mapping[str, timedelta]) -> ASGIApp:
    """Cancel `app` at its deadline, which `deadlines` gives for single paths, and raise DeadlineExceeded.

    Expects the complete body in the first message. A streamed answer has no deadline once it has begun.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        seconds = deadlines.get(scope["path"], default).total_seconds()
        body = await receive()
        try:
            async with asyncio.timeout(seconds) as clock:
                exchange = _Exchange(body, send, clock)
                exchange_of(scope).on_over(exchange.end)
                await exchange.run(app, scope)
        except TimeoutError as exc:
            if not exchange.is_abandoned:
                raise DeadlineExceeded(f"no answer within {seconds:g} s") from exc

    return answer


class _Exchange:
    """One request passing through the app. `clock` stops when the answer begins, and expires at `end`."""

    def __init__(self, body: Message, send: Send, clock: asyncio.Timeout) -> None:
        self._messages = [body]
        self._send = send
        self._clock = clock
        self._has_left = asyncio.Event()
        self._is_over = False
        """Whether the app has sent its complete answer, or has ended."""
        self.is_abandoned = False

    async def run(self, app: ASGIApp, scope: Scope) -> None:
        """Run the app to its end."""
        try:
            await app(scope, self._receive, self._answer)
        finally:
            self._is_over = True

    def end(self) -> None:
        """Handle the end of the exchange: the client has left, or has the complete answer."""
        self._has_left.set()
        # after a complete answer the app may finish, but an answer to HEAD is complete while its event stream still
        # runs
        if not self._is_over and not self._clock.expired():
            self.is_abandoned = True
            self._clock.reschedule(asyncio.get_running_loop().time())

    async def _receive(self) -> Message:
        if self._messages:
            return self._messages.pop()
        await self._has_left.wait()
        return {"type": "http.disconnect"}

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not (self.is_abandoned or self._clock.expired()):
            self._clock.reschedule(None)
        elif message["type"] == "http.response.body":
            self._is_over = not message.get("more_body", False)
        await self._send(message)


def reply_to_errors(app: ASGIApp, *, drained_bytes: int, body_timeout: timedelta) -> ASGIApp:
    """Send an error reply if `app` raises; an answer that fails half-way can only be logged and cut off."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["method"] == "HEAD"
        request = _Request(scope, receive, timeout=body_timeout)
        reply = _Reply(send, is_head=is_head)
        # a copy, into which the router writes its route for the log
        inner = {**scope, "method": "GET"} if is_head else dict(scope)
        try:
            await app(inner, request, reply)
        except asyncio.CancelledError:
            # only a shutdown of the daemon cancels an entire request; its client should know that it may try again
            await reply.fail(ShuttingDown("the daemon is stopping", hint="ask again in a moment"))
            raise
        except Exception as exc:
            # the app answers the errors of its handlers; this error is from a layer, or from an answer that broke off
            if reply.is_complete:
                return
            if reply.is_started or not isinstance(exc, RequestError | NotNow):
                log_unexpected(inner, exc)
            if reply.is_started:
                raise
            # the end of the answer closes the connection, and a client that still sends would lose the answer: the
            # last, empty message waits until the body has arrived
            await reply.fail(problem_of(exc), closes=not request.is_complete, ends=False)
            await request.drain(drained_bytes)
            await reply.end()

    return answer


class _Request:
    """The receive side of a request. It knows whether the complete body has arrived, and can discard the rest of it."""

    def __init__(self, scope: Scope, receive: Receive, *, timeout: timedelta) -> None:
        self._receive = receive
        self._ends_at = asyncio.get_running_loop().time() + timeout.total_seconds()
        # a client that waits for `100 Continue` sends nothing after a refusal
        self._is_coming = header_of(scope, b"expect").lower() != b"100-continue"
        self.is_complete = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.is_complete = not message.get("more_body", False)
        return message

    async def drain(self, most: int) -> None:
        """Read and discard up to `most` bytes of the rest of the body, within the time limit of a body."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._ends_at):
                while self._is_coming and not self.is_complete and most > 0:
                    most -= len((await self()).get("body", b""))


class _Reply:
    """The send side of a request. It knows whether an answer has begun, and can still send an error."""

    def __init__(self, send: Send, *, is_head: bool) -> None:
        self._send = send
        self._is_head = is_head
        self.is_started = False
        self.is_complete = False

    async def __call__(self, message: Message) -> None:
        """Pass a message of the app on, without the body for a HEAD request."""
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

    async def fail(self, problem: MemorydError, *, closes: bool = True, ends: bool = True) -> None:
        """Send `problem` unless an answer has begun. `closes` the connection, whose input may be only partly read.

        Without `ends` the client gets the complete reply, but the server waits for `end`.
        """
        if self.is_started:
            return
        self.is_started = True
        body = body_of(problem)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
            *([(b"connection", b"close")] if closes else []),
        ]
        await self._send({"type": "http.response.start", "status": problem.http_status, "headers": headers})
        await self._finish(body, ends=ends)

    async def end(self) -> None:
        """End an answer that `fail` has begun."""
        await self._finish(b"")

    async def _finish(self, body: bytes, *, ends: bool = True) -> None:
        self.is_complete = ends
        await self._send({"type": "http.response.body", "body": body, "more_body": not ends})


class Admission:
    """The limit of concurrent requests, on sockets and port together; `most` may be changed at any time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.at_work = 0
        self.refused = 0
        """The number of refused requests since the start."""


def limit_load(app: ASGIApp, admission: Admission) -> ASGIApp:
    """Let `app` answer below the load limit; else raise Overloaded, before any of the body is read."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in ALWAYS or scope["path"] in STREAMS:
            await app(scope, receive, send)
            return
        if admission.at_work >= admission.most:
            admission.refused += 1
            raise Overloaded(
                f"{admission.most} requests are at work already, as many as may be (limits.maxRequests)",
                hint="ask again in a second",
            )
        admission.at_work += 1
        try:
            await app(scope, receive, send)
        finally:
            admission.at_work -= 1

    return answer


class GuardLimits(Struct, frozen=True):
    """Limits of one request. `deadlines` gives single paths more time; a streamed answer has no deadline."""

    body_bytes: int = 1024 * 1024
    json_depth: int = 32
    body_timeout: timedelta = timedelta(seconds=10)
    deadline: timedelta = timedelta(seconds=60)
    deadlines: Mapping[str, timedelta] = {}


def guard_app(
    app: ASGIApp,
    limits: GuardLimits | None = None,
    door: Callable[[ASGIApp], ASGIApp] | None = None,
    counts: RequestCounts | None = None,
    admission: Admission | None = None,
    *,
    is_form: bool = False,
) -> ASGIApp:
    """Wrap `app` in the layers; a request that breaks a limit gets an error reply from them.

    Without a `door`, everyone admitted by the access policy may make requests. Without `counts` no requests are
    counted, and without `admission` only the number of connections is limited. With `is_form` bodies are forms, else
    JSON.
    """
    limits = limits or GuardLimits()
    layers: ASGIApp = limit_time(app, default=limits.deadline, deadlines=limits.deadlines)
    layers = Body(
        layers,
        max_bytes=limits.body_bytes,
        max_depth=limits.json_depth,
        timeout=limits.body_timeout,
        is_strict=door is not None,
        is_form=is_form,
    )
    if admission is not None:
        layers = limit_load(layers, admission)
    if door is not None:
        # outside of the load limit: a request without the token does not count as load
        layers = door(layers)
    layers = reply_to_errors(layers, drained_bytes=limits.body_bytes * DRAINED, body_timeout=limits.body_timeout)
    if counts is not None:
        layers = count_requests(layers, counts)

    return layers
