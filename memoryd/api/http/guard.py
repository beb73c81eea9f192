"""What every request passes before a route sees it: a bound on its body, a strict look at its JSON, and a deadline.

A pure ASGI wrapper around the whole app, so that the framework never parses bytes that were not checked.
"""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.problems import Problem, log_unexpected, problem_of
from memoryd.errors import DeadlineExceeded, InvalidRequest, RequestError, ShuttingDown, SlowRequest, TooLarge

_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_DRAIN_FACTOR = 8  # a body up to so many times the limit is read to its end, for clients that send before they listen
_MAX_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Bounds on one request; `deadlines` gives single paths more time, and a streamed answer has no deadline."""

    body_bytes: int = 1024 * 1024
    json_depth: int = 32
    body_timeout: timedelta = timedelta(seconds=10)
    deadline: timedelta = timedelta(seconds=60)
    deadlines: Mapping[str, timedelta] = field(default_factory=dict)


class Guard:
    """Wraps `app`; a request that breaks a limit gets its error reply here."""

    def __init__(self, app: ASGIApp, limits: GuardLimits | None = None) -> None:
        self._app = app
        self._limits = limits or GuardLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = _Reply(send, is_head=scope["method"] == "HEAD")
        try:
            body = await self._read_body(scope, receive)
            await self._answer(*_checked(scope, body, self._limits.json_depth), receive, reply)
        except _ClientGoneError:
            return
        except TooLarge as exc:
            await reply.fail(problem_of(exc))
        except InvalidRequest as exc:
            # the whole body has been read, so the next request begins where it should
            await reply.fail(problem_of(exc), closes=False)
        except (RequestError, DeadlineExceeded) as exc:
            await reply.fail(problem_of(exc))
        except asyncio.CancelledError:
            await reply.fail(problem_of(ShuttingDown("the daemon is stopping", hint="ask again in a moment")))
            raise

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        limit = self._limits.body_bytes
        if _declared_length(scope) > limit and _expects_continue(scope):
            raise _too_large(limit)
        try:
            async with asyncio.timeout(self._limits.body_timeout.total_seconds()):
                return await _collect(receive, limit)
        except TimeoutError as exc:
            raise SlowRequest("the request's body did not come in time") from exc

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, reply: "_Reply") -> None:
        seconds = self._limits.deadlines.get(scope["path"], self._limits.deadline).total_seconds()
        exchange = _Exchange(self._app, scope, receive, reply, body)
        try:
            async with asyncio.timeout(seconds) as clock:
                await exchange.run(clock)
        except TimeoutError as exc:
            if not exchange.is_disconnected:
                raise DeadlineExceeded(f"no answer within {seconds:g} s") from exc


class _ClientGoneError(Exception):
    """The client left before its request was complete."""


class _Reply:
    """The way to the client; knows whether an answer has begun, and can still say that it failed."""

    def __init__(self, send: Send, *, is_head: bool) -> None:
        self._send = send
        self.is_head = is_head
        self.is_started = False
        self.is_complete = False

    async def __call__(self, message: Message) -> None:
        if self.is_complete:
            return
        if message["type"] == "http.response.start":
            self.is_started = True
            await self._send(message)
            if self.is_head:
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
            *([(b"connection", b"close")] if closes else []),
        ]
        await self._send({"type": "http.response.start", "status": problem.http_status, "headers": headers})
        await self._finish(body)

    async def _finish(self, body: bytes) -> None:
        self.is_complete = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


class _Exchange:
    """One request on its way through the app, while somebody watches that the client is still there."""

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive, reply: _Reply, body: bytes) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self._reply = reply
        self._body: bytes | None = body
        self._over = asyncio.Event()
        self._is_finished = False
        self.is_disconnected = False

    async def run(self, clock: asyncio.Timeout) -> None:
        """Run the app to its end; `clock` stops when the answer begins and strikes when the client leaves."""
        await asyncio.gather(self._run_app(clock), self._watch_client(clock))

    async def _run_app(self, clock: asyncio.Timeout) -> None:
        async def send(message: Message) -> None:
            if message["type"] == "http.response.start" and not clock.expired():
                clock.reschedule(None)
            await self._reply(message)

        try:
            await self._app(self._scope, self._receive_body, send)
        except Exception as exc:
            # the app's own handlers have answered and logged, unless the answer broke off or was never begun
            if not self._reply.is_complete:
                log_unexpected(self._scope, exc)
                if self._reply.is_started:
                    raise
                await self._reply.fail(problem_of(exc))
        finally:
            self._is_finished = True

    async def _watch_client(self, clock: asyncio.Timeout) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._over.set()
        # a complete answer to HEAD says nothing about the app, which may be in an endless stream
        nobody_listens = self._reply.is_head or not self._reply.is_complete
        if nobody_listens and not self._is_finished and not clock.expired():
            self.is_disconnected = True
            clock.reschedule(asyncio.get_running_loop().time())

    async def _receive_body(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}


def check_json(body: bytes, *, max_depth: int = 32) -> None:
    """Raise InvalidRequest unless `body` is UTF-8 JSON that is safe to hand on.

    Refused: a byte order mark, lone surrogates, NaN and infinities (also written as 1e999), integers beyond 64 bits,
    more than `max_depth` levels. Of duplicate keys the last one counts. Time is linear in the body.
    """
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
    except ValueError as exc:
        raise InvalidRequest(f"the body is not valid JSON: {exc}", hint="send UTF-8 without a byte order mark") from exc
    _check_values(value, max_depth)


def _check_values(value: Any, max_depth: int) -> None:
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise InvalidRequest("the body has a number that is not finite")
            elif isinstance(item, int) and not -_MAX_INTEGER - 1 <= item <= _MAX_INTEGER:
                raise InvalidRequest("the body has an integer of more than 64 bits")
        depth += any(isinstance(item, dict | list) for item in level)
        if depth > max_depth:
            raise InvalidRequest(f"the body nests more than {max_depth} levels")
        level = below


async def _collect(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _ClientGoneError
        size += len(message.get("body", b""))
        if size <= limit:
            chunks.append(message.get("body", b""))
        if size > limit * _DRAIN_FACTOR or (size > limit and not message.get("more_body", False)):
            raise _too_large(limit)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _checked(scope: Scope, body: bytes, max_depth: int) -> tuple[Scope, bytes]:
    """What the app gets: HEAD as GET, and for a method with a body checked JSON; no body at all counts as `{}`."""
    checked = dict(scope)
    if scope["method"] == "HEAD":
        checked["method"] = "GET"
    if scope["method"] not in _BODY_METHODS:
        return checked, body
    if body:
        _check_media_type(_header(scope, b"content-type"))
        check_json(body, max_depth=max_depth)
    others = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
    checked["headers"] = [*others, (b"content-type", b"application/json")]
    return checked, body or b"{}"


def _check_media_type(given: bytes) -> None:
    media_type = given.split(b";")[0].strip().lower()
    # anything else is refused rather than guessed: text/plain is what a foreign web page can send unasked
    if media_type not in (b"", b"application/json") and not media_type.endswith(b"+json"):
        shown = media_type[:80].decode("latin-1")
        raise InvalidRequest(f"the body is {shown}, not JSON", hint="send the header `Content-Type: application/json`")


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _declared_length(scope: Scope) -> int:
    value = _header(scope, b"content-length")
    return int(value) if value.isdigit() else 0


def _expects_continue(scope: Scope) -> bool:
    return _header(scope, b"expect").lower() == b"100-continue"


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {limit} bytes", hint="send less at a time")
