"""Shapes of the daemon's replies as decoded: plain dicts with camelCase keys; a later daemon may add keys.

Each is the twin of the API's model of the same name, so that a client needs neither pydantic nor the daemon's code; a
test compares the two. Times are ISO 8601.
"""

from typing import Literal, NotRequired, TypedDict


class HealthReply(TypedDict):
    """`ready`: the first scan of every workspace is done."""

    ok: bool
    ready: bool


class LinesReply(TypedDict):
    """Lines of a document, from 1, the end included."""

    startLine: int
    endLine: int


class FocusExplanation(TypedDict):
    """Why these lines of a hit are its focus."""

    terms: list[str]
    passage: LinesReply | None


class HitExplanation(TypedDict):
    """Why a hit stands where it stands, or why a miss is none; ranks count from 1, null where an arm had not found it.

    `score` of the hit is `baseScore` × `decay`.
    """

    baseScore: float
    mergedRank: int | None
    rerankRank: int | None
    rerankScore: float | None
    wordsRank: int | None
    bm25: float | None
    vectorRank: int | None
    cosine: float | None
    standout: float | None
    terms: list[str]
    decay: float
    ageDays: int | None
    copies: list[str]
    focus: FocusExplanation | None
    because: str


class HitReply(TypedDict):
    """A cited chunk, whose `focus` answers best; lines count from 1 and include the end."""

    path: str
    startLine: int
    endLine: int
    score: float
    vectorScore: float | None
    textScore: float | None
    verdict: Literal["answerable", "weak", "none"]
    snippet: str
    snippetStartLine: int
    snippetEndLine: int
    snippetLines: NotRequired[list[int]]
    focus: LinesReply | None
    heading: str
    source: str
    citation: NotRequired[str]
    flags: list[str]
    duplicates: int
    explain: NotRequired[HitExplanation]


class ArmReply(TypedDict):
    """How words or vectors took part."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    reason: str | None


class SearchHealth(TypedDict):
    """Which arms took part; `complete` is false when a configured one did not."""

    complete: bool
    arms: dict[str, ArmReply]
    pendingFiles: int
    pendingEmbeddings: int


# `from` is a Python keyword, and so cannot stand in a class
FallbackReply = TypedDict("FallbackReply", {"from": str, "reason": str, "since": str})
"""Which engine was left, why and since when."""

_From = TypedDict("_From", {"from": int})


class QuestionExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    phrases: list[str]
    excluded: list[str]
    paths: list[str]
    sources: list[str]
    since: str | None
    until: str | None


class FloorsExplanation(TypedDict):
    """What the evidence was held against."""

    share: float
    weights: dict[str, float]
    deviations: float | None
    vectorFloor: float | None
    clearFloor: float | None
    noiseMean: float | None
    noiseDeviation: float | None
    vectors: int


class SearchExplanation(TypedDict):
    """How the whole answer came about."""

    question: QuestionExplanation
    floors: FloorsExplanation | None
    conversationFloors: FloorsExplanation | None


class SearchReply(TypedDict):
    """`misses` lie beyond `maxResults` or below `minScore`; they are given if `explain` asked for them."""

    results: list[HitReply]
    misses: list[HitReply] | None
    backend: Literal["builtin", "qmd"]
    provider: str
    model: str | None
    mode: Literal["hybrid", "lexical", "vector", "none"]
    fallback: FallbackReply | None
    verdict: Literal["answerable", "weak", "none"]
    reason: str | None
    citations: Literal["on", "off"]
    health: SearchHealth
    tookMs: float
    explain: NotRequired[SearchExplanation]


class FileReply(_From, TypedDict):
    """Lines of a document from line `from` on, with their ends.

    `lines` counts them; `truncated` says that the document goes on, at line `nextFrom`, or, if the last line was too
    long for one reply, at character `nextColumn` of it.
    """

    path: str
    text: str
    lines: int
    column: int
    totalLines: int
    sha256: str
    truncated: bool
    nextFrom: int | None
    nextColumn: int | None
    flags: list[str]


class ReindexReply(TypedDict):
    """What is left to do in the background."""

    pendingFiles: int
    pendingEmbeddings: int
    generation: int


class SyncReply(ReindexReply):
    """`complete`: the wanted state was reached in time; `reason`: why it never will be as things are."""

    complete: bool
    reason: str | None


class QaAddReply(TypedDict):
    """Where a turn went; `session` alone, or nothing, where it was not remembered."""

    session: str | None
    seq: int | None
    significance: float | None
    kept: bool
    remembered: bool
    topics: list[str]
    citation: str | None


class QaTurnReply(TypedDict):
    """A turn; `a` is null where the answer is not kept, or does not fit."""

    session: str
    seq: int
    q: str
    a: str | None
    significance: float
    timestamp: str
    topics: list[str]
    citation: str


class SessionStartReply(TypedDict):
    """What is known when a session begins; `bundle` is null, and the rest empty where nothing was said before."""

    bundle: str | None
    context: str
    sequence: list[QaTurnReply]
    syncScheduled: bool


class QaSessionReply(TypedDict):
    """A session; `remembered` is false where it is marked "do not remember"."""

    session: str
    key: str | None
    created: str
    lastActivity: str
    turns: int
    answers: int
    remembered: bool


class QaSessionsReply(TypedDict):
    """The newest of `total` sessions that are not in the archive."""

    sessions: list[QaSessionReply]
    total: int


class QaSessionTurnsReply(QaSessionReply):
    """The first of `matched` turns of a session; it goes on with `nextSeq`."""

    matched: int
    sequence: list[QaTurnReply]
    nextSeq: int | None


class QaContextReply(TypedDict):
    """The turns to put before an agent, in order, and why these."""

    session: str | None
    sequence: list[QaTurnReply]
    why: str
    tookMs: float


class QaTopicReply(TypedDict):
    """A topic, and where it was talked about last."""

    topic: str
    turns: int
    citations: list[str]


class QaTopicsReply(TypedDict):
    """The most frequent of `total` topics."""

    topics: list[QaTopicReply]
    total: int


class QaStatsReply(TypedDict):
    """How much there is of questions and answers; what is on disk is that of the workspace."""

    sessions: int
    turns: int
    answers: int
    ratio: float
    archived: int
    bytes: int
    archiveBytes: int
    maxBytes: int
    full: bool
    pruned: int
    problems: list[str]


class DegradedReply(TypedDict):
    """A part that does less than it should."""

    part: str
    reason: str
    since: str


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
    skipped: list["SkippedReply"]
    reason: str | None
    outstanding: OutstandingReply | None
    transcripts: TranscriptsReply | None


class LedgerReply(TypedDict):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    bytes: int
    heldAnswers: int
    heldBytes: int
    maxHeldAnswers: int
    maxHeldBytes: int
    refusedAnswers: int


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


class SessionEntryReply(TypedDict):
    """A conversation: a session of questions and answers, or a transcript of another program."""

    id: str
    kind: Literal["qa", "transcript"]
    key: str | None
    turns: int | None
    answers: int | None
    lines: int | None
    bytes: int | None
    firstActivity: str | None
    lastActivity: str | None
    archived: bool
    indexed: bool
    reason: str | None
    remembered: bool


class SessionsReply(TypedDict):
    """The conversations of an agent, that in which something was said last first."""

    sessions: list[SessionEntryReply]
    total: int
    withheldKeys: int


class SessionLineReply(TypedDict):
    """A line of a conversation; `cited` is false for a neighbour."""

    line: int
    text: str
    cited: bool


class SessionLinesReply(TypedDict):
    """Lines of a conversation; `nextLine` is where to go on."""

    id: str
    citation: str
    lines: list[SessionLineReply]
    nextLine: int | None


class SessionSyncReply(TypedDict):
    """How far the conversations are read."""

    conversations: int
    indexed: int
    complete: bool
    reason: str | None


class SessionForgetReply(TypedDict):
    """What was forgotten, or would be, and what is out of reach."""

    id: str
    kind: Literal["qa", "transcript"]
    forgotten: bool
    files: int
    turns: int
    answers: int
    rows: int
    heldAnswers: int
    exports: int
    stays: list[str]


class SessionRememberReply(TypedDict):
    """What holds of a conversation, or of a session key, from now on."""

    id: str | None
    remembered: bool
    rows: int


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
    embedded: int
    pendingFiles: int
    pendingEmbeddings: int
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
    """Where the configuration came from and what its owner should know."""

    source: str | None
    notices: list[str]


class ConnectionsReply(TypedDict):
    """`refused` counts those turned away since the start, by reason."""

    open: int
    refused: dict[str, int]


class UnreachableReply(TypedDict):
    """A socket whose path does not lead to the daemon."""

    socket: str
    reason: str


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
    agents: list[AgentStatus]


class ServerEvent(TypedDict):
    """`event` is one of wire.Event, or a later daemon's addition."""

    event: str
    data: dict[str, object]
