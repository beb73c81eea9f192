"""The status: the daemon, its agents with their indexes and conversations, models, and what is sent where."""

from typing import TypedDict

from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.search import FallbackReply


class ProgressReply(TypedDict):
    """How far a download is."""

    doneBytes: int
    totalBytes: int | None
    step: str


class WorkerReply(TypedDict):
    """The child process that runs a model."""

    phase: str
    pid: int | None
    rssBytes: int
    restarts: int
    lastError: str | None


class OutstandingReply(TypedDict):
    """`media` of the passages are pictures and sounds, of `mediaBytes` together; `tokens` are estimated."""

    files: int
    passages: int
    tokens: int
    media: int
    mediaBytes: int


class RemoteReply(TypedDict):
    """A provider that text is sent to; `outstanding` is null while it only stands by."""

    provider: str
    model: str
    destination: str
    outstanding: OutstandingReply | None
    sentToday: int
    tokensPerDay: int | None


class EmbeddingReply(TypedDict):
    """Who embeds and why; `remote` is null if nothing leaves the machine."""

    provider: str
    rule: str
    fallback: str | None
    paused: bool
    remote: RemoteReply | None


class EmbedderReply(TypedDict):
    """`state` is ready, warming, downloading, off or failed."""

    state: str
    reason: str | None
    since: str
    progress: ProgressReply | None
    worker: WorkerReply | None


class TextModelReply(TypedDict):
    """`state` is ready, warming, downloading or failed; `destination` is null if no memory text leaves the machine."""

    provider: str
    model: str
    state: str
    reason: str | None
    since: str
    destination: str | None
    callsToday: int | None
    callsPerDay: int | None
    worker: WorkerReply | None


class RerankerReply(TypedDict):
    """`state` is ready, warming, downloading or failed."""

    state: str
    reason: str | None
    since: str
    model: str
    family: str | None
    worker: WorkerReply | None


class WatcherReply(TypedDict):
    """`mode` is events, scan or off."""

    mode: str
    ok: bool
    reason: str | None


class VectorReply(TypedDict):
    """What answers vector questions."""

    enabled: bool
    available: bool
    engine: str
    dimensions: int | None
    reason: str | None


class FtsReply(TypedDict):
    """Keyword search."""

    available: bool


class CacheReply(TypedDict):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    maxEntries: int


class DatabaseReply(TypedDict):
    """The index file."""

    path: str
    bytes: int


class HistoryReply(TypedDict):
    """What the ledger keeps of the history of a workspace; beyond a bound the oldest goes."""

    changes: int
    maxChanges: int
    changeBytes: int
    maxChangeBytes: int
    proposals: int
    maxProposals: int
    reflectRuns: int
    maxReflectRuns: int


class LedgerReply(TypedDict):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    bytes: int
    heldAnswers: int
    heldBytes: int
    maxHeldAnswers: int
    maxHeldBytes: int
    refusedAnswers: int
    history: HistoryReply


class MemoryCountsReply(TypedDict):
    """What the retained lines of a workspace state; what several of them state counts once."""

    memories: int
    lines: int
    pages: int


class RootReply(TypedDict):
    """A configured place to look."""

    path: str
    state: str
    files: int
    reason: str | None


class SkippedReply(TypedDict):
    """A document that is not indexed."""

    path: str
    reason: str


class OutsideReply(TypedDict):
    """Markdown files of the workspace where nobody looks; `more`: there are more than `files`."""

    files: int
    more: bool
    hint: str


class FlaggedReply(TypedDict):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    flags: str


class MassRemovalReply(TypedDict):
    """More than half of the notes went at once; `left` stayed."""

    at: str
    files: int
    left: int


class TranscriptFolderReply(TypedDict):
    """A folder of transcripts that is read for the agent."""

    path: str
    files: int
    reason: str | None


class TranscriptsReply(TypedDict):
    """The transcripts that are read for the agent."""

    folders: list[TranscriptFolderReply]
    files: int
    bytes: int
    maxBytes: int
    unknown: int
    withheld: int


class ConversationsReply(TypedDict):
    """The index of the agent's conversations."""

    path: str
    bytes: int
    conversations: int
    parts: int
    chunks: int
    passages: int
    pendingEmbeddings: int
    reading: bool
    lastReadAt: str | None
    unreadable: int
    skipped: list[SkippedReply]
    reason: str | None
    outstanding: OutstandingReply | None
    transcripts: TranscriptsReply | None


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
