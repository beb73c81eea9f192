"""Serves one ASGI app on listening sockets, inside a program that owns the event loop and the signals."""

import asyncio
import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

import structlog
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from memoryd.api.http.connection import Connection, ConnectionLimits, Connections
from memoryd.api.http.sockets import BACKLOG, ClientListener
from memoryd.errors import MemorydError
from memoryd.retry import wait_within

log = structlog.get_logger(__name__)

_CANCEL_SECONDS = 1.0
"""Seconds that cancelled requests get to reply that the daemon is shutting down."""


class Server:
    """Answers on `listeners` while `run` runs; it owns the listeners, and closes them at the end.

    `grace` is the time that requests in flight get after the stop. `check_every` is the interval in which removed
    sockets are detected and bound again. `on_stopping` is called first at a stop: it must end the streams that never
    end.
    """

    def __init__(
        self,
        *,
        app: ASGIApp,
        listeners: Sequence[ClientListener],
        limits: ConnectionLimits | None = None,
        grace: timedelta = timedelta(seconds=5),
        check_every: timedelta = timedelta(seconds=10),
        on_stopping: Callable[[], None] = lambda: None,
    ) -> None:
        limits = limits or ConnectionLimits()
        self.connections = Connections(limits)
        self.started = asyncio.Event()
        self.unreachable: dict[str, str] = {}
        """Socket name → the reason why its path does not lead here, for `status`."""
        self._config = _uvicorn_config(app, limits)
        self._state = ServerState()
        self._waiting = list(listeners)
        self._serving: dict[ClientListener, asyncio.Server] = {}
        self._grace = grace
        self._check_every = check_every
        self._on_stopping = on_stopping
        self._stop = asyncio.Event()

    @property
    def listeners(self) -> list[ClientListener]:
        return [*self._serving, *self._waiting]

    def stop(self) -> None:
        """Make `run` return after the requests in flight; cancelling it does the same."""
        self._stop.set()

    async def run(self) -> None:
        """Listen, answer and keep the sockets bound, until stopped; the end takes at most `grace` plus a second."""
        try:
            while self._waiting:
                await self._serve(self._waiting[0])
                self._waiting.pop(0)
            await self._rebind_removed_sockets()
            self.started.set()
            while not await wait_within(self._stop.wait(), self._check_every.total_seconds()):
                await self._rebind_removed_sockets()
        finally:
            await self._shut_down()

    async def _serve(self, listener: ClientListener) -> None:
        factory = functools.partial(
            Connection, self._config, self._state, listener=listener, connections=self.connections
        )
        loop = asyncio.get_running_loop()
        # not create_unix_server: since 3.13 it unlinks the path when closed, even an inherited one
        server = await loop.create_server(factory, sock=listener.sock, backlog=BACKLOG, start_serving=False)
        # recorded before it listens: a cancellation during the start still closes it
        self._serving[listener] = server
        await server.start_serving()

    async def _rebind_removed_sockets(self) -> None:
        for listener in list(self._serving):
            if not listener.is_still_bound():
                await self._rebind(listener)

    async def _rebind(self, removed: ClientListener) -> None:
        """Bind a socket of our own at a removed path; also for an inherited socket, which no path leads to now."""
        try:
            fresh = removed.rebind()
        except MemorydError as exc:
            if self.unreachable.get(removed.name) != str(exc):
                log.warning("socket lost", path=removed.address, reason=str(exc))
            self.unreachable[removed.name] = str(exc)
            return
        await self._serve(fresh)
        self._drop(removed)
        self.unreachable.pop(removed.name, None)
        log.warning("socket was removed and is bound again", path=removed.address)

    def _drop(self, listener: ClientListener) -> None:
        if (server := self._serving.pop(listener, None)) is not None:
            server.close()
        listener.close()

    async def _shut_down(self) -> None:
        self._on_stopping()
        for listener in self.listeners:
            self._drop(listener)
        self._waiting.clear()
        for connection in list(self._state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._grace.total_seconds()):
                await self.connections.none_open.wait()
                await _wait_for_tasks(self._state.tasks)
        await self._cut_off()

    async def _cut_off(self) -> None:
        """Cancel the requests that still run, so that they answer `shutting_down`, and close all connections."""
        tasks = list(self._state.tasks)
        if tasks:
            log.warning("requests cut off at shutdown", count=len(tasks))
        for task in tasks:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await _wait_for_tasks(tasks)
                await self.connections.none_open.wait()
        for connection in list(self._state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


async def _wait_for_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def _uvicorn_config(app: ASGIApp, limits: ConnectionLimits) -> Config:
    config = Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        loop="none",
        log_config=None,
        # our own layers count, answer or log with the route what uvicorn would log at lower levels
        log_level=logging.CRITICAL,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(limits.idle_timeout.total_seconds()),
        h11_max_incomplete_event_size=limits.header_bytes,
    )
    config.load()
    return config
