"""Shapes of the replies that describe the daemon and its agents."""

from datetime import datetime

from memoryd.api.models import FallbackReply, Reply


class WatcherReply(Reply):
    """`events` when file events flow, `scan` when only the timer looks, `off` when watching is switched off."""

    mode: str
    ok: bool
    reason: str | None


class VectorReply(Reply):
    """What answers vector questions."""

    enabled: bool
    available: bool
    engine: str
    dimensions: int | None
    reason: str | None


class FtsReply(Reply):
    """Keyword search."""

    available: bool


class CacheReply(Reply):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    max_entries: int


class OutstandingReply(Reply):
    """What is still to be sent; `tokens` are estimated, `media` counts the passages that are pictures and sounds."""

    files: int
    passages: int
    tokens: int
    media: int
    media_bytes: int


class RemoteReply(Reply):
    """A provider that text is sent to. `outstanding` is null while it only stands by."""

    provider: str
    model: str
    destination: str
    outstanding: OutstandingReply | None
    sent_today: int
    tokens_per_day: int | None


class EmbeddingReply(Reply):
    """The chosen provider, why, and who may stand in; `remote` is null if no text leaves the machine."""

    provider: str
    rule: str
    fallback: str | None
    paused: bool
    remote: RemoteReply | None


class ProgressReply(Reply):
    """How far a download is."""

    done_bytes: int
    total_bytes: int | None
    step: str


class WorkerReply(Reply):
    """The child process that computes vectors."""

    phase: str
    pid: int | None
    rss_bytes: int
    restarts: int
    last_error: str | None


class EmbedderReply(Reply):
    """The embedding model's state."""

    state: str
    reason: str | None
    since: datetime
    progress: ProgressReply | None
    worker: WorkerReply | None


class DatabaseReply(Reply):
    """The index file."""

    path: str
    bytes: int


class RootReply(Reply):
    """A configured place to look."""

    path: str
    state: str
    files: int
    reason: str | None


class SkippedReply(Reply):
    """A document that is not indexed."""

    path: str
    reason: str


class FlaggedReply(Reply):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    flags: str


class MassRemovalReply(Reply):
    """More than half of the notes went at once; `left` stayed."""

    at: datetime
    files: int
    left: int


class OutsideReply(Reply):
    """Markdown files of the workspace where nobody looks; `more`: there are more than were counted."""

    files: int
    more: bool
    hint: str


class DegradedReply(Reply):
    """A part that does less than it should."""

    part: str
    reason: str
    since: datetime


class QmdCollectionReply(Reply):
    """A folder that qmd indexes."""

    name: str
    path: str
    pattern: str


class QmdReply(Reply):
    """The sidecar; `command` and `version` are null until it has been found."""

    command: list[str] | None
    version: str | None
    search_mode: str
    home: str
    server: str
    pid: int | None
    restarts: int
    reason: str | None
    hint: str | None
    last_update_at: datetime | None
    last_embed_at: datetime | None
    vectors: int | None
    vector_reason: str | None
    collections: list[QmdCollectionReply]


class AgentStatus(Reply):
    """One agent."""

    id: str
    workspace: str
    backend: str
    provider: str
    model: str | None
    files: int
    chunks: int
    passages: int
    embedded: int
    pending_files: int
    pending_embeddings: int
    dirty: bool
    last_scan_at: datetime | None
    last_sync_at: datetime | None
    watcher: WatcherReply
    vector: VectorReply
    fts: FtsReply
    cache: CacheReply
    embedding: EmbeddingReply
    embedder: EmbedderReply
    database: DatabaseReply
    qmd: QmdReply | None
    fallback: FallbackReply | None
    degraded: list[DegradedReply]
    roots: list[RootReply]
    skipped: list[SkippedReply]
    skipped_count: int
    outside: OutsideReply | None
    flagged: list[FlaggedReply]
    mass_removal: MassRemovalReply | None


class ConfigReply(Reply):
    """Where the configuration came from and what its owner should know."""

    source: str | None
    notices: list[str]


class ConnectionsReply(Reply):
    """Open connections, and how many were turned away since the start, by reason."""

    open: int
    refused: dict[str, int]


class UnreachableReply(Reply):
    """A socket whose path does not lead to this daemon."""

    socket: str
    reason: str


class StatusReply(Reply):
    """The daemon and its agents; what is told of connections and sockets is the owner's."""

    version: str
    pid: int
    uptime_seconds: float
    socket: str
    rss_bytes: int
    config: ConfigReply
    connections: ConnectionsReply | None
    unreachable: list[UnreachableReply]
    agents: list[AgentStatus]
