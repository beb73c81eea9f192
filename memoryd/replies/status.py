"""The status: the daemon, its agents with their indexes and conversations, models, and what is sent where."""

from typing import TypedDict

from memoryd.replies.changes import TeamReply
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.daemon import ConfigReply, ConnectionsReply, PortReply, ProcessReply, UnreachableReply
from memoryd.replies.models import EmbedderReply, EmbeddingReply, OutstandingReply, RerankerReply, TextModelReply
from memoryd.replies.search import FallbackReply


class WatcherReply(TypedDict):
    """`events` when file events flow, `scan` when only the timer looks, `off` when watching is switched off."""

    mode: str
    """What tells of changes: `events`, `scan` or `off`."""
    ok: bool
    """Whether it works as configured."""
    reason: str | None
    """Why only the timer looks; null if events flow, or are not wanted."""


class VectorReply(TypedDict):
    """What answers vector questions."""

    enabled: bool
    """Whether searching by meaning is configured (`query.hybrid.enabled`)."""
    available: bool
    """Whether there is an embedder now."""
    engine: str
    """How vectors are compared: `resident`, all of them in memory; `signs`, by their signs in memory, and exactly the
    likeliest of them."""
    dimensions: int | None
    """How many numbers a vector has; null while there is no embedder."""


class FtsReply(TypedDict):
    """Keyword search."""

    available: bool
    """Always true: words need nothing but the index."""


class CacheReply(TypedDict):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    """How many vectors the index holds, used or not."""
    maxEntries: int
    """How many vectors that no passage uses may stay."""


class DatabaseReply(TypedDict):
    """The index file."""

    path: str
    """Where it lies, absolute."""
    bytes: int
    """How many bytes it has."""


class HistoryReply(TypedDict):
    """What the ledger keeps of the history of a workspace; beyond a bound the oldest goes, and nothing of the notes."""

    changes: int
    """How many changes of notes it lists."""
    maxChanges: int
    """How many it may list."""
    changeBytes: int
    """How many bytes the lines have that undoing these takes."""
    maxChangeBytes: int
    """How many these may have; the oldest changes are listed without theirs then, and cannot be undone."""
    proposals: int
    """How many proposals it has, open and decided."""
    maxProposals: int
    """How many it may have; the oldest that were decided go."""
    reflectRuns: int
    """How many runs of reflect it lists."""
    maxReflectRuns: int
    """How many it may list."""


class LedgerReply(TypedDict):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    """Where it lies, absolute, or will lie: it is made when there is something to hold."""
    bytes: int
    """How many bytes it has; 0 while there is none. Agents whose indexes share a folder share it."""
    heldAnswers: int
    """How many answers that were not kept with their turns are held for this agent."""
    heldBytes: int
    """How many bytes these have."""
    maxHeldAnswers: int
    """How many may be held for it; the oldest go first."""
    maxHeldBytes: int
    """How many bytes these may have."""
    refusedAnswers: int
    """How many answers, of any agent, were not held since the start of the daemon: too long, or it took none."""
    history: HistoryReply
    """What it keeps of the history of the agent's workspace."""


class MemoryCountsReply(TypedDict):
    """What the retained lines of a workspace state."""

    memories: int
    """How many memories; what several lines state counts once."""
    lines: int
    """How many retained lines state them."""
    pages: int
    """How many entities have a page of their own below `bank/entities`."""


class RootReply(TypedDict):
    """A configured place to look."""

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
    """Why it is left out, or found by less than it should be."""


class OutsideReply(TypedDict):
    """Markdown files of the workspace where nobody looks; `more`: there are more than were counted."""

    files: int
    """How many were counted, 1000 at most."""
    more: bool
    """Whether there are, or may be, more than were counted."""
    hint: str
    """What to do to have them indexed."""


class FlaggedReply(TypedDict):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    """The document, relative to the workspace."""
    flags: str
    """What is odd about it, joined by commas."""


class MassRemovalReply(TypedDict):
    """More than half of the notes went at once; `left` stayed."""

    at: str
    """When it was noticed, ISO 8601."""
    files: int
    """How many notes went."""
    left: int
    """How many notes stayed."""


class TranscriptFolderReply(TypedDict):
    """A folder of transcripts that is read for the agent."""

    path: str
    """The folder, absolute."""
    files: int
    """How many transcripts it holds."""
    reason: str | None
    """Why it could not be looked at whole; null if it was."""


class TranscriptsReply(TypedDict):
    """The transcripts that are read for the agent."""

    folders: list[TranscriptFolderReply]
    """The folders that were given to the agent."""
    files: int
    """How many transcripts they hold, without those that are withheld."""
    bytes: int
    """How large these are together."""
    maxBytes: int
    """How large they may be, `memory.sessions.maxBytes`; those that were written longest ago are not indexed."""
    unknown: int
    """How many of them are of a format that nobody knows, so that nothing of them is read."""
    withheld: int
    """How many more are not to be remembered."""


class ConversationsReply(TypedDict):
    """The index of the agent's conversations."""

    path: str
    """The file of the index, absolute; no other agent has a part in it."""
    bytes: int
    """The size of the file."""
    conversations: int
    """How many conversations it holds."""
    parts: int
    """In how many parts, for a long one is stored in several."""
    chunks: int
    """How many chunks they are cut into."""
    passages: int
    """How many passages these are cut into."""
    pendingEmbeddings: int
    """How many passages are still to get a vector; 0 while nobody wants them."""
    reading: bool
    """Whether conversations are being read now."""
    lastReadAt: str | None
    """When one was last read, ISO 8601; null before the first time."""
    unreadable: int
    """How many conversations could not be read at the last try."""
    skipped: list[SkippedReply]
    """Conversations and files that are not indexed, or not as they are now, 50 at most."""
    reason: str | None
    """Why the index does not follow the conversations; null if it does."""
    outstanding: OutstandingReply | None
    """What of it is still to be sent to the provider in `embedding.remote`; null if no text leaves the machine."""
    transcripts: TranscriptsReply | None
    """What is read of transcripts; null unless `experimental.sessionMemory` and `sources` ask for them."""


class DegradedReply(TypedDict):
    """A part that does less than it should."""

    part: str
    """What does less: `index`, `privacy`, `embedder`, `reranker`, `text model`, `watcher`, `qmd` and others."""
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
    """The sidecar; `command` and `version` are null until it has been found."""

    command: list[str] | None
    """The program and its first arguments; null until it has been found."""
    version: str | None
    """The version of the program; null until it has been found."""
    searchMode: str
    """How questions are put to it: `search`, `vsearch` or `query`."""
    home: str
    """The folder of its configuration and index, absolute."""
    server: str
    """Where its warm server is: `idle`, `starting`, `ready` or `waiting` for another try."""
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
    """When its last update began that succeeded, ISO 8601; null if none has."""
    lastEmbedAt: str | None
    """When it last made its vectors, ISO 8601; null if it has not."""
    vectors: int | None
    """How many vectors its index has; null until that is known."""
    vectorReason: str | None
    """Why it has no vectors; null if it has, or needs none."""
    exportedSessions: int | None
    """How many session transcripts are exported for it; null where none are to be."""
    exportReason: str | None
    """What is not exported, and why; null if everything is."""
    collections: list[QmdCollectionReply]
    """The folders that it indexes."""


class AgentStatus(TypedDict):
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
    pendingFiles: int
    """How many files are still to be read, renamed or removed."""
    pendingEmbeddings: int
    """How many passages are still to get a vector; 0 while nobody wants them."""
    readingSecondsLeft: float | None
    """How long until all files are read, at the pace of the last minute; null while that is not known."""
    embeddingSecondsLeft: float | None
    """How long until all passages have a vector, at the pace of the last minute; null while that is not known."""
    pendingCaptures: int
    """How many messages to the agents of its workspace are still to be looked at for memories."""
    dirty: bool
    """Whether the index may differ from the disk."""
    lastScanAt: str | None
    """When the disk was last looked at, ISO 8601; null before the first time."""
    lastSyncAt: str | None
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
    team: TeamReply | None
    """The exchange with a team; null for an agent that is in none."""
    fallback: FallbackReply | None
    """Who is out, qmd or the provider of embeddings; null if nobody is."""
    degraded: list[DegradedReply]
    """The parts that do less than they should."""
    roots: list[RootReply]
    """The places that are looked at; usual ones that are not there are left out."""
    skipped: list[SkippedReply]
    """Documents that are not indexed, or by less than they should be, 50 at most."""
    skippedCount: int
    """How many such documents there are."""
    outside: OutsideReply | None
    """Markdown files where nobody looks; null if there are none."""
    flagged: list[FlaggedReply]
    """Documents that are odd, 50 at most."""
    massRemoval: MassRemovalReply | None
    """The last time that most notes went at once since the start of the daemon; null if they never did."""


class StatusReply(TypedDict):
    """The daemon and its agents; what is told of connections and sockets is the owner's."""

    version: str
    """The version of the daemon."""
    pid: int
    """The process id of the daemon."""
    uptimeSeconds: float
    """How long the daemon has run, in seconds."""
    socket: str
    """The path of the owner's socket; on an agent's socket the name of that one."""
    rssBytes: int
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
