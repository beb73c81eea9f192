"""The layer that holds calls while what they ask is exchanged for another, so that none is refused or cut off."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.errors import NotNow, ShuttingDown

WAITED: Final = "memoryd.waited"
"""Where in the ASGI scope of a call that is asked again stands how long it has waited so far, as a timedelta."""


@dataclass(frozen=True, slots=True)
class Exemptions:
    """The paths of calls that are not simply held, and waited for where they are in flight.

    `free` calls need nothing that is exchanged. `streams` begin as others do, and go on. Calls that wait are asked
    `again`, from their beginning. `long` calls are waited for before anybody is held.
    """

    free: Set[str] = frozenset()
    streams: Set[str] = frozenset()
    again: Set[str] = frozenset()
    long: Set[str] = frozenset()


class Turnstile:
    """Lets calls through to `app`, and holds new ones while it is `closed`."""

    def __init__(self, app: ASGIApp, exempt: Exemptions) -> None:
        self._app = app
        self._exempt = exempt
        self._is_closed = False
        self._is_ended = False
        self._freed = asyncio.Event()
        self._inside = 0
        self._long = 0
        self._changed = asyncio.Condition()
        self._waits: set[asyncio.Timeout] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, exempt = scope["path"], self._exempt
        if path in exempt.free:
            return await self._app(scope, receive, send)
        await self._passed()
        if path in exempt.streams:
            return await self._app(scope, receive, send)
        if path in exempt.again:
            return await self._asked_again(scope, receive, send)
        async with self._counted(is_long=path in exempt.long):
            return await self._app(scope, receive, send)

    def end(self) -> None:
        """Hold nobody any more: whoever is held, or would be, is told that we are stopping."""
        self._is_ended = True
        self._freed.set()

    @contextlib.asynccontextmanager
    async def closed(self, *, grace: timedelta, longest: timedelta) -> AsyncIterator[None]:
        """Hold new calls during the block, which begins when none is in flight.

        Raises NotNow, with everybody let through, if they do not end within `grace` of the closing, or long ones
        within `longest`; ShuttingDown at the end.
        """
        await self._until(lambda: not self._long, longest)
        # nothing that another task does comes between the look and this, so no long call begins meanwhile
        self._is_closed = True
        self._freed.clear()
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())
        try:
            await self._until(lambda: not self._inside, grace)
            if self._is_ended:
                raise ShuttingDown("the daemon is stopping")
            yield
        finally:
            self._is_closed = False
            self._freed.set()

    async def _until(self, holds: Callable[[], bool], limit: timedelta) -> None:
        try:
            async with asyncio.timeout(limit.total_seconds()), self._changed:
                await self._changed.wait_for(holds)
        except TimeoutError:
            raise NotNow("calls are in flight that do not end", hint="try again in a minute") from None

    async def _passed(self) -> None:
        if not self._is_closed:
            return
        await self._freed.wait()
        if self._is_ended:
            raise ShuttingDown("the daemon is stopping", hint="ask again in a moment")

    @contextlib.asynccontextmanager
    async def _counted(self, *, is_long: bool = False) -> AsyncIterator[None]:
        self._inside += 1
        self._long += is_long
        try:
            yield
        finally:
            self._inside -= 1
            self._long -= is_long
            async with self._changed:
                self._changed.notify_all()

    async def _asked_again(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask until there is an answer; a closing breaks off what only waits."""
        began, body = time.monotonic(), await receive()
        while not await self._is_answered(scope, _replayed(body, receive), send, began):
            await self._passed()

    async def _is_answered(self, scope: Scope, receive: Receive, send: Send, began: float) -> bool:
        waited = timedelta(seconds=time.monotonic() - began)
        async with self._counted():
            try:
                async with asyncio.timeout(None) as wait:
                    self._waits.add(wait)
                    await self._app({**scope, WAITED: waited}, receive, self._answering(send, wait))
            except TimeoutError:
                if not wait.expired():
                    raise
                return False
            finally:
                self._waits.discard(wait)
        return True

    def _answering(self, send: Send, wait: asyncio.Timeout) -> Send:
        """Return what sends an answer, which is not broken off, and so not given twice, once it has begun."""

        async def answer(message: Message) -> None:
            if wait.expired():
                # where the breaking off that is under way comes through, before anything is sent
                await asyncio.sleep(0)
            elif wait in self._waits:
                self._waits.discard(wait)
                wait.reschedule(None)
            await send(message)

        return answer


def _replayed(body: Message, receive: Receive) -> Receive:
    """Return what gives the body once more, and then what comes behind it."""
    messages = iter([body])

    async def replay() -> Message:
        return next(messages, None) or await receive()

    return replay
