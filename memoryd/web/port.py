"""The loopback port where it is off: opened for the page alone with its link, and closed when nobody looks."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from memoryd.api.daemon_state import PageLink
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.loopback import LoopbackListener, LoopbackPort, address_of, bind_loopback
from memoryd.api.http.server import Server
from memoryd.errors import NotNow
from memoryd.web.door import LOGIN
from memoryd.web.session import IDLE, LINK_SECONDS, PageSessions

log = structlog.get_logger(__name__)


class PagePort:
    """Opens the port for `app`, and gives out links; where `configured` serves the port it only gives out links.

    `idle` is how long the port stays open without a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        configured: Callable[[], LoopbackPort | None],
        limits: ConnectionLimits,
        sessions: PageSessions,
        idle: timedelta = IDLE,
    ) -> None:
        self._app = app
        self._where = (host, port)
        self._configured = configured
        self._limits = limits
        self._sessions = sessions
        self._idle = idle.total_seconds()
        self._listener: LoopbackListener | None = None
        self._is_wanted = asyncio.Event()
        self._has_closed = asyncio.Event()
        self._clock: asyncio.Timeout | None = None

    async def link(self, agent: str | None = None, *, is_kept: bool) -> PageLink:
        """Return a new link, with the port open; raises NotNow where it cannot be."""
        # first: from where the port is opened until the link is made, nothing is waited for, or it might close again
        await asyncio.to_thread(_prepare)
        configured = self._configured()
        if configured is None:
            if self._clock is not None and self._clock.expired():
                # it closes within the next turns of the loop: a link to it would lead nowhere
                await self._has_closed.wait()
            if self._listener is None:
                self._listener = bind_loopback(*self._where)
                self._is_wanted.set()
        elif not (state := configured.state()).is_open:
            raise NotNow(f"the loopback port is not open: {state.trouble or 'the daemon is starting'}")
        token = self._sessions.issue(agent, is_kept=is_kept)
        self._note_request()
        return PageLink(f"http://{address_of(*self._where)}{LOGIN}#{token}", *self._where, LINK_SECONDS)

    async def run(self) -> None:
        """Serve the port whenever it was opened, until nobody asked for as long as `idle`; until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            if self._listener is not None:
                await self._serve(self._listener)

    async def _serve(self, listener: LoopbackListener) -> None:
        self._has_closed.clear()
        log.info("loopback port opened for the page", address=listener.address)
        try:
            async with asyncio.timeout(None) as self._clock:
                self._note_request()
                server = Server(
                    app=self._noting, listeners=[listener], limits=self._limits, on_stopping=self._note_closing
                )
                await server.run()
        except TimeoutError:
            log.info("loopback port closed", address=listener.address)
        finally:
            self._clock = None

    def _note_closing(self) -> None:
        # a link that is asked for while the last answers are on their way opens it anew
        self._listener = None
        self._has_closed.set()

    async def _noting(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            self._note_request()

    def _note_request(self) -> None:
        clock = self._clock
        if clock is None or clock.expired():
            return
        # the same clock as the sessions'; who is refused does not keep it open
        clock.reschedule(None if self._sessions.is_kept else self._sessions.used_at + self._idle)


def _prepare() -> None:
    """Import what pages need, so that the browser that comes by a link waits for no import."""
    from memoryd.web.rendering import prepare

    prepare()
