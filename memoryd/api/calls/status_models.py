"""Shapes of the replies that describe the daemon and its agents."""

from datetime import datetime

from memoryd.api.calls.qa import QaStatsReply
from memoryd.api.calls.status_parts import (
    CacheReply,
    ConversationsReply,
    DatabaseReply,
    EmbedderReply,
    EmbeddingReply,
    FlaggedReply,
    FtsReply,
    LedgerReply,
    MassRemovalReply,
    MemoryCountsReply,
    OutsideReply,
    RerankerReply,
    RootReply,
    SkippedReply,
    TextModelReply,
    VectorReply,
    WatcherReply,
)
from memoryd.api.models import FallbackReply, Reply


class DegradedReply(Reply):
    """A part that does less than it should."""

    part: str
    """What does less: `index`, `privacy`, `embedder`, `reranker`, `text model`, `watcher`, `qmd` and others."""
    reason: str
    """Why, in words."""
    since: datetime
    """When it began, ISO 8601."""


class QmdCollectionReply(Reply):
    """A folder that qmd indexes."""

    name: str
    """Its name in qmd."""
    path: str
    """The folder, absolute."""
    pattern: str
    """The glob that paths below the folder must match."""


class QmdReply(Reply):
    """The sidecar; `command` and `version` are null until it has been found."""

    command: list[str] | None
    """The program and its first arguments; null until it has been found."""
    version: str | None
    """The version of the program; null until it has been found."""
    search_mode: str
    """How questions are put to it: `search`, `vsearch` or `query`."""
    home: str
    """The folder of its configuration and index, absolute."""
    server: str
    """Where its warm server is: `idle`, `starting`, `ready` or `waiting` for another try."""
    pid: int | None
    """The process id of the server; null while it does not run."""
    rss_bytes: int
    """The memory of the server, in bytes; 0 while it does not run."""
    restarts: int
    """How often the server has failed since the start of the daemon."""
    reason: str | None
    """Why it does not work; null if it does."""
    hint: str | None
    """What to do about it; null if there is nothing to do."""
    last_update_at: datetime | None
    """When its last update began that succeeded, ISO 8601; null if none has."""
    last_embed_at: datetime | None
    """When it last made its vectors, ISO 8601; null if it has not."""
    vectors: int | None
    """How many vectors its index has; null until that is known."""
    vector_reason: str | None
    """Why it has no vectors; null if it has, or needs none."""
    exported_sessions: int | None
    """How many session transcripts are exported for it; null where none are to be."""
    export_reason: str | None
    """What is not exported, and why; null if everything is."""
    collections: list[QmdCollectionReply]
    """The folders that it indexes."""


class AgentStatus(Reply):
    """One agent."""

    id: str
    """The agent's id."""
    workspace: str
    """The folder of its notes, absolute."""
    backend: str
    """The engine that answers now: `builtin` or `qmd`."""
    provider: str
    """Who embeds now; `none` while nobody does."""
    model: str | None
    """The model that embeds now; null while there is none."""
    files: int
    """How many files the index holds."""
    chunks: int
    """How many chunks they are cut into: what is cited."""
    passages: int
    """How many passages these are cut into: what is embedded."""
    memories: MemoryCountsReply
    """The retained lines among the chunks, and what they state."""
    embedded: int
    """How many passages have a vector of the embedder in use; 0 while there is none."""
    pending_files: int
    """How many files are still to be read, renamed or removed."""
    pending_embeddings: int
    """How many passages are still to get a vector; 0 while nobody wants them."""
    reading_seconds_left: float | None
    """How long until all files are read, at the pace of the last minute; null while that is not known."""
    embedding_seconds_left: float | None
    """How long until all passages have a vector, at the pace of the last minute; null while that is not known."""
    pending_captures: int
    """How many messages to the agents of its workspace are still to be looked at for memories."""
    dirty: bool
    """Whether the index may differ from the disk."""
    last_scan_at: datetime | None
    """When the disk was last looked at, ISO 8601; null before the first time."""
    last_sync_at: datetime | None
    """When the index last followed such a look, ISO 8601; null before the first time."""
    watcher: WatcherReply
    """What tells of changes on disk."""
    vector: VectorReply
    """What answers by meaning."""
    fts: FtsReply
    """What answers by words."""
    cache: CacheReply
    """The vectors in the index."""
    embedding: EmbeddingReply
    """Who embeds, why, and what is sent where."""
    embedder: EmbedderReply
    """How the embedding model does."""
    reranker: RerankerReply | None
    """How the reranker does; null unless `query.rerank.modelPath` names one."""
    llm: TextModelReply | None
    """Who labels memories, writes prose about them and finds them in messages; null unless `memory.llm` names one."""
    database: DatabaseReply
    """The file of the index."""
    ledger: LedgerReply
    """The file of what is held for a while."""
    qmd: QmdReply | None
    """The sidecar; null unless `memory.backend` is `qmd`."""
    qa: QaStatsReply | None
    """The questions and answers of conversations; null if `memory.qa.enabled` is false."""
    sessions: ConversationsReply | None
    """The index of conversations: what was said, kept as turns or in transcripts; null where none is kept."""
    fallback: FallbackReply | None
    """Who is out, qmd or the provider of embeddings; null if nobody is."""
    degraded: list[DegradedReply]
    """The parts that do less than they should."""
    roots: list[RootReply]
    """The places that are looked at; usual ones that are not there are left out."""
    skipped: list[SkippedReply]
    """Documents that are not indexed, or by less than they should be, 50 at most."""
    skipped_count: int
    """How many such documents there are."""
    outside: OutsideReply | None
    """Markdown files where nobody looks; null if there are none."""
    flagged: list[FlaggedReply]
    """Documents that are odd, 50 at most."""
    mass_removal: MassRemovalReply | None
    """The last time that most notes went at once since the start of the daemon; null if they never did."""


class ConfigReply(Reply):
    """Where the configuration came from and what its owner should know."""

    source: str | None
    """The file, absolute; null if there is none, and on an agent's socket."""
    notices: list[str]
    """What to know of it, one sentence each; empty on an agent's socket."""
    loaded_at: str
    """When the configuration that holds was loaded, ISO 8601 in UTC."""
    needs_restart: list[str]
    """The keys that were changed and take effect when the daemon is started again; empty on an agent's socket."""
    problems: list[str]
    """Why the last reload took nothing; empty since one succeeded, and on an agent's socket."""
    failed_at: str | None
    """When that reload was, ISO 8601 in UTC; null without problems."""


class ConnectionsReply(Reply):
    """Open connections, and how many were turned away since the start, by reason."""

    open: int
    """How many are open now."""
    refused: dict[str, int]
    """How many were turned away since the start of the daemon, by reason."""


class UnreachableReply(Reply):
    """A socket whose path does not lead to this daemon."""

    socket: str
    """The name of the socket: `owner`, or `agent:<id>:<number>`."""
    reason: str
    """Why its path does not lead here."""


class PortReply(Reply):
    """The loopback port."""

    address: str
    """Where it is, or is to be."""
    open: bool
    """Whether it is open."""
    reason: str | None
    """Why it is not open as it should be; null if it is."""
    token_file: str
    """The file that holds the token, absolute."""
    connections: int
    """How many connections are open now."""
    refused: dict[str, int]
    """How many requests were refused since the start of the daemon, by reason."""


class HeartbeatReply(Reply):
    """A part that must never be stuck, and its last sign of life."""

    name: str
    """The part: `event loop`, `watcher`, `indexer main`, `writer of index main` and others."""
    state: str
    """`idle` while it has nothing to do, `working`, or `stalled`: at work, and silent for longer than it may be."""
    age_seconds: float
    """How long it has been silent while at work, in seconds of running time; 0 while it has nothing to do."""
    limit_seconds: float
    """How long it may be silent while at work, in seconds; beyond that the daemon is restarted."""


class LogReply(Reply):
    """Where the log goes."""

    destination: str
    """`journal`, `file` for a file of our own, or `stderr`; `memoryctl logs` reads the first two."""
    path: str | None
    """The file of our own, absolute; null if there is none."""
    bytes: int
    """How long it is, with those that were rotated away, in bytes."""
    max_bytes: int
    """How long these may become together, in bytes; 0 without a file."""
    left_out: int
    """How many events were counted and not logged since the start of the daemon, since they repeated."""
    reason: str | None
    """Why the last event is not in the file; null if it is."""


class LoadReply(Reply):
    """What the process has in use of what it may."""

    requests: int
    """How many requests are at work, but for those that ask for health or status and event streams."""
    max_requests: int
    """How many may be: `limits.maxRequests`."""
    refused_requests: int
    """How many were refused as `overloaded` since the start of the daemon."""
    open_files: int
    """How many files, sockets and the like are open."""
    max_open_files: int
    """How many may be; connections are refused while three quarters of these are open."""
    threads: int
    """How many threads of Python there are."""


class ProcessReply(Reply):
    """How the process of the daemon does."""

    heartbeats: list[HeartbeatReply]
    """The parts that must never be stuck; empty in the first second."""
    load: LoadReply
    """What it has in use of what it may."""
    log: LogReply
    """Where the log goes."""


class StatusReply(Reply):
    """The daemon and its agents; what is told of connections and sockets is the owner's."""

    version: str
    """The version of the daemon."""
    pid: int
    """The process id of the daemon."""
    uptime_seconds: float
    """How long the daemon has run, in seconds."""
    socket: str
    """The path of the owner's socket; on an agent's socket the name of that one."""
    rss_bytes: int
    """The memory that the daemon takes, in bytes."""
    config: ConfigReply
    """Where the configuration came from."""
    connections: ConnectionsReply | None
    """The connections now; null on an agent's socket."""
    unreachable: list[UnreachableReply]
    """Sockets whose paths do not lead here; empty on an agent's socket."""
    daemon: ProcessReply | None
    """How the process does; null on an agent's socket."""
    http: PortReply | None
    """The loopback port; null where it is off, and on an agent's socket."""
    agents: list[AgentStatus]
    """The agents; on an agent's socket that one alone."""
