"""The layer that ends a request: when its time is over before an answer began, or when its client has left."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.errors import DeadlineExceeded


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
