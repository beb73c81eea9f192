"""The composition root: builds every part from the configuration and runs them until a signal stops the daemon.

Importing this module imports everything.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import structlog

from memoryd import __version__
from memoryd.agents.events import EventBus, NamedLoop
from memoryd.agents.workspace.workspaces import Workspaces
from memoryd.api.access import AccessPolicy, Services, socket_name
from memoryd.api.application import Application, at_reload, deadlines
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.counting import RequestCounts
from memoryd.api.http.limits import Admission, GuardLimits, guard_app
from memoryd.api.http.loopback import LoopbackAuth, LoopbackPort, PortGuard, address_of
from memoryd.api.http.reload_gate import ClosingLimits, ReloadGate
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import Listener, bind_listener, take_inherited
from memoryd.config.agents import Agent
from memoryd.config.loading.load import Loaded
from memoryd.config.paths import socket_path
from memoryd.config.root import Config, keys_with_effect
from memoryd.config.section import Effect
from memoryd.daemon import heartbeats
from memoryd.daemon.heartbeats import Heartbeats, Notifier
from memoryd.daemon.lock import DaemonLock, keep_lock
from memoryd.daemon.log_output import OwnLog
from memoryd.daemon.reloading import OpenWorkspaces, Reloading
from memoryd.daemon.report import Reporter, Supervisor
from memoryd.domain.access import DoorRules, TokenLimiter
from memoryd.errors import AlreadyRunning, NotNow
from memoryd.files.token_file import TokenFile
from memoryd.replies.daemon import ConfigReply, PageReply
from memoryd.web.door import PageDoor, PagePort, route_by_session, route_pages, with_headers
from memoryd.web.session import PageSessions
from memoryd.web.site import Site, page_deadlines, pages_at_reload

log = structlog.get_logger(__name__)


CLOSING = ClosingLimits(long=timedelta(minutes=11), others=timedelta(seconds=75), hold=timedelta(seconds=3))
"""The limits of a reload that waits for calls in flight: these have a minute, and a question has some seconds."""
ADMITTING = ("memory.scope", "memory.qmd.scope", "memory.backend", "agents.list")
"""Keys of the access rules: if they change, clients that follow the events of an agent must be admitted again."""
END_SECONDS = 5.0
"""Seconds that a stop waits for a running reload."""


class Daemon:
    """The complete daemon. `run` returns after `stop`, or raises the error of a failed essential part."""

    def __init__(
        self, loaded: Loaded, notifier: Notifier, lock: DaemonLock, own_log: OwnLog, read: Callable[[], Loaded]
    ) -> None:
        self._notifier = notifier
        self._lock = lock
        self._log = own_log
        self._successor: AlreadyRunning | None = None
        self._port: LoopbackPort | None = None
        self._stop = asyncio.Event()
        self._supervisor = Supervisor()
        self._bus = EventBus()
        self._reloading = Reloading(loaded, read=read, apply=self._apply, notifier=notifier)
        # with a watchdog, the pings stop and the service manager restarts us; otherwise the process ends itself
        self._heartbeats = Heartbeats(
            lambda: self._open.now.watched_parts(), ends_process=not notifier.has_watchdog, dumps_to=own_log.dumps_to
        )
        self._admission = Admission(loaded.config.limits.max_requests)
        self._reporter = Reporter(
            config=self._config_state,
            socket=str(socket_path()),
            supervisor=self._supervisor,
            heartbeats=self._heartbeats,
            own_log=own_log,
            admission=self._admission,
        )
        self._counts = RequestCounts()
        self._open = OpenWorkspaces(
            loaded.config, bus=self._bus, supervisor=self._supervisor, outside=self._reporter.degradations
        )
        self._at_start = loaded.config
        self._page_sessions = PageSessions(time.monotonic)
        self._page_port: PagePort | None = None
        self._api = Application(self._services(loaded.config))
        site = Site(lambda: self._api.services, self._page_sessions)
        self._deadlines = deadlines() | page_deadlines()
        self._reload_gate = ReloadGate(
            route_by_session(site, self._api), at_reload() | pages_at_reload(), self._deadlines.keys()
        )

    def stop(self) -> None:
        """Begin the orderly shutdown."""
        self._stop.set()

    def reload(self) -> None:
        """Read the configuration again, and scan every workspace now."""
        self._workspaces.rescan()
        self._reloading.demand()

    async def run(self, listen: Callable[[], Sequence[Listener]]) -> None:
        """Serve until stopped. `listen` opens the sockets, after everything that they lead to exists.

        Raises AlreadyRunning when another daemon has taken the place of this one.
        """
        # The start order. Each step is undone by the exit stack, so the stop order is the reverse.
        async with AsyncExitStack() as started:
            # the index files and their threads, before the loops that write and read them
            async with self._starting():
                await started.enter_async_context(self._open.opened())
            # the sockets, bound before any loop runs: a path that cannot be bound ends the start without side effects
            server = started.enter_context(self._listening(listen))
            # the loops; from here on an essential one that dies ends the daemon
            group = await started.enter_async_context(asyncio.TaskGroup())
            started.enter_context(self._looping(group))
            started.enter_context(self._heartbeats.listening())
            started.enter_context(self._open.at_work(group))
            await started.enter_async_context(self._reloadable(group))
            # the server starts last and stops first, so that no request meets a partly running daemon
            await started.enter_async_context(self._serving(group, server))
            # objects that exist by now live long, so the collector need not visit them again
            heartbeats.freeze_objects()
            started.enter_context(self._notifying())
            await self._stop.wait()
        if self._successor is not None:
            raise self._successor

    @asynccontextmanager
    async def _starting(self) -> AsyncIterator[None]:
        """Report to the service manager that the start continues, even if opening large files takes long."""
        reporting = asyncio.create_task(self._notifier.run_start(), name="start")
        try:
            yield
        finally:
            reporting.cancel()

    @contextmanager
    def _listening(self, listen: Callable[[], Sequence[Listener]]) -> Iterator[Server]:
        with ExitStack() as listening:
            app, listeners, config = self._reload_gate, listen(), self._at_start
            limits = GuardLimits(deadlines=self._deadlines)
            self._open_ports(config, limits)
            for listener in listeners:
                # closed even if the server never runs because a loop failed at once
                listening.callback(listener.close)
            server = Server(
                app=guard_app(app, limits, counts=self._counts, admission=self._admission),
                listeners=listeners,
                limits=_connection_limits(config),
                on_stopping=self._end_waits,
            )
            self._reporter.server, self._reporter.port = server, self._port
            yield server

    def _open_ports(self, config: Config, limits: GuardLimits) -> None:
        """Create the loopback port if it is configured, and the object that opens it for the page if it is not."""
        http, most = config.http, _connection_limits(config).per_process
        rules = DoorRules.of(http.port, http.allowed_hosts, http.allowed_origins)
        # counted separately from connections on the sockets, which many clients of the port thus cannot block
        connections = ConnectionLimits(total=most, per_process=most)
        guarded = partial(guard_app, self._reload_gate, limits, counts=self._counts, admission=self._admission)
        pages = with_headers(guarded(door=partial(PageDoor, rules=rules, sessions=self._page_sessions), is_form=True))
        if http.enabled:
            door = PortGuard(rules=rules, token=TokenFile(http.token_path()), wrong=TokenLimiter(time.monotonic))
            calls = guarded(door=partial(LoopbackAuth, door=door))
            self._port = LoopbackPort(
                host=http.host, port=http.port, app=route_pages(pages, calls), door=door, limits=connections
            )
        self._reporter.page_address = address_of(http.host, http.port)
        self._page_port = PagePort(
            route_pages(pages, guard_app(Application(table=()))),
            host=http.host,
            port=http.port,
            configured=lambda: self._port,
            limits=connections,
            sessions=self._page_sessions,
        )

    @contextmanager
    def _looping(self, group: asyncio.TaskGroup) -> Iterator[None]:
        loops = [group.create_task(run(), name=name) for name, run in self._essential()]
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
        port_tasks: list[asyncio.Task[None]] = []
        try:
            await server.started.wait()
            port_tasks += [group.create_task(run(), name=name) for name, run in self._port_loops()]
            yield
        finally:
            server.stop()
            for task in port_tasks:
                # the port then ends its requests in flight, while the sockets do the same
                task.cancel()
            await asyncio.wait([serving, *port_tasks])

    @contextmanager
    def _notifying(self) -> Iterator[None]:
        self._notifier.ready(f"serving on {socket_path()}")
        log.info("ready", socket=str(socket_path()), version=__version__, pid=os.getpid())
        try:
            yield
        finally:
            self._notifier.stopping()
            log.info("stopping")

    def _essential(self) -> list[NamedLoop]:
        """Return the loops that end the daemon when they fail."""
        return [
            ("watchdog", lambda: self._notifier.run_watchdog(self._heartbeats.are_well)),
            ("heartbeats", self._heartbeats.run),
            ("log", self._log.run),
            ("clock", lambda: heartbeats.watch_clocks(self._open.note_jump)),
            ("lock", self._keep_lock),
            ("collector", lambda: heartbeats.collect_when_quiet(lambda: self._workspaces.is_indexing)),
        ]

    def _port_loops(self) -> list[NamedLoop]:
        """Return the loops of the loopback port, which are restarted when they fail."""
        loops = [] if self._port is None else [("http", self._port.run), ("http token", self._port.run_token)]
        if self._page_port is not None:
            loops.append(("page", self._page_port.run))
        return [(name, partial(self._supervisor.keep, name, run)) for name, run in loops]

    async def _keep_lock(self) -> None:
        """Stop in order when another daemon has the lock; two must not write one index for long."""
        try:
            await keep_lock(self._lock)
        except AlreadyRunning as exc:
            self._successor = exc
            self.stop()

    def _services(self, config: Config) -> Services:
        return Services(
            # the binding of a socket does not change until a restart
            gate=AccessPolicy.of(config.resolved_agents(), sockets_of=self._at_start.resolved_agents()),
            memories=self._open.memories,
            daemon=self._reporter.state,
            requests=self._counts,
            reload=self._reloading.reload,
            check_at_reload=self._reloading.check,
            open_page=self._open_page,
        )

    async def _open_page(self, agent: str | None, is_kept: bool) -> PageReply:
        if self._page_port is None:
            raise NotNow("the daemon is starting", hint="ask again in a moment")
        return await self._page_port.link(agent, is_kept=is_kept)

    def _config_state(self) -> ConfigReply:
        state, waits_for = self._reloading.state, self._reload_gate.waits_for
        if not waits_for:
            return state
        return {**state, "notices": [*state["notices"], f"a reload waits for {waits_for}"]}

    @property
    def _workspaces(self) -> Workspaces:
        """The open workspaces; a reload may replace them."""
        return self._open.now

    async def _apply(self, loaded: Loaded, changed: Sequence[str]) -> None:
        """Apply a configuration. If it raises, the previous one stays in effect."""
        if keys_with_effect(changed, Effect.EXCHANGE):
            async with self._reload_gate.closed(CLOSING):
                try:
                    await self._open.exchange(loaded.config)
                finally:
                    # new objects even on failure, over the same files as before
                    self._api.services = self._services(self._open.config)
            if any(key.startswith(ADMITTING) for key in changed):
                self._bus.close_bound()
            heartbeats.collect_frozen()
        self._log.set_up(loaded.config.log)
        self._admission.most = loaded.config.limits.max_requests
        if self._reporter.server is not None:
            self._reporter.server.connections.limits = _connection_limits(loaded.config)

    @asynccontextmanager
    async def _reloadable(self, group: asyncio.TaskGroup) -> AsyncIterator[None]:
        """Reload on demand; at the end, wait for a running reload for a limited time."""
        reloading = group.create_task(self._reloading.run(), name="reload")
        try:
            yield
        finally:
            await self._reloading.wait_until_idle(END_SECONDS)
            reloading.cancel()
            # before the loops end, since a reload would start new ones
            await asyncio.wait([reloading])

    def _end_waits(self) -> None:
        """End everything that would not end by itself, at a stop."""
        self._bus.close()
        self._reload_gate.end()
        self._reloading.end()


def _connection_limits(config: Config) -> ConnectionLimits:
    most = config.limits.max_connections
    return ConnectionLimits(total=most, per_process=most * 3 // 4 or 1)


def listen(agents: Sequence[Agent]) -> list[Listener]:
    """Return the sockets to serve: the owner's, from the service manager or our own, and those of the agents.

    The caller holds the lock. If one cannot be opened, all are closed again.
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


async def run(
    loaded: Loaded,
    notifier: Notifier,
    lock: DaemonLock,
    own_log: OwnLog,
    read: Callable[[], Loaded],
    *,
    is_hung_up: Callable[[], bool],
) -> None:
    """Serve until SIGTERM or SIGINT. Raises what `Daemon.run` raises. `is_hung_up`: SIGHUP has already come."""
    daemon = Daemon(loaded, notifier, lock, own_log, read)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop_once, daemon, loop, number)
    loop.add_signal_handler(signal.SIGHUP, daemon.reload)
    if is_hung_up():
        daemon.reload()
    await daemon.run(lambda: listen(loaded.config.resolved_agents()))


def _stop_once(daemon: Daemon, loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
    """Stop in order at the first signal; a second one ends the process at once."""
    daemon.stop()
    loop.remove_signal_handler(number)
    signal.signal(number, signal.SIG_DFL)
