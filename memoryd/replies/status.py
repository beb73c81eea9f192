"""The daemon and its agents."""

from typing import TypedDict

from memoryd.replies.conversation import ConversationsReply
from memoryd.replies.daemon import FallbackReply
from memoryd.replies.embedding import EmbedderReply, EmbeddingReply, RerankerReply, TextModelReply
from memoryd.replies.index import (
    CacheReply,
    DatabaseReply,
    FlaggedReply,
    FtsReply,
    LedgerReply,
    MassRemovalReply,
    MemoryCountsReply,
    OutsideReply,
    RootReply,
    SkippedReply,
    VectorReply,
    WatcherReply,
)
from memoryd.replies.qa import QaStatsReply


class DegradedReply(TypedDict):
    """A part that does less than it should."""

    part: str
    reason: str
    since: str


class QmdCollectionReply(TypedDict):
    """A folder that qmd indexes."""

    name: str
    path: str
    pattern: str


class QmdReply(TypedDict):
    """`command` and `version` are null until the program has been found, `reason` says why it does not work."""

    command: list[str] | None
    version: str | None
    searchMode: str
    home: str
    server: str
    pid: int | None
    rssBytes: int
    restarts: int
    reason: str | None
    hint: str | None
    lastUpdateAt: str | None
    lastEmbedAt: str | None
    vectors: int | None
    vectorReason: str | None
    exportedSessions: int | None
    exportReason: str | None
    collections: list[QmdCollectionReply]


class AgentStatus(TypedDict):
    """One agent; `qmd` is null with the builtin backend, `qa` where questions and answers are off."""

    id: str
    workspace: str
    backend: str
    provider: str
    model: str | None
    files: int
    chunks: int
    passages: int
    memories: MemoryCountsReply
    embedded: int
    pendingFiles: int
    pendingEmbeddings: int
    readingSecondsLeft: float | None
    embeddingSecondsLeft: float | None
    pendingCaptures: int
    dirty: bool
    lastScanAt: str | None
    lastSyncAt: str | None
    watcher: WatcherReply
    vector: VectorReply
    fts: FtsReply
    cache: CacheReply
    embedding: EmbeddingReply
    embedder: EmbedderReply
    reranker: RerankerReply | None
    llm: TextModelReply | None
    database: DatabaseReply
    ledger: LedgerReply
    qmd: QmdReply | None
    qa: QaStatsReply | None
    sessions: ConversationsReply | None
    fallback: FallbackReply | None
    degraded: list[DegradedReply]
    roots: list[RootReply]
    skipped: list[SkippedReply]
    skippedCount: int
    outside: OutsideReply | None
    flagged: list[FlaggedReply]
    massRemoval: MassRemovalReply | None


class ConfigReply(TypedDict):
    """Where the configuration came from and what its owner should know; `problems` of the last reload."""

    source: str | None
    notices: list[str]
    loadedAt: str
    needsRestart: list[str]
    problems: list[str]
    failedAt: str | None


class ConnectionsReply(TypedDict):
    """`refused` counts those turned away since the start, by reason."""

    open: int
    refused: dict[str, int]


class UnreachableReply(TypedDict):
    """A socket whose path does not lead to the daemon."""

    socket: str
    reason: str


class PortReply(TypedDict):
    """The loopback port; `reason` says why it is not open as it should be."""

    address: str
    open: bool
    reason: str | None
    tokenFile: str
    connections: int
    refused: dict[str, int]


class HeartbeatReply(TypedDict):
    """A part that must never be stuck; `state` is `idle`, `working` or `stalled`."""

    name: str
    state: str
    ageSeconds: float
    limitSeconds: float


class LogReply(TypedDict):
    """Where the log goes: `journal`, `file` or `stderr`."""

    destination: str
    path: str | None
    bytes: int
    maxBytes: int
    leftOut: int
    reason: str | None


class LoadReply(TypedDict):
    """What the process has in use of what it may; `refusedRequests` counts since the start."""

    requests: int
    maxRequests: int
    refusedRequests: int
    openFiles: int
    maxOpenFiles: int
    threads: int


class ProcessReply(TypedDict):
    """How the process of the daemon does."""

    heartbeats: list[HeartbeatReply]
    load: LoadReply
    log: LogReply


class StatusReply(TypedDict):
    """The daemon and its agents; what is told of connections and sockets is the owner's."""

    version: str
    pid: int
    uptimeSeconds: float
    socket: str
    rssBytes: int
    config: ConfigReply
    connections: ConnectionsReply | None
    unreachable: list[UnreachableReply]
    daemon: ProcessReply | None
    http: PortReply | None
    agents: list[AgentStatus]
