"""What `status` says: the facts of each part, gathered; nothing here decides."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import psutil

from memoryd import __version__
from memoryd.agents.figures import Figures
from memoryd.agents.served import Served
from memoryd.agents.workspace import Workspace
from memoryd.api.embedding_status import EmbeddingReply, OutstandingReply, RemoteReply
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import OWNER
from memoryd.api.models import FallbackReply, fallback_reply
from memoryd.api.status import (
    AgentStatus,
    CacheReply,
    ConfigReply,
    ConnectionsReply,
    DatabaseReply,
    DegradedReply,
    EmbedderReply,
    FlaggedReply,
    FtsReply,
    MassRemovalReply,
    OutsideReply,
    ProgressReply,
    QmdCollectionReply,
    QmdReply,
    RootReply,
    SkippedReply,
    StatusReply,
    UnreachableReply,
    VectorReply,
    WatcherReply,
    WorkerReply,
)
from memoryd.config.loading.load import Loaded
from memoryd.domain.documents import INDEX_ALL, OutsideCount
from memoryd.domain.media import MODELS
from memoryd.embed.slot import EmbedderPhase
from memoryd.files.scanner import RootState
from memoryd.index.sync_state import MassRemoval, Publish
from memoryd.qmd.agent import AgentQmd
from memoryd.wire import Event

SKIPPED_SHOWN = 50
LOOK_SECONDS = 1.0


class Degradations:
    """Remembers since when each part has been degraded, and publishes each beginning and end."""

    def __init__(self, publish: Publish) -> None:
        self._since: dict[tuple[str, str], datetime] = {}
        self._publish = publish

    def of(self, agent: str, parts: Sequence[tuple[str, str]]) -> list[DegradedReply]:
        """Return the parts that are degraded now, each with the time it began."""
        now = datetime.now(UTC)
        present = {(agent, part): reason for part, reason in parts}
        for key in [key for key in self._since if key[0] == agent and key not in present]:
            since = self._since.pop(key)
            self._publish(Event.RECOVERED, {"agent": agent, "part": key[1], "since": since.isoformat()})
        for key, reason in present.items():
            if key not in self._since:
                self._since[key] = now
                self._publish(Event.DEGRADED, {"agent": agent, "part": key[1], "reason": reason})
        return [DegradedReply(part=part, reason=reason, since=self._since[agent, part]) for part, reason in parts]


class Reporter:
    """Gathers the status of the daemon."""

    def __init__(
        self,
        *,
        loaded: Loaded,
        socket: str,
        workspaces: Sequence[Workspace],
        failing: Mapping[str, str],
        publish: Publish,
    ) -> None:
        self._loaded = loaded
        self._socket = socket
        self._workspaces = workspaces
        self._failing = failing
        self._started = time.monotonic()
        self._degradations = Degradations(publish)
        self.server: Server | None = None
        """Set once there is one."""

    async def run(self, look_seconds: float = LOOK_SECONDS) -> None:
        """Look again and again what is degraded, so that whoever listens hears of it without asking."""
        while True:
            for workspace in self._workspaces:
                for served in workspace.served:
                    self._degraded_of(served)
            await asyncio.sleep(look_seconds)

    async def status(self) -> StatusReply:
        """Describe the daemon now."""
        agents = []
        for workspace in self._workspaces:
            figures = await workspace.census.take()
            agents += [self._agent(workspace, served, figures) for served in workspace.served]
        return StatusReply(
            version=__version__,
            pid=os.getpid(),
            uptime_seconds=round(time.monotonic() - self._started, 1),
            socket=self._socket,
            rss_bytes=psutil.Process().memory_info().rss,
            config=ConfigReply(
                source=str(self._loaded.source) if self._loaded.source else None, notices=self._loaded.notices
            ),
            connections=self._connections(),
            unreachable=[UnreachableReply(socket=name, reason=why) for name, why in self._unreachable().items()],
            agents=agents,
        )

    def _connections(self) -> ConnectionsReply | None:
        if self.server is None:
            return None
        found = self.server.connections
        return ConnectionsReply(open=found.open, refused=dict(found.refused))

    def _unreachable(self) -> Mapping[str, str]:
        return {} if self.server is None else self.server.unreachable

    def _degraded_of(self, served: Served) -> list[DegradedReply]:
        """Return what is degraded for an agent now; the owner's socket is everybody's."""
        agent = served.agent.id
        sockets = [
            (f"socket {name}", reason)
            for name, reason in self._unreachable().items()
            if name == OWNER or name.startswith(f"agent:{agent}:")
        ]
        return self._degradations.of(agent, [*_degraded(served), *self._failing.items(), *sockets])

    def _agent(self, workspace: Workspace, served: Served, figures: Figures) -> AgentStatus:
        state, held, qmd = served.indexer.state, figures.counts, served.qmd
        embedder, skipped = served.slot.embedder, (*state.skipped, *figures.unseen)
        unseen = figures.lacking + len(figures.unseen)
        return AgentStatus(
            id=served.agent.id,
            workspace=str(served.agent.workspace),
            backend="builtin" if qmd is None or qmd.search.fallback else "qmd",
            provider="none" if embedder is None else embedder.identity.provider,
            model=None if embedder is None else embedder.identity.model,
            files=held.files,
            chunks=held.chunks,
            passages=held.passages,
            embedded=0 if embedder is None else max(0, held.passages - unseen),
            pending_files=state.pending_files,
            pending_embeddings=0 if served.lane.is_idle else figures.lacking,
            dirty=state.is_dirty,
            last_scan_at=state.last_scan_at,
            last_sync_at=state.last_sync_at,
            watcher=_watcher(served),
            vector=_vector(served),
            fts=FtsReply(available=True),
            cache=CacheReply(entries=held.vectors, max_entries=served.agent.memory_search.cache.max_entries),
            embedding=_embedding(figures, served),
            embedder=_embedder(served),
            database=DatabaseReply(path=str(served.database.path), bytes=held.bytes),
            qmd=None if qmd is None else _qmd(qmd),
            fallback=_fallback(served),
            degraded=self._degraded_of(served),
            roots=[
                RootReply(path=str(root.root.path), state=root.state, files=root.files, reason=root.reason or None)
                for root in state.roots
                if root.state is not RootState.MISSING or not root.root.is_optional
            ],
            skipped=[SkippedReply(path=it.path, reason=it.reason) for it in skipped[:SKIPPED_SHOWN]],
            skipped_count=len(skipped),
            outside=_outside(workspace.index.outside.found),
            flagged=[FlaggedReply(path=path, flags=flags) for path, flags in figures.flagged],
            mass_removal=_mass_removal(state.mass_removal),
        )


def _mass_removal(found: MassRemoval | None) -> MassRemovalReply | None:
    return None if found is None else MassRemovalReply(at=found.at, files=found.files, left=found.left)


def _outside(found: OutsideCount) -> OutsideReply | None:
    return OutsideReply(files=found.files, more=found.is_more, hint=INDEX_ALL) if found.files else None


def _watcher(served: Served) -> WatcherReply:
    watcher = served.watcher
    if watcher is None:
        return WatcherReply(mode="off", ok=True, reason=None)
    if watcher.is_ok and served.indexer.state.remote:
        return WatcherReply(mode="scan", ok=True, reason=served.indexer.state.remote)
    return WatcherReply(mode="events" if watcher.is_ok else "scan", ok=watcher.is_ok, reason=watcher.reason)


def _vector(served: Served) -> VectorReply:
    embedder, index = served.slot.embedder, served.builtin.vector_index
    return VectorReply(
        enabled=served.agent.memory_search.query.hybrid.enabled,
        available=embedder is not None,
        engine=index.engine if index else "resident",
        dimensions=None if embedder is None else embedder.identity.dimensions,
        reason=served.database.vector_error,
    )


def _embedding(figures: Figures, served: Served) -> EmbeddingReply:
    choice, remote, cost = served.embedding.plan.choice, served.embedding.remote, figures.cost
    outstanding = None
    if cost is not None:
        outstanding = OutstandingReply(
            files=cost.files,
            passages=cost.passages,
            tokens=cost.tokens,
            media=cost.media,
            media_bytes=cost.media_bytes,
        )
    return EmbeddingReply(
        provider=choice.provider,
        rule=choice.rule,
        fallback=choice.fallback,
        paused=served.agent.memory_search.sync.paused,
        remote=None
        if remote is None
        else RemoteReply(
            provider=remote.wish.provider,
            model=remote.wish.model_name,
            destination=remote.wish.destination,
            outstanding=outstanding,
            sent_today=remote.spent(),
            tokens_per_day=remote.wish.tokens_per_day,
        ),
    )


def _fallback(served: Served) -> FallbackReply | None:
    """Return who is out: qmd before the provider of embeddings, which matters only where qmd does not answer."""
    if served.qmd is not None and served.qmd.search.fallback is not None:
        return fallback_reply(served.qmd.search.fallback)
    stand_in = served.slot.stand_in
    if stand_in is None:
        return None
    return FallbackReply(from_=stand_in.left, reason=stand_in.reason, since=stand_in.since)


def _embedder(served: Served) -> EmbedderReply:
    state = served.slot.state
    progress = state.progress
    return EmbedderReply(
        state=state.phase,
        reason=state.reason or None,
        since=state.since,
        progress=ProgressReply(done_bytes=progress.done_bytes, total_bytes=progress.total_bytes, step=progress.step)
        if progress
        else None,
        worker=_worker(served),
    )


def _worker(served: Served) -> WorkerReply | None:
    local = served.embedding.local
    if local is None or local.worker is None:
        return None
    state = local.worker.state()
    return WorkerReply(
        phase=state.phase,
        pid=state.pid,
        rss_bytes=state.rss_bytes,
        restarts=state.restarts,
        last_error=state.last_error,
    )


def _qmd(sidecar: AgentQmd) -> QmdReply:
    qmd = sidecar.qmd
    state, server, program = qmd.upkeep.state, qmd.server, qmd.installation.program
    return QmdReply(
        command=list(program.command) if program else None,
        version=program.version if program else None,
        search_mode=qmd.settings.mode,
        home=str(qmd.home.root),
        server=server.phase,
        pid=server.pid,
        restarts=server.restarts,
        reason=state.trouble,
        hint=state.hint or None,
        last_update_at=_instant(state.updated_at),
        last_embed_at=_instant(state.embedded_at),
        vectors=state.vectors,
        vector_reason=state.vector_trouble,
        collections=[QmdCollectionReply(name=one.name, path=one.root, pattern=one.pattern) for one in qmd.collections],
    )


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _qmd_trouble(sidecar: AgentQmd) -> list[tuple[str, str]]:
    state, fallback = sidecar.qmd.upkeep.state, sidecar.search.fallback
    parts = []
    if reason := state.trouble or (fallback and fallback.reason):
        parts.append(("qmd", f"{reason}; {state.hint}" if state.hint else reason))
    if state.vector_trouble:
        parts.append(("qmd vectors", state.vector_trouble))
    return parts


def _embedding_trouble(served: Served) -> list[tuple[str, str]]:
    slot, parts = served.slot, []
    if slot.state.phase not in (EmbedderPhase.READY, EmbedderPhase.OFF):
        parts.append(("embedder", slot.state.reason or slot.state.phase.value))
    if slot.stand_in is not None:
        out = slot.stand_in
        parts.append(("provider", f"{out.right} stands in for {out.left}: {out.reason}"))
    if served.lane.trouble:
        parts.append(("embedding", served.lane.trouble))
    return parts


def _doubt_about_privacy(served: Served) -> str:
    hold = served.indexer.state.hold
    is_lasting = hold is not None and hold.ends_in is None and served.agent.workspace.is_dir()
    return hold.reason if hold is not None and is_lasting else served.indexer.state.notice


def _degraded(served: Served) -> list[tuple[str, str]]:
    """Return (part, reason) of everything that does less than the configuration asks for."""
    state = served.indexer.state
    parts = []
    if trouble := served.keeper.trouble or state.trouble:
        parts.append(("index", trouble))
    if in_doubt := _doubt_about_privacy(served):
        parts.append(("privacy", in_doubt))
    parts += _embedding_trouble(served)
    plan = served.embedding.plan
    if served.agent.memory_search.multimodal.enabled and not plan.takes_media:
        parts.append(
            ("multimodal", f"pictures and sounds are left out, only {MODELS[0]} takes them; {plan.choice.rule}")
        )
    if served.watcher is not None and not served.watcher.is_ok and served.watcher.reason:
        parts.append(("watcher", served.watcher.reason))
    if served.database.vector_error and served.agent.memory_search.store.vector.enabled:
        parts.append(("sqlite-vec", served.database.vector_error))
    if served.qmd is not None:
        parts += _qmd_trouble(served.qmd)
    for root in state.roots:
        if root.state is not RootState.OK and not (root.state is RootState.MISSING and root.root.is_optional):
            parts.append((f"root {root.root.path}", root.reason))
    if state.last_scan_at and not served.agent.workspace.is_dir():
        parts.append(("workspace", f"there is no folder {served.agent.workspace}"))
    return parts
