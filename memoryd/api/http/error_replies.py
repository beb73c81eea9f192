"""The outermost layer: whatever goes wrong behind it becomes the one error reply, and HEAD is GET without a body."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.problems import Problem, log_unexpected, problem_of
from memoryd.errors import InvalidRequest, NotNow, RequestError, ShuttingDown, TooLarge


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
