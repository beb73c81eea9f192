"""Shapes of the daemon's replies as decoded: plain dicts, camelCase keys; a daemon may add keys."""

from typing import Literal, NotRequired, TypedDict


class Health(TypedDict):
    ok: bool
    ready: bool


class HitExplanation(TypedDict):
    """Why a hit stands where it stands, or why a miss is none; more numbers are in the API description."""

    baseScore: float
    wordsRank: int | None
    vectorRank: int | None
    terms: list[str]
    decay: float
    copies: list[str]
    because: str


class Hit(TypedDict):
    """A cited passage; lines count from 1 and include the end."""

    path: str
    startLine: int
    endLine: int
    score: float
    vectorScore: NotRequired[float | None]
    textScore: NotRequired[float | None]
    snippet: str
    source: str
    heading: NotRequired[str]
    citation: NotRequired[str | None]
    duplicates: NotRequired[int]
    explain: NotRequired[HitExplanation]
    snippetStartLine: NotRequired[int]
    snippetEndLine: NotRequired[int]
    flags: NotRequired[list[str]]


class Arm(TypedDict):
    state: str
    reason: NotRequired[str | None]


class AnswerHealth(TypedDict):
    """Which arms took part; `complete` is false when a configured one did not."""

    complete: bool
    arms: dict[str, Arm]
    pendingFiles: int
    pendingEmbeddings: int


class Fallback(TypedDict):
    """`from` (the backend left), `reason`, `since`; `from` is a Python keyword and so is not declared."""

    reason: str
    since: str


class SearchReply(TypedDict):
    """`misses` are the nearest hits below the threshold, given if they were asked for by `explain`."""

    results: list[Hit]
    misses: NotRequired[list[Hit] | None]
    backend: str
    provider: str
    model: str | None
    mode: Literal["hybrid", "lexical", "vector", "none"]
    fallback: Fallback | None
    verdict: Literal["answerable", "weak", "none"]
    reason: NotRequired[str | None]
    health: AnswerHealth
    citations: str
    tookMs: float


class FileReply(TypedDict):
    """Lines of a document from line `from` (a Python keyword, so not declared) on, with their ends.

    `lines` counts them; `truncated` says that the document goes on, at line `nextFrom`, or, if the last line was too
    long for one reply, at character `nextColumn` of it.
    """

    path: str
    text: str
    lines: int
    totalLines: int
    sha256: str
    truncated: NotRequired[bool]
    nextFrom: NotRequired[int | None]
    column: NotRequired[int]
    nextColumn: NotRequired[int | None]
    flags: NotRequired[list[str]]


class Pending(TypedDict):
    """What is left to do; `complete` (sync only) says whether the wanted state was reached in time, `reason` why it
    never will be as things are."""

    pendingFiles: int
    pendingEmbeddings: int
    generation: int
    complete: NotRequired[bool]
    reason: NotRequired[str | None]


class Degraded(TypedDict):
    part: str
    reason: str
    since: str


class Transfer(TypedDict):
    doneBytes: int
    totalBytes: int | None
    step: str


class WorkerStatus(TypedDict):
    phase: str
    pid: int | None
    rssBytes: int
    restarts: int
    lastError: str | None


class Outstanding(TypedDict):
    """`media` of the passages are pictures and sounds, of `mediaBytes` together."""

    files: int
    passages: int
    tokens: int
    media: NotRequired[int]
    mediaBytes: NotRequired[int]


class RemoteStatus(TypedDict):
    """A provider that text is sent to; `outstanding` is null while it only stands by."""

    provider: str
    model: str
    destination: str
    outstanding: Outstanding | None
    sentToday: int
    tokensPerDay: int | None


class EmbeddingStatus(TypedDict):
    """Who embeds and why; `remote` is null if nothing leaves the machine."""

    provider: str
    rule: str
    fallback: str | None
    paused: bool
    remote: RemoteStatus | None


class EmbedderStatus(TypedDict):
    """`state` is ready, warming, downloading, off or failed."""

    state: str
    reason: str | None
    since: str | None
    progress: Transfer | None
    worker: WorkerStatus | None


class Watcher(TypedDict):
    mode: str
    ok: bool
    reason: NotRequired[str | None]


class VectorStatus(TypedDict):
    enabled: bool
    available: bool
    engine: str | None
    dimensions: int | None
    reason: NotRequired[str | None]


class Database(TypedDict):
    path: str
    bytes: int


class Root(TypedDict):
    path: str
    state: str
    files: int
    reason: NotRequired[str | None]


class Skipped(TypedDict):
    path: str
    reason: str


class Outside(TypedDict):
    """Markdown files of the workspace where nobody looks; `more`: there are more than `files`."""

    files: int
    more: bool
    hint: str


class Flagged(TypedDict):
    path: str
    flags: str


class MassRemoval(TypedDict):
    """More than half of the notes went at once; `left` stayed."""

    at: str
    files: int
    left: int


class QmdStatus(TypedDict):
    """`version` is null until the program has been found, `reason` says why it does not work."""

    version: str | None
    searchMode: str
    server: str
    pid: int | None
    reason: str | None
    lastUpdateAt: str | None
    vectors: int | None


class AgentStatus(TypedDict):
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
    watcher: Watcher
    vector: VectorStatus
    embedding: NotRequired[EmbeddingStatus]
    embedder: EmbedderStatus
    database: Database
    qmd: NotRequired[QmdStatus | None]
    fallback: Fallback | None
    degraded: list[Degraded]
    roots: list[Root]
    skipped: list[Skipped]
    skippedCount: int
    outside: NotRequired[Outside | None]
    flagged: NotRequired[list[Flagged]]
    massRemoval: NotRequired[MassRemoval | None]


class ConfigStatus(TypedDict):
    source: str | None
    notices: list[str]


class Connections(TypedDict):
    """`refused` counts those turned away since the start, by reason."""

    open: int
    refused: dict[str, int]


class Unreachable(TypedDict):
    """A socket whose path does not lead to the daemon."""

    socket: str
    reason: str


class Status(TypedDict):
    version: str
    pid: int
    uptimeSeconds: float
    socket: str
    rssBytes: int
    config: ConfigStatus
    connections: NotRequired[Connections | None]
    unreachable: NotRequired[list[Unreachable]]
    agents: list[AgentStatus]


class SessionStart(TypedDict):
    """Nothing is chosen from the notes for a session yet: `bundle` is null and `context` empty."""

    bundle: str | None
    context: str
    syncScheduled: bool


class ServerEvent(TypedDict):
    """`event` is one of wire.Event, or a later daemon's addition."""

    event: str
    data: dict[str, object]
