"""The layer that holds calls while what they ask is exchanged for another, so that none is refused or cut off."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Set
from datetime import timedelta
from typing import Final

from msgspec import Struct, field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.http.counting import UNMATCHED, route_of
from memoryd.errors import NotNow, ShuttingDown

WAITED: Final = "memoryd.waited"
"""Where in the ASGI scope of a call that is asked again stands how long it has waited so far, as a timedelta."""
TRIES: Final = 10
SHOWN: Final = 3
"""So many calls are named that a closing waits for in vain."""


class Exemptions(Struct, frozen=True):
    """The paths of calls that are not simply held, and waited for where they are in flight.

    `free` calls need nothing that is exchanged. `streams` begin as others do, and go on. Calls that wait are asked
    `again`, from their beginning. `long` calls are waited for longer than others.
    """

    free: Set[str] = frozenset()
    streams: Set[str] = frozenset()
    again: Set[str] = frozenset()
    long: Set[str] = frozenset()


class ClosingLimits(Struct, frozen=True, kw_only=True):
    """How long a closing waits for `long` calls and for all others while nobody is held, and then while others are.

    Where calls that began meanwhile take longer than `hold`, everybody is let through, and it begins anew, some times.
    """

    long: timedelta
    others: timedelta
    hold: timedelta


class _Call(Struct, frozen=True, eq=False):
    """One call in flight."""

    scope: Scope
    is_long: bool = False
    is_wait: bool = False
    """It is broken off by a closing, so that nobody waits for its end."""
    begun: float = field(default_factory=time.monotonic)

    def told(self) -> str:
        """Name it by its route, for a path may be that of a note."""
        route = route_of(self.scope)
        name = "a call" if route == UNMATCHED else f"{self.scope['method']} {route}"
        return f"{name}, at work for {time.monotonic() - self.begun:.0f} s"


class ReloadGate:
    """Lets calls through to `app`, and holds new ones while it is `closed`."""

    def __init__(self, app: ASGIApp, exempt: Exemptions) -> None:
        self._app = app
        self._exempt = exempt
        self._is_closed = False
        self._is_ended = False
        self._freed = asyncio.Event()
        self._inside: set[_Call] = set()
        self._awaited: frozenset[_Call] = frozenset()
        self._changed = asyncio.Condition()
        self._waits: set[asyncio.Timeout] = set()

    @property
    def waits_for(self) -> str:
        """Which call a closing waits for, the oldest of them; empty if it waits for none."""
        return next(self._late(), "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, exempt = scope["path"], self._exempt
        if path in exempt.free:
            return await self._app(scope, receive, send)
        await self._passed()
        if path in exempt.streams:
            return await self._app(scope, receive, send)
        if path in exempt.again:
            return await self._asked_again(scope, receive, send)
        async with self._counted(_Call(scope, is_long=path in exempt.long)):
            return await self._app(scope, receive, send)

    def end(self) -> None:
        """Hold nobody any more: whoever is held, or would be, is told that we are stopping."""
        self._is_ended = True
        self._freed.set()

    @contextlib.asynccontextmanager
    async def closed(self, limits: ClosingLimits) -> AsyncIterator[None]:
        """Hold new calls during the block, which begins when none is in flight.

        Those in flight are waited for first, and nobody is held meanwhile; only those that began since then are waited
        for while others are held. Raises NotNow, with everybody let through, if they do not end; ShuttingDown at the
        end.
        """
        await self._shut_in_time(limits)
        try:
            if self._is_ended:
                raise ShuttingDown("the daemon is stopping")
            yield
        finally:
            self._open()

    async def _shut_in_time(self, limits: ClosingLimits) -> None:
        for tries_left in reversed(range(TRIES)):
            await self._ended(lambda call: call.is_long, limits.long)
            await self._ended(lambda call: not call.is_wait, limits.others)
            try:
                await self._shut(limits.hold)
            except NotNow:
                if not tries_left:
                    raise
            else:
                break

    async def _shut(self, hold: timedelta) -> None:
        """Hold new calls until none is in flight; raises NotNow, with everybody let through, if that takes longer."""
        # nothing that another task does comes between the last look and this, so nobody begins meanwhile
        self._is_closed = True
        self._freed.clear()
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())
        try:
            await self._ended(lambda _call: True, hold)
        except BaseException:
            self._open()
            raise

    def _open(self) -> None:
        self._is_closed = False
        self._freed.set()

    async def _ended(self, is_meant: Callable[[_Call], bool], limit: timedelta) -> None:
        """Wait until those of the calls in flight now have ended that are meant."""
        self._awaited = frozenset(filter(is_meant, self._inside))
        try:
            async with asyncio.timeout(limit.total_seconds()), self._changed:
                await self._changed.wait_for(lambda: self._awaited.isdisjoint(self._inside))
        except TimeoutError:
            late = "; ".join(self._late())
            raise NotNow(f"calls are in flight that do not end: {late}", hint="try again in a minute") from None
        finally:
            self._awaited = frozenset()

    def _late(self) -> Iterator[str]:
        late = self._awaited & self._inside
        yield from (call.told() for call in sorted(late, key=lambda call: call.begun)[:SHOWN])

    async def _passed(self) -> None:
        # it may have been closed once more before whoever was let through came to run
        while self._is_closed:
            await self._freed.wait()
            if self._is_ended:
                raise ShuttingDown("the daemon is stopping", hint="ask again in a moment")

    @contextlib.asynccontextmanager
    async def _counted(self, call: _Call) -> AsyncIterator[None]:
        self._inside.add(call)
        try:
            yield
        finally:
            self._inside.discard(call)
            async with self._changed:
                self._changed.notify_all()

    async def _asked_again(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask until there is an answer; a closing breaks off what only waits."""
        began, body = time.monotonic(), await receive()
        while not await self._is_answered(scope, _replayed(body, receive), send, began):
            await self._passed()

    async def _is_answered(self, scope: Scope, receive: Receive, send: Send, began: float) -> bool:
        waited = timedelta(seconds=time.monotonic() - began)
        async with self._counted(_Call(scope, is_wait=True)):
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
