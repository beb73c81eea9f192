"""The status reply: the daemon, and its agents with indexes, conversations, models and providers."""

from typing import TypedDict

from memoryd.replies.changes import TeamReply
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.daemon import ConfigReply, ConnectionsReply, PortReply, ProcessReply, UnreachableReply
from memoryd.replies.models import EmbedderReply, EmbeddingReply, OutstandingReply, RerankerReply, TextModelReply
from memoryd.replies.search import FallbackReply


class WatcherReply(TypedDict):
    """How changes on disk are noticed."""

    mode: str
    """`events`: by file events; `scan`: by regular scans only; `off`: watching is turned off."""
    ok: bool
    """Whether it works as configured."""
    reason: str | None
    """Why changes are found by scans only; null if events work, or are turned off."""


class VectorReply(TypedDict):
    """The search by vectors."""

    enabled: bool
    """Whether searching by meaning is configured (`query.hybrid.enabled`)."""
    available: bool
    """Whether there is an embedder now."""
    engine: str
    """How vectors are compared: `resident`: all vectors in memory; `signs`: their signs in memory, then the exact
    vectors of the best candidates."""
    dimensions: int | None
    """How many numbers a vector has; null while there is no embedder."""


class FtsReply(TypedDict):
    """Keyword search."""

    available: bool
    """Always true: searching by words needs only the index."""


class CacheReply(TypedDict):
    """The vectors in the index."""

    entries: int
    """How many vectors the index contains, used or not."""
    maxEntries: int
    """How many unused vectors are kept at most."""


class DatabaseReply(TypedDict):
    """The index file."""

    path: str
    """Its path, absolute."""
    bytes: int
    """Its size in bytes."""


class HistoryReply(TypedDict):
    """The history of a workspace in the ledger. Over a limit the oldest entries are deleted, but never notes."""

    changes: int
    """How many changes of notes are stored."""
    maxChanges: int
    """The maximum number."""
    changeBytes: int
    """The size of the lines stored to undo these changes, in bytes."""
    maxChangeBytes: int
    """The maximum size; over it, the oldest changes lose their lines and cannot be undone."""
    proposals: int
    """How many proposals are stored, open and decided."""
    maxProposals: int
    """The maximum number; over it, the oldest decided proposals are deleted."""
    reflectRuns: int
    """How many runs of reflect are stored."""
    maxReflectRuns: int
    """The maximum number."""


class LedgerReply(TypedDict):
    """The ledger file, and this agent's data in it."""

    path: str
    """Its path, absolute; the file is made when it is first needed."""
    bytes: int
    """Its size in bytes; 0 while it does not exist. Agents whose indexes share a folder share it."""
    heldAnswers: int
    """How many answers that were not stored with their turns are on hold for this agent."""
    heldBytes: int
    """Their size in bytes."""
    maxHeldAnswers: int
    """The maximum number of answers on hold; the oldest are deleted first."""
    maxHeldBytes: int
    """Their maximum size in bytes."""
    refusedAnswers: int
    """How many answers, of any agent, were refused since the start of the daemon: too long, or not writable."""
    history: HistoryReply
    """The history of the agent's workspace in the ledger."""


class MemoryCountsReply(TypedDict):
    """Counts of the retained lines of a workspace."""

    memories: int
    """How many memories there are; a memory that several lines state counts once."""
    lines: int
    """How many retained lines state them."""
    pages: int
    """How many entities have a page below `bank/entities`."""


class RootReply(TypedDict):
    """A configured folder or file with notes."""

    path: str
    """The folder or file, absolute."""
    state: str
    """What the last scan found there: `ok`, `missing`, `unreadable` or `refused`."""
    files: int
    """How many documents the last scan found there."""
    reason: str | None
    """Why it is not `ok`; null if it is."""


class SkippedReply(TypedDict):
    """A document that is not indexed."""

    path: str
    """The document, relative to the workspace."""
    reason: str
    """Why it is not indexed, or only in part."""


class OutsideReply(TypedDict):
    """Markdown files of the workspace in places that are not indexed."""

    files: int
    """How many were counted, 1000 at most."""
    more: bool
    """Whether there are, or may be, more than were counted."""
    hint: str
    """How to get them indexed."""


class FlaggedReply(TypedDict):
    """A document that was changed for reading, has another name, or is a conflict copy."""

    path: str
    """The document, relative to the workspace."""
    flags: str
    """Its flags, joined by commas."""


class MassRemovalReply(TypedDict):
    """The removal of more than half of the notes at once."""

    at: str
    """When it was noticed, ISO 8601."""
    files: int
    """How many notes were removed."""
    left: int
    """How many notes stayed."""


class TranscriptFolderReply(TypedDict):
    """A folder of transcripts that are read for the agent."""

    path: str
    """The folder, absolute."""
    files: int
    """How many transcripts it holds."""
    reason: str | None
    """Why it could not be read completely; null if it was."""


class TranscriptsReply(TypedDict):
    """The transcripts that are read for the agent."""

    folders: list[TranscriptFolderReply]
    """The folders that are configured for the agent."""
    files: int
    """How many transcripts they contain, without withheld ones."""
    bytes: int
    """The size of these transcripts together, in bytes."""
    maxBytes: int
    """The maximum size, `memory.sessions.maxBytes`; over it, the least recently written ones are not indexed."""
    unknown: int
    """How many of them have an unknown format and are not read."""
    withheld: int
    """How many more are marked "do not remember"."""


class ConversationsReply(TypedDict):
    """The index of the agent's conversations."""

    path: str
    """The path of the index file, absolute; it belongs to this agent only."""
    bytes: int
    """The size of the file in bytes."""
    conversations: int
    """How many conversations it holds."""
    parts: int
    """How many parts they have: a long conversation is stored in several parts."""
    chunks: int
    """How many chunks they are cut into."""
    passages: int
    """How many passages these are cut into."""
    pendingEmbeddings: int
    """How many passages still need a vector; 0 without a provider of embeddings."""
    reading: bool
    """Whether conversations are being read now."""
    lastReadAt: str | None
    """When one was last read, ISO 8601; null before the first time."""
    unreadable: int
    """How many conversations could not be read at the last try."""
    skipped: list[SkippedReply]
    """Conversations and files that are not indexed, or not in their present state, 50 at most."""
    reason: str | None
    """Why the index is not updated; null if it is."""
    outstanding: OutstandingReply | None
    """What is still to be sent to the provider in `embedding.remote`; null if no text leaves the machine."""
    transcripts: TranscriptsReply | None
    """The transcripts; null unless `experimental.sessionMemory` and `sources` turn them on."""


class DegradedReply(TypedDict):
    """A part that does not work as configured."""

    part: str
    """The part: `index`, `privacy`, `embedder`, `reranker`, `text model`, `watcher`, `qmd` and others."""
    reason: str
    """Why, in words."""
    since: str
    """When it began, ISO 8601."""


class QmdCollectionReply(TypedDict):
    """A folder that qmd indexes."""

    name: str
    """Its name in qmd."""
    path: str
    """The folder, absolute."""
    pattern: str
    """The glob that paths below the folder must match."""


class QmdReply(TypedDict):
    """The qmd sidecar."""

    command: list[str] | None
    """The program and its first arguments; null until it has been found."""
    version: str | None
    """The version of the program; null until it has been found."""
    searchMode: str
    """The command of qmd that answers questions: `search`, `vsearch` or `query`."""
    home: str
    """The folder of its configuration and index, absolute."""
    server: str
    """The state of its server: `idle`, `starting`, `ready`, or `waiting` before another try."""
    pid: int | None
    """The process id of the server; null while it does not run."""
    rssBytes: int
    """The memory of the server, in bytes; 0 while it does not run."""
    restarts: int
    """How often the server has failed since the start of the daemon."""
    reason: str | None
    """Why it does not work; null if it does."""
    hint: str | None
    """What to do about it; null if there is nothing to do."""
    lastUpdateAt: str | None
    """When its last successful update began, ISO 8601; null if there was none."""
    lastEmbedAt: str | None
    """When it last made its vectors, ISO 8601; null if it never did."""
    vectors: int | None
    """How many vectors its index has; null if not known yet."""
    vectorReason: str | None
    """Why it has no vectors; null if it has, or needs none."""
    exportedSessions: int | None
    """How many session transcripts are exported for it; null if exporting is off."""
    exportReason: str | None
    """What is not exported, and why; null if everything is."""
    collections: list[QmdCollectionReply]
    """The folders that it indexes."""


class AgentStatus(TypedDict):
    """The status of one agent."""

    id: str
    """The agent's id."""
    workspace: str
    """The folder of its notes, absolute."""
    backend: str
    """The engine that answers now: `builtin` or `qmd`."""
    provider: str
    """The provider that embeds now; `none` if there is none."""
    model: str | None
    """The model that embeds now; null while there is none."""
    files: int
    """How many files the index holds."""
    chunks: int
    """How many chunks they have; chunks are what is cited."""
    passages: int
    """How many passages the chunks have; passages are what is embedded."""
    memories: MemoryCountsReply
    """The memories, and the retained lines that state them."""
    embedded: int
    """How many passages have a vector of the embedder in use; 0 while there is none."""
    pendingFiles: int
    """How many files are still to be read, renamed or removed."""
    pendingEmbeddings: int
    """How many passages still need a vector; 0 without a provider of embeddings."""
    readingSecondsLeft: float | None
    """Seconds until all files are read, at the rate of the last minute; null while unknown."""
    embeddingSecondsLeft: float | None
    """Seconds until all passages have a vector, at the rate of the last minute; null while unknown."""
    pendingCaptures: int
    """How many messages to agents of its workspace still wait for capture."""
    dirty: bool
    """Whether the index may differ from the disk."""
    lastScanAt: str | None
    """When the disk was last scanned, ISO 8601; null before the first scan."""
    lastSyncAt: str | None
    """When the index was last updated after a scan, ISO 8601; null before the first time."""
    watcher: WatcherReply
    """How changes on disk are noticed."""
    vector: VectorReply
    """The search by meaning."""
    fts: FtsReply
    """The search by words."""
    cache: CacheReply
    """The vectors in the index."""
    embedding: EmbeddingReply
    """The provider of embeddings, why it was chosen, and what is sent to it."""
    embedder: EmbedderReply
    """The state of the embedding model."""
    reranker: RerankerReply | None
    """The state of the reranker; null unless `query.rerank.modelPath` names one."""
    llm: TextModelReply | None
    """The model that labels memories, describes them and finds them in messages; null unless `memory.llm` names one."""
    database: DatabaseReply
    """The index file."""
    ledger: LedgerReply
    """The ledger file."""
    qmd: QmdReply | None
    """The qmd sidecar; null unless `memory.backend` is `qmd`."""
    qa: QaStatsReply | None
    """The questions and answers of conversations; null if `memory.qa.enabled` is false."""
    sessions: ConversationsReply | None
    """The index of conversations, which are stored as turns or in transcripts; null if there is none."""
    team: TeamReply | None
    """The exchange with a team; null for an agent without a team."""
    fallback: FallbackReply | None
    """The failed engine or provider, qmd or that of embeddings, that was replaced; null if there is none."""
    degraded: list[DegradedReply]
    """The parts that do not work as configured."""
    roots: list[RootReply]
    """The folders and files that are scanned; default ones that do not exist are left out."""
    skipped: list[SkippedReply]
    """Documents that are not indexed, or only in part, 50 at most."""
    skippedCount: int
    """How many such documents there are."""
    outside: OutsideReply | None
    """Markdown files in places that are not indexed; null if there are none."""
    flagged: list[FlaggedReply]
    """Documents with flags, 50 at most."""
    massRemoval: MassRemovalReply | None
    """The last removal of most notes at once since the start of the daemon; null if there was none."""


class StatusReply(TypedDict):
    """The daemon and its agents; connections and sockets are shown to the owner only."""

    version: str
    """The version of the daemon."""
    pid: int
    """The process id of the daemon."""
    uptimeSeconds: float
    """How long the daemon has run, in seconds."""
    socket: str
    """The path of the owner's socket; on an agent's socket, the name of that socket."""
    rssBytes: int
    """The resident memory of the daemon, in bytes."""
    config: ConfigReply
    """The source of the configuration."""
    connections: ConnectionsReply | None
    """The present connections; null on an agent's socket."""
    unreachable: list[UnreachableReply]
    """Sockets whose paths do not lead to this daemon; empty on an agent's socket."""
    daemon: ProcessReply | None
    """The state of the process; null on an agent's socket."""
    http: PortReply | None
    """The loopback port; null if it is off, and on an agent's socket."""
    agents: list[AgentStatus]
    """The agents; on an agent's socket, only that agent."""
