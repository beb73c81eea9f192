"""The composition root: builds every part from the configuration and runs them until told to stop."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import structlog
from fastapi import FastAPI

from memoryd import __version__
from memoryd.agents.events import EventBus
from memoryd.agents.loops import NamedLoop
from memoryd.agents.memories import AgentMemories
from memoryd.agents.workspaces import Workspaces
from memoryd.api.access import Gate, socket_name
from memoryd.api.dependencies import Services
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.guard import Guard, GuardLimits
from memoryd.api.http.loopback_port import LoopbackPort
from memoryd.api.http.measured import RequestCounts
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import Listener, bind_listener, take_inherited
from memoryd.api.routes import application, deadlines
from memoryd.config.loading.load import Loaded
from memoryd.config.paths import socket_path
from memoryd.config.resolved import Agent
from memoryd.daemon import collector
from memoryd.daemon.clock import ClockWatch
from memoryd.daemon.heartbeats import Heartbeats
from memoryd.daemon.lock import DaemonLock, keep_held
from memoryd.daemon.notify import Notifier
from memoryd.daemon.own_log import OwnLog
from memoryd.daemon.port import loopback_port
from memoryd.daemon.report import Reporter
from memoryd.daemon.supervise import Supervisor
from memoryd.errors import AlreadyRunning

log = structlog.get_logger(__name__)


THREADS = 6
"""Of the pool that databases, scans and reads share."""


class Daemon:
    """Everything that runs. `run` returns after `stop`, or raises what an essential part died of."""

    def __init__(self, loaded: Loaded, notifier: Notifier, lock: DaemonLock, own_log: OwnLog) -> None:
        self._loaded = loaded
        self._notifier = notifier
        self._lock = lock
        self._log = own_log
        self._successor: AlreadyRunning | None = None
        self._port: LoopbackPort | None = None
        self._stop = asyncio.Event()
        self._supervisor = Supervisor()
        self._bus = EventBus()
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="memoryd")
        self._workspaces = Workspaces(loaded.config, executor=self._executor, publish=self._bus.publish)
        # under a manager that watches over us the pings stop, and it says what becomes of us
        self._heartbeats = Heartbeats(
            self._workspaces.living_parts, ends_process=not notifier.has_watchdog, dumps_to=own_log.dumps_to
        )
        self._reporter = Reporter(
            loaded=loaded,
            socket=str(socket_path()),
            failing=self._supervisor.failing,
            heartbeats=self._heartbeats,
            restarts=self._supervisor.restarts,
            own_log=own_log,
        )
        self._counts = RequestCounts()
        self._memories = AgentMemories(self._workspaces.memories, bus=self._bus, outside=self._reporter.shortfalls)

    def stop(self) -> None:
        """Begin the orderly end."""
        self._stop.set()

    def rescan(self) -> None:
        """Look at every workspace now."""
        self._workspaces.rescan()

    async def run(self, listen: Callable[[], Sequence[Listener]]) -> None:
        """Serve until stopped; `listen` opens the sockets, once all that they lead to is there.

        Raises AlreadyRunning when another daemon has taken the place of this one.
        """
        # The start list. Each step undoes itself on the stack, so the stop list is this one read backwards.
        async with AsyncExitStack() as started:
            # the threads that all the rest works in
            started.callback(self._executor.shutdown, wait=False)
            # the index files, before whoever writes or reads them
            async with self._starting():
                await started.enter_async_context(self._workspaces.opened())
            # the sockets, bound before any loop runs: a path that cannot be bound ends the start without a trace
            server = started.enter_context(self._listening(listen))
            # the loops; from here on an essential one that dies ends the daemon
            group = await started.enter_async_context(asyncio.TaskGroup())
            started.enter_context(self._looping(group))
            started.enter_context(self._heartbeats.listening())
            # the server, last to start and first to stop: nobody is answered by half a daemon
            await started.enter_async_context(self._serving(group, server))
            # what lives by now lives long, so that the collector need not look at it again
            collector.restrain()
            started.enter_context(self._telling())
            await self._stop.wait()
        if self._successor is not None:
            raise self._successor

    @asynccontextmanager
    async def _starting(self) -> AsyncIterator[None]:
        """Tell the service manager that a start goes on, however large what it opens is."""
        telling = asyncio.create_task(self._notifier.run_start("opening the indexes"), name="start")
        try:
            yield
        finally:
            telling.cancel()

    @contextmanager
    def _listening(self, listen: Callable[[], Sequence[Listener]]) -> Iterator[Server]:
        with ExitStack() as listening:
            app, listeners = self._app(), listen()
            limits = GuardLimits(body_bytes=self._loaded.config.limits.max_body_bytes, deadlines=deadlines())
            self._port = loopback_port(self._loaded.config, app, limits, self._counts)
            for listener in listeners:
                # also where the server never runs, since a loop beside it failed at once
                listening.callback(listener.close)
            server = Server(
                app=Guard(app, limits, counts=self._counts),
                listeners=listeners,
                limits=self._connection_limits(),
                on_stopping=self._bus.close,
            )
            self._reporter.server, self._reporter.port = server, self._port
            yield server

    @contextmanager
    def _looping(self, group: asyncio.TaskGroup) -> Iterator[None]:
        loops = [group.create_task(run(), name=name) for name, run in (*self._essential(), *self._optional())]
        try:
            yield
        finally:
            for task in loops:
                task.cancel()

    @asynccontextmanager
    async def _serving(self, group: asyncio.TaskGroup, server: Server) -> AsyncIterator[None]:
        serving = group.create_task(server.run(), name="server")
        # a server that ends by itself ends the daemon
        serving.add_done_callback(lambda _task: self.stop())
        beside: list[asyncio.Task[None]] = []
        try:
            await server.started.wait()
            beside += [group.create_task(run(), name=name) for name, run in self._port_loops()]
            yield
        finally:
            server.stop()
            for task in beside:
                # which lets the port end the requests in flight, as the sockets do meanwhile
                task.cancel()
            await asyncio.wait([serving, *beside])

    @contextmanager
    def _telling(self) -> Iterator[None]:
        self._notifier.ready(f"serving on {socket_path()}")
        log.info("ready", socket=str(socket_path()), version=__version__, pid=os.getpid())
        try:
            yield
        finally:
            self._notifier.stopping()
            log.info("stopping")

    def _essential(self) -> list[NamedLoop]:
        """Name the loops that end the daemon when they fail."""
        return [
            ("watchdog", lambda: self._notifier.run_watchdog(self._heartbeats.are_well)),
            ("heartbeats", self._heartbeats.run),
            ("log", self._log.run),
            ("clock", ClockWatch(self._workspaces.note_jump).run),
            ("lock", self._keep_lock),
            ("collector", lambda: collector.collect_when_quiet(lambda: self._workspaces.is_indexing)),
            *self._workspaces.essential_loops(),
        ]

    def _optional(self) -> list[NamedLoop]:
        """Name the loops that are started again when they fail."""
        loops = [("reporter", self._memories.board.run), *self._workspaces.optional_loops()]
        return [(name, partial(self._supervisor.keep, name, run)) for name, run in loops]

    def _port_loops(self) -> list[NamedLoop]:
        """Name the loops of the loopback port, which are started again when they fail."""
        loops = [] if self._port is None else [("http", self._port.run), ("http token", self._port.run_token)]
        return [(name, partial(self._supervisor.keep, name, run)) for name, run in loops]

    async def _keep_lock(self) -> None:
        """Stop in order when another daemon holds the lock by now; two must not write one index for long."""
        try:
            await keep_held(self._lock)
        except AlreadyRunning as exc:
            self._successor = exc
            self.stop()

    def _app(self) -> FastAPI:
        services = Services(
            gate=Gate.of(self._loaded.config.resolved_agents()),
            memories=self._memories,
            daemon=self._reporter.state,
            requests=self._counts,
        )
        return application(services)

    def _connection_limits(self) -> ConnectionLimits:
        given = self._loaded.config.limits
        return ConnectionLimits(total=given.max_connections, per_process=given.max_connections_per_process)


def listen(agents: Sequence[Agent]) -> list[Listener]:
    """Return the sockets to serve: the owner's, of the service manager or our own, and those of the agents.

    The caller holds the lock. None is left behind if one cannot be opened.
    """
    with ExitStack() as opened:
        listeners = take_inherited(os.environ) or [bind_listener(socket_path())]
        for listener in listeners:
            opened.callback(listener.close)
        for agent in agents:
            for number, socket in enumerate(agent.sockets):
                path = Path(socket.path).expanduser()
                listeners.append(bind_listener(path, name=socket_name(agent.id, number)))
                opened.callback(listeners[-1].close)
        opened.pop_all()
        return listeners
