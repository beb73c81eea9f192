"""`GET /v1/health` and `GET /v1/status`: the daemon and its agents, how current they are, and what is degraded."""

from datetime import UTC, datetime
from typing import Any

from memoryd.agents.status.figures import skipped_replies
from memoryd.agents.status.status import AgentState, MemoryStatus
from memoryd.api.access import AllServices, Caller, DaemonState, Memories, RequestCaller
from memoryd.api.call import AtReload, call
from memoryd.api.metrics import process_usage
from memoryd.api.models import fallback_reply
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import INDEX_ALL
from memoryd.domain.text.sanitizing import Flag
from memoryd.embed.current import PhaseRecord
from memoryd.embed.local.worker_process import WorkerSupervisor
from memoryd.qmd.sidecar import QmdState
from memoryd.replies.daemon import ConfigReply, HeartbeatReply, ProcessReply, UnreachableReply
from memoryd.replies.models import (
    EmbedderReply,
    EmbeddingReply,
    ProgressReply,
    RemoteReply,
)
from memoryd.replies.search import HealthReply
from memoryd.replies.status import (
    AgentStatus,
    CacheReply,
    DatabaseReply,
    FlaggedReply,
    FtsReply,
    MemoryCountsReply,
    OutsideReply,
    QmdCollectionReply,
    QmdReply,
    RootReply,
    StatusReply,
    VectorReply,
)
from memoryd.wire import FLAGGED_SHOWN


async def get_health(memories: Memories) -> HealthReply:
    """Return that the daemon answers, and whether its first scan is done."""
    return HealthReply(ok=True, ready=memories.is_ready)


async def get_status(caller: RequestCaller, services: AllServices) -> StatusReply:
    """Describe the daemon and every agent; on an agent's socket only that agent."""
    agents = await services.memories.status(caller.binding.agent)
    return status_reply(services.daemon(), agents, caller)


def status_reply(daemon: DaemonState, agents: list[MemoryStatus], caller: Caller) -> StatusReply:
    """Return the reply. Configuration, connections and sockets are included only for the owner."""
    is_owner = caller.binding.is_owner
    return StatusReply(
        version=daemon.version,
        pid=daemon.pid,
        uptimeSeconds=daemon.uptime_seconds,
        socket=daemon.socket if is_owner else caller.socket,
        rssBytes=daemon.rss_bytes,
        config=daemon.config if is_owner else _without_file(daemon.config),
        connections=daemon.connections if is_owner else None,
        unreachable=[UnreachableReply(socket=name, reason=why) for name, why in daemon.unreachable.items() if is_owner],
        daemon=_process(daemon) if is_owner else None,
        http=daemon.port if is_owner else None,
        agents=[_agent(agent) for agent in agents],
    )


def _process(state: DaemonState) -> ProcessReply:
    return ProcessReply(
        heartbeats=[
            HeartbeatReply(
                name=heartbeat.name,
                state=heartbeat.state,
                ageSeconds=round(heartbeat.silent_seconds, 1),
                limitSeconds=heartbeat.limit_seconds,
            )
            for heartbeat in state.heartbeats
        ],
        load=state.load,
        log=state.log,
    )


def _without_file(config: ConfigReply) -> ConfigReply:
    """Return the part of a configuration that others than the owner may see: when it was loaded."""
    return {**config, "source": None, "notices": [], "needsRestart": [], "problems": [], "failedAt": None}


def _agent(status: MemoryStatus) -> AgentStatus:
    state, figures = status.state, status.figures
    sync, stored, outside = state.sync, figures.stored, state.outside
    flagged = [*((path, Flag.CONFLICT.value) for path in outside.copies), *figures.flagged]
    return AgentStatus(
        id=state.id,
        workspace=str(state.workspace),
        backend=state.backend,
        provider=state.provider,
        model=state.model,
        files=stored.files,
        chunks=stored.chunks,
        passages=stored.passages,
        memories=MemoryCountsReply(
            memories=figures.memories.memories, lines=figures.memories.lines, pages=figures.memories.pages
        ),
        embedded=status.embedded,
        pendingFiles=sync.pending_files,
        pendingEmbeddings=status.pending_embeddings,
        readingSecondsLeft=state.reading_seconds_left,
        embeddingSecondsLeft=state.embedding_seconds_left,
        pendingCaptures=state.pending_captures,
        dirty=sync.is_dirty,
        lastScanAt=rfc3339(sync.last_scan_at),
        lastSyncAt=rfc3339(sync.last_sync_at),
        watcher=state.watcher,
        vector=_vector(state),
        fts=FtsReply(available=True),
        cache=CacheReply(entries=stored.vectors, maxEntries=state.settings.cache.capacity),
        embedding=_embedding(state, status.remote),
        embedder=_embedder(state.embedder, status.workers.get("embedder")),
        reranker=state.reranker,
        llm=state.text,
        database=DatabaseReply(path=str(state.index_path), bytes=stored.bytes),
        ledger=status.ledger,
        qmd=None if state.qmd is None else _qmd(state.qmd),
        qa=status.qa,
        sessions=status.conversations,
        team=state.team,
        fallback=fallback_reply(state.fallback),
        degraded=status.degraded,
        roots=[
            RootReply(path=str(root.root.path), state=root.state, files=root.files, reason=root.reason or None)
            for root in state.roots
        ],
        skipped=skipped_replies(status.all_skipped),
        skippedCount=len(status.all_skipped),
        outside=OutsideReply(files=outside.files, more=outside.is_more, hint=INDEX_ALL) if outside.files else None,
        flagged=[FlaggedReply(path=path, flags=flags) for path, flags in flagged[:FLAGGED_SHOWN]],
        massRemoval=sync.mass_removal,
    )


def _vector(state: AgentState) -> VectorReply:
    identity = state.identity
    return VectorReply(
        enabled=state.settings.query.hybrid.enabled,
        available=identity is not None,
        engine=state.vector_engine,
        dimensions=None if identity is None else identity.dimensions,
    )


def _embedding(state: AgentState, remote: RemoteReply | None) -> EmbeddingReply:
    choice = state.choice
    return EmbeddingReply(
        provider=choice.provider,
        rule=choice.rule,
        fallback=choice.fallback,
        paused=state.settings.sync.paused,
        remote=remote,
    )


def _embedder(state: PhaseRecord, worker: WorkerSupervisor[Any] | None) -> EmbedderReply:
    progress = state.progress
    return EmbedderReply(
        state=state.phase,
        reason=state.reason or None,
        since=rfc3339(state.since),
        progress=ProgressReply(doneBytes=progress.done_bytes, totalBytes=progress.total_bytes, step=progress.step)
        if progress
        else None,
        worker=None if worker is None else worker.state(),
    )


def _qmd(state: QmdState) -> QmdReply:
    program, maintenance = state.program, state.maintenance
    usage = None if state.pid is None else process_usage(state.pid)
    return QmdReply(
        command=list(program.command) if program else None,
        version=program.version if program else None,
        searchMode=state.search_mode,
        home=str(state.home),
        server=state.server,
        pid=state.pid,
        rssBytes=0 if usage is None else usage.rss_bytes,
        restarts=state.restarts,
        reason=maintenance.trouble,
        hint=maintenance.hint or None,
        lastUpdateAt=_instant(maintenance.updated_at),
        lastEmbedAt=_instant(maintenance.embedded_at),
        vectors=maintenance.vectors,
        vectorReason=maintenance.vector_trouble,
        exportedSessions=state.exported,
        exportReason=state.export_trouble or None,
        collections=[
            QmdCollectionReply(name=item.name, path=item.root, pattern=item.pattern) for item in maintenance.collections
        ],
    )


def _instant(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(datetime.fromtimestamp(seconds, UTC))


CALLS = (
    call("GET", "/health", Who.ANYONE, get_health, at_reload=AtReload.FREE),
    call("GET", "/status", Who.AGENT, get_status),
)
