"""The optional port on loopback: opened when it can be, and kept open beside the sockets. It never ends the daemon."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog
from starlette.types import ASGIApp

from memoryd.api.daemon_state import PortState
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.doorkeeper import Door
from memoryd.api.http.loopback import LoopbackListener, address_of, bind_loopback
from memoryd.api.http.server import Server
from memoryd.errors import MemorydError

log = structlog.get_logger(__name__)


class LoopbackPort:
    """Serves `app`, which keeps `door`, on one address. `retry` is how often a port that cannot be opened is tried,
    and how often the token file is looked at.
    """

    def __init__(
        self,
        *,
        host: str,
        port: int,
        app: ASGIApp,
        door: Door,
        limits: ConnectionLimits,
        retry: timedelta = timedelta(seconds=5),
    ) -> None:
        self._where = (host, port)
        self._door = door
        self._made: Callable[[LoopbackListener], Server] = lambda listener: Server(
            app=app, listeners=[listener], limits=limits
        )
        self._retry = retry.total_seconds()
        self._server: Server | None = None
        self._trouble = ""

    def state(self) -> PortState:
        """Return how it is now."""
        server = self._server
        return PortState(
            address=address_of(*self._where),
            token_file=self._door.token.path,
            is_open=server is not None,
            trouble=self._trouble,
            connections=0 if server is None else server.connections.open,
            refused=dict(self._door.refused),
        )

    async def run(self) -> None:
        """Open the port, as often as it takes, and serve until cancelled; that ends with the requests in flight."""
        listener = await self._opened()
        self._server = self._made(listener)
        log.info("loopback port", address=listener.address)
        try:
            await self._server.run()
        finally:
            self._server = None

    async def run_token(self) -> None:
        """See now and then that the token file can be used, and make it again where it is missing, until cancelled."""
        while True:
            if self._server is not None:
                self._note(await self._why_no_token())
            await asyncio.sleep(self._retry)

    async def _opened(self) -> LoopbackListener:
        while True:
            why = await self._why_no_token()
            try:
                if not why:
                    listener = bind_loopback(*self._where)
                    self._note("")
                    return listener
            except MemorydError as exc:
                why = str(exc)
            self._note(why)
            await asyncio.sleep(self._retry)

    async def _why_no_token(self) -> str:
        """Say why the token file cannot be used; empty if it can, or could be made."""
        try:
            await asyncio.to_thread(self._door.token.ensure)
        except MemorydError as exc:
            return f"{exc}; {exc.hint}" if exc.hint else str(exc)
        return ""

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            log.warning("the loopback port is not open as it should be", reason=trouble)
        self._trouble = trouble
