"""The layer that holds calls while a reload replaces the parts that they use, so that none is refused or cut off."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping
from datetime import timedelta

from msgspec import Struct, field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.call import AtReload
from memoryd.api.http.body import replay
from memoryd.api.http.counting import UNMATCHED, route_of
from memoryd.errors import NotNow, ShuttingDown

WAITED = "memoryd.waited"
"""The ASGI scope key for the time that a repeated call has waited so far, as a timedelta."""
TRIES = 10
SHOWN = 3
"""The number of late calls that the error of a failed closing names."""


class ClosingLimits(Struct, frozen=True, kw_only=True):
    """How long a closing waits for `long` calls and for all others before it holds new calls, and then while it does.

    If calls that began in between take longer than `hold`, all calls are let through, and the closing begins anew.
    """

    long: timedelta
    others: timedelta
    hold: timedelta


class _Call(Struct, frozen=True, eq=False):
    """One call in flight."""

    scope: Scope
    is_long: bool = False
    is_wait: bool = False
    """Whether a closing cancels it instead of waiting for its end."""
    begun: float = field(default_factory=time.monotonic)

    def describe(self) -> str:
        """Return the route and the age of the call; not the path, which may be that of a note."""
        route = route_of(self.scope)
        name = "a call" if route == UNMATCHED else f"{self.scope['method']} {route}"
        return f"{name}, at work for {time.monotonic() - self.begun:.0f} s"


class ReloadGate:
    """Lets calls through to `app`, and holds new ones while it is `closed`.

    `at_reload` gives the behaviour of calls by path; the default is `AtReload.WAITS`. A closing waits longer for calls
    of `long_paths`.
    """

    def __init__(self, app: ASGIApp, at_reload: Mapping[str, AtReload], long_paths: Container[str]) -> None:
        self._app = app
        self._at_reload = at_reload
        self._long_paths = long_paths
        self._is_closed = False
        self._is_ended = False
        self._freed = asyncio.Event()
        self._inside: set[_Call] = set()
        self._awaited: frozenset[_Call] = frozenset()
        self._has_ended = asyncio.Event()
        """Set when a call ends."""
        self._waits: set[asyncio.Timeout] = set()

    @property
    def waits_for(self) -> str:
        """The oldest call that a closing waits for; empty without one."""
        return next(self._late(), "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        at_reload = self._at_reload.get(scope["path"], AtReload.WAITS)
        if at_reload is AtReload.FREE:
            return await self._app(scope, receive, send)
        await self._wait_while_closed()
        if at_reload is AtReload.STREAMS:
            return await self._app(scope, receive, send)
        if at_reload is AtReload.AGAIN:
            return await self._call_again(scope, receive, send)
        with self._count(_Call(scope, is_long=scope["path"] in self._long_paths)):
            return await self._app(scope, receive, send)

    def end(self) -> None:
        """Stop holding calls: held and new calls get the error that the daemon is stopping."""
        self._is_ended = True
        self._freed.set()

    @contextlib.asynccontextmanager
    async def closed(self, limits: ClosingLimits) -> AsyncIterator[None]:
        """Hold new calls during the block, which begins when no call is in flight.

        It first waits for the calls in flight without holding any; then it holds calls and waits for those that began
        in between. Raises NotNow, after letting all calls through, if they do not end, and ShuttingDown at a shutdown.
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
            await self._wait_for(lambda call: call.is_long, limits.long)
            await self._wait_for(lambda call: not call.is_wait, limits.others)
            try:
                await self._shut(limits.hold)
            except NotNow:
                if not tries_left:
                    raise
            else:
                break

    async def _shut(self, hold: timedelta) -> None:
        """Hold new calls until none is in flight.

        Raises NotNow, after letting all calls through, if that takes longer.
        """
        # no other task runs between the last check and this line, so no call begins in between
        self._is_closed = True
        self._freed.clear()
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())
        try:
            await self._wait_for(lambda _call: True, hold)
        except BaseException:
            self._open()
            raise

    def _open(self) -> None:
        self._is_closed = False
        self._freed.set()

    async def _wait_for(self, is_included: Callable[[_Call], bool], limit: timedelta) -> None:
        """Wait until the included calls that are in flight now have ended. Raises NotNow after `limit`."""
        self._awaited = frozenset(filter(is_included, self._inside))
        try:
            async with asyncio.timeout(limit.total_seconds()):
                while not self._awaited.isdisjoint(self._inside):
                    self._has_ended.clear()
                    await self._has_ended.wait()
        except TimeoutError:
            late = "; ".join(self._late())
            raise NotNow(f"calls are in flight that do not end: {late}", hint="try again in a minute") from None
        finally:
            self._awaited = frozenset()

    def _late(self) -> Iterator[str]:
        late = self._awaited & self._inside
        yield from (call.describe() for call in sorted(late, key=lambda call: call.begun)[:SHOWN])

    async def _wait_while_closed(self) -> None:
        # the gate may close again before a call that was let through runs
        while self._is_closed:
            await self._freed.wait()
            if self._is_ended:
                raise ShuttingDown("the daemon is stopping", hint="ask again in a moment")

    @contextlib.contextmanager
    def _count(self, call: _Call) -> Iterator[None]:
        self._inside.add(call)
        try:
            yield
        finally:
            self._inside.discard(call)
            self._has_ended.set()

    async def _call_again(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Repeat a call until it is answered; a closing cancels it while it waits."""
        began, body = time.monotonic(), await receive()
        while not await self._is_answered(scope, replay(body, receive), send, began):
            await self._wait_while_closed()

    async def _is_answered(self, scope: Scope, receive: Receive, send: Send, began: float) -> bool:
        waited = timedelta(seconds=time.monotonic() - began)
        with self._count(_Call(scope, is_wait=True)):
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
        """Return a `send` that disables cancelling once the answer has begun, so that it is not sent twice."""

        async def answer(message: Message) -> None:
            if wait.expired():
                # let the pending cancellation take effect before anything is sent
                await asyncio.sleep(0)
            elif wait in self._waits:
                self._waits.discard(wait)
                wait.reschedule(None)
            await send(message)

        return answer
