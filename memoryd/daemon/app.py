"""The composition root: builds every part from the configuration and runs them until told to stop.

Order matters and stands here alone: the lock before the socket, the databases before the loops, the socket last
to open and first to close.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import structlog
from fastapi import FastAPI

from memoryd import __version__
from memoryd.agents.served import AgentTable
from memoryd.agents.workspace import Surroundings, Workspace
from memoryd.api import description, events, files, problems, routes, search, sessions, status, sync
from memoryd.api.access import Gate, socket_name
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.guard import Guard, GuardLimits
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import Listener, bind_listener, take_inherited
from memoryd.api.models import HealthReply
from memoryd.config.loading.load import Loaded
from memoryd.config.models import Agent
from memoryd.config.paths import models_dir, socket_path, state_dir
from memoryd.daemon import collector
from memoryd.daemon.clock import ClockWatch
from memoryd.daemon.lock import DaemonLock
from memoryd.daemon.notify import Notifier
from memoryd.daemon.report import Reporter
from memoryd.daemon.supervise import Loop, Supervisor
from memoryd.domain.clocks import Jump
from memoryd.embed.choice import Embedding, Runnable, build, plan_for
from memoryd.embed.remote.spending import Ledger
from memoryd.embed.slot import EmbedderSlot, EmbedderState
from memoryd.errors import AlreadyRunning, NotPermitted, StoreError, StoreUnavailable
from memoryd.index.watcher import FileWatcher
from memoryd.models.store import ModelStore
from memoryd.qmd.agent import forget_unused
from memoryd.store.stored_vectors import Matrix
from memoryd.wire import Event

log = structlog.get_logger(__name__)


THREADS = 6
"""Of the pool that databases, scans and reads share."""
LOCK_SECONDS = 2.0
"""How often the lock is looked at: its file goes with a state directory that somebody removes."""


class Daemon:
    """Everything that runs. `run` returns after `stop`, or raises what an essential part died of."""

    def __init__(self, loaded: Loaded, notifier: Notifier, lock: DaemonLock) -> None:
        self._loaded = loaded
        self._notifier = notifier
        self._lock = lock
        self._successor: AlreadyRunning | None = None
        self._stop = asyncio.Event()
        self._supervisor = Supervisor()
        self._bus = events.EventBus()
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="memoryd")
        agents = loaded.config.resolved_agents()
        is_watching = any(agent.memory_search.sync.watch for agent in agents)
        self._watcher = FileWatcher(probe=state_dir() / "probe") if is_watching else None
        self._embeddings: dict[Runnable, Embedding] = {}
        self._ledger = Ledger(state_dir() / "spending.json")
        self._workspaces = [self._workspace(group) for group in _grouped(agents)]
        for workspace in self._workspaces:
            workspace.heed(self._workspaces)
        self._socket = socket_path()
        self._reporter = Reporter(
            loaded=loaded,
            socket=str(self._socket),
            workspaces=self._workspaces,
            failing=self._supervisor.failing,
            publish=self._bus.publish,
        )

    def stop(self) -> None:
        """Begin the orderly end."""
        self._stop.set()

    def rescan(self) -> None:
        """Look at every workspace now."""
        for workspace in self._workspaces:
            workspace.indexer.demand()

    def _on_jump(self, jump: Jump) -> None:
        for workspace in self._workspaces:
            if jump.was_set_back:
                workspace.indexer.distrust_times()
            else:
                workspace.indexer.demand()

    async def run(self, listen: Callable[[], Sequence[Listener]]) -> None:
        """Serve until stopped; `listen` opens the sockets, once all that they lead to is there.

        Raises AlreadyRunning when another daemon has taken the place of this one.
        """
        async with AsyncExitStack() as stack:
            stack.callback(self._executor.shutdown, wait=False)
            for workspace in self._workspaces:
                await workspace.keeper.open()
                stack.push_async_callback(workspace.database.close)
            await asyncio.to_thread(forget_unused, self._loaded.config.resolved_agents())
            app = self._app()
            listeners = listen()
            for listener in listeners:
                # also where the server never runs, since a loop beside it failed at once
                stack.callback(listener.close)
            server = Server(app=app, listeners=listeners, limits=self._connection_limits(), on_stopping=self._bus.close)
            self._reporter.server = server
            await self._run_parts(server)
        if self._successor is not None:
            raise self._successor

    async def _run_parts(self, server: Server) -> None:
        async with asyncio.TaskGroup() as group:
            loops = [group.create_task(loop, name=name) for name, loop in self._loops()]
            serving = group.create_task(server.run(), name="server")
            waiting = group.create_task(self._stop.wait(), name="stop")
            await server.started.wait()
            collector.restrain()
            self._notifier.ready(f"serving on {self._socket}")
            log.info("ready", socket=str(self._socket), version=__version__, pid=os.getpid())
            await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
            self._notifier.stopping()
            log.info("stopping")
            server.stop()
            await asyncio.wait([serving])
            for task in (*loops, waiting):
                task.cancel()

    def _loops(self) -> list[tuple[str, Loop]]:
        """Name every loop: an essential one ends the daemon when it fails, an optional one is started again."""
        essential = [
            ("watchdog", self._notifier.run_watchdog(lambda: True)),
            ("clock", ClockWatch(self._on_jump).run()),
            ("lock", self._keep_lock()),
            ("collector", collector.collect_when_quiet(self._is_indexing)),
        ]
        for workspace in self._workspaces:
            name = workspace.agents[0].id
            essential += [(f"keeper {name}", workspace.keeper.run()), (f"indexer {name}", workspace.indexer.run())]
        return essential + [(name, self._supervisor.keep(name, run)) for name, run in self._optional()]

    async def _keep_lock(self) -> None:
        """Stop in order when another daemon holds the lock by now; two must not write one index for long."""
        trouble = ""
        while True:
            await asyncio.sleep(LOCK_SECONDS)
            try:
                await asyncio.to_thread(self._lock.keep)
                trouble = ""
            except AlreadyRunning as exc:
                self._successor = exc
                self.stop()
                return
            except (NotPermitted, StoreUnavailable) as exc:
                if str(exc) != trouble:
                    log.warning("the lock was lost", reason=str(exc))
                trouble = str(exc)

    def _optional(self) -> list[tuple[str, Callable[[], Loop]]]:
        loops: list[tuple[str, Callable[[], Loop]]] = [("reporter", self._reporter.run)]
        if self._watcher is not None:
            loops += [("watcher", self._watcher.run), ("probe", self._watcher.run_probe)]
        loops += [("embedder", found.source.run) for found in self._embeddings.values() if found.source is not None]
        for workspace in self._workspaces:
            name = workspace.agents[0].id
            loops.append((f"embedding {name}", workspace.lane.run))
            loops.append((f"interval {name}", workspace.run_interval))
            loops.append((f"stand-in {name}", workspace.run_stand_in))
            loops.append((f"outside {name}", workspace.run_outside))
            for agent, sidecar in workspace.qmds.items():
                loops.append((f"qmd upkeep {agent}", sidecar.qmd.upkeep.run))
                loops.append((f"qmd server {agent}", sidecar.qmd.server.run))
        return loops

    def _app(self) -> Guard:
        app = FastAPI(
            title="memoryd",
            version=__version__,
            docs_url=None,
            redoc_url=None,
            responses=description.ERRORS,
            redirect_slashes=False,
        )
        agents = AgentTable([served for workspace in self._workspaces for served in workspace.served])
        gate = Gate.of(self._loaded.config.resolved_agents())
        problems.install(app)
        description.install(app)
        routers = [
            status.router(health=self._health, status=self._reporter.status, gate=gate),
            search.router(agents, gate, self._loaded.config.limits),
            files.router(agents, gate, self._loaded.config.limits),
            sync.router(agents, gate),
            sessions.router(agents, gate),
            events.router(self._bus, gate),
        ]
        routes.install(app, gate, routers)
        longest = timedelta(hours=1, minutes=1)
        limits = GuardLimits(body_bytes=self._loaded.config.limits.max_body_bytes, deadlines={"/v1/sync": longest})
        return Guard(app, limits)

    def _is_indexing(self) -> bool:
        return any(workspace.indexer.state.pending_files for workspace in self._workspaces)

    def _health(self) -> HealthReply:
        is_ready = all(workspace.indexer.state.last_sync_at for workspace in self._workspaces)
        return HealthReply(ok=True, ready=is_ready)

    def _connection_limits(self) -> ConnectionLimits:
        limits = self._loaded.config.limits
        return ConnectionLimits(total=limits.max_connections, per_process=limits.max_connections_per_process)

    def _workspace(self, agents: Sequence[Agent]) -> Workspace:
        embedding = self._embedding(agents[0])
        watches = agents[0].memory_search.sync.watch
        around = Surroundings(
            executor=self._executor,
            limits=self._loaded.config.limits,
            watcher=self._watcher if watches else None,
            lookup=self._lookup,
            publish=self._bus.publish,
        )
        return Workspace(agents=agents, embedding=embedding, around=around)

    def _embedding(self, agent: Agent) -> Embedding:
        """Return the embedder of an agent; agents with the same settings share one model in memory."""
        models, store = self._loaded.config.models, _model_store(agent)
        plan = plan_for(agent, models, store=store, environment=os.environ, home=Path.home())
        log.info("embedding", agent=agent.id, provider=plan.choice.provider, rule=plan.choice.rule)
        if plan.runnable not in self._embeddings:
            slot = EmbedderSlot(self._model_news(agent.id))
            self._embeddings[plan.runnable] = build(
                plan, models, store=store, slot=slot, ledger=self._ledger, jobs=state_dir() / "batches"
            )
        return replace(self._embeddings[plan.runnable], plan=plan)

    def _model_news(self, agent: str) -> Callable[[EmbedderState], None]:
        def publish(state: EmbedderState) -> None:
            progress = state.progress
            self._bus.publish(
                Event.MODEL,
                {
                    "agent": agent,
                    "state": state.phase,
                    "reason": state.reason or None,
                    "doneBytes": progress.done_bytes if progress else None,
                    "totalBytes": progress.total_bytes if progress else None,
                    "step": progress.step if progress else None,
                },
            )

        return publish

    async def _lookup(self, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Matrix]:
        """Find vectors that the index of another workspace holds already; one that cannot be read holds none."""
        found: dict[bytes, Matrix] = {}
        if len(self._workspaces) < 2:
            return found
        for workspace in self._workspaces:
            missing = [key for key in hashes if key not in found]
            if missing:
                with contextlib.suppress(StoreError):
                    found |= await workspace.database.vectors.of(fingerprint, missing)
        return found


def _grouped(agents: Sequence[Agent]) -> list[list[Agent]]:
    """Return the agents by index file: those on one workspace share it, led by one whose memory can be searched."""
    groups: dict[Path, list[Agent]] = {}
    for agent in agents:
        groups.setdefault(agent.index_path, []).append(agent)
    return [sorted(group, key=lambda agent: not agent.memory_search.enabled) for group in groups.values()]


def _model_store(agent: Agent) -> ModelStore:
    local = agent.memory_search.local
    folder = Path(local.model_cache_dir) if local.model_cache_dir else models_dir()
    return ModelStore.of(folder, os.environ, allow_download=local.download)


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
