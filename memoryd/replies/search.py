"""Replies that find: hits and why they rank as they do, recalled items and bundles, lines; and the daemon's own."""

from typing import Any, Literal, NotRequired, TypedDict


class HealthReply(TypedDict):
    """`ready`: the first scan of every workspace is done."""

    ok: bool
    ready: bool


# `from` is a Python keyword, and so cannot stand in a class
FallbackReply = TypedDict("FallbackReply", {"from": str, "reason": str, "since": str})
"""Which engine was left, why and since when."""


class ReindexReply(TypedDict):
    """What is left to do in the background."""

    pendingFiles: int
    pendingEmbeddings: int
    generation: int


class SyncReply(ReindexReply):
    """`complete`: the wanted state was reached in time; `reason`: why it never will be as things are."""

    complete: bool
    reason: str | None


class ReloadReply(TypedDict):
    """What came of a reload; without `reloaded` the configuration of before holds, for these `problems`."""

    reloaded: bool
    changed: list[str]
    needsRestart: list[str]
    problems: list[str]
    notices: list[str]


class ServerEvent(TypedDict):
    """`event` is one of wire.Event, or a later daemon's addition."""

    event: str
    data: dict[str, object]


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


_From = TypedDict("_From", {"from": int})


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


Encode = Literal["text", "rsclaw", "openai", "anthropic", "gemini"]
"""How a bundle is written: as text, or in the message shape of an API."""
State = Literal["verified", "moved", "edited", "gone"]


class EventTimeReply(TypedDict):
    """Days, both included; null is open."""

    start: str | None
    end: str | None


class MemorySourceReply(TypedDict):
    """A line that states a memory."""

    source: str
    timestamp: str | None
    eventTime: EventTimeReply | None
    state: State


class EvidenceReply(TypedDict):
    """A memory that speaks for an opinion or against it."""

    id: str
    sources: list[str]
    timestamp: str
    label: str


OpinionEvidenceReply = TypedDict("OpinionEvidenceReply", {"for": list[EvidenceReply], "against": list[EvidenceReply]})


class RecallItemExplanation(TypedDict):
    """Why an item stands where it stands."""

    baseScore: float
    lifts: dict[str, float]
    relevance: float
    wordsRank: int | None
    vectorRank: int | None
    cosine: float | None
    terms: list[str]
    because: str


RecallItemReply = TypedDict(
    "RecallItemReply",
    {
        "is": Literal["memory", "passage", "entity"],
        "id": NotRequired[str],
        "kind": NotRequired[str],
        "type": NotRequired[str],
        "timestamp": NotRequired[str],
        "eventTime": NotRequired[EventTimeReply],
        "entities": NotRequired[list[str]],
        "name": NotRequired[str],
        "path": NotRequired[str],
        "startLine": NotRequired[int],
        "endLine": NotRequired[int],
        "focus": NotRequired[LinesReply],
        "heading": NotRequired[str],
        "content": str,
        "source": NotRequired[str],
        "citation": NotRequired[str],
        "sources": NotRequired[list[MemorySourceReply]],
        "memories": NotRequired[list[str]],
        "scope": NotRequired[str],
        "confidence": NotRequired[float],
        "evidence": NotRequired[OpinionEvidenceReply],
        "supersedes": NotRequired[list[str]],
        "supersededBy": NotRequired[list[str]],
        "doubtedBy": NotRequired[list[str]],
        "copies": NotRequired[list[str]],
        "tier": NotRequired[Literal["core", "working", "peripheral"]],
        "score": NotRequired[float],
        "verdict": NotRequired[Literal["answerable", "weak", "none"]],
        "arms": NotRequired[list[str]],
        "state": NotRequired[State],
        "explain": NotRequired[RecallItemExplanation],
    },
)


class ReceiptReply(TypedDict):
    """What a part of a bundle costs."""

    name: str
    tokens: int
    told: bool
    cut: str | None


class RecallExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    floors: FloorsExplanation | None


class RecallReply(TypedDict):
    """What is recalled, best first, and what to think of it."""

    results: list[RecallItemReply]
    leftOut: NotRequired[list[RecallItemReply]]
    bundle: NotRequired[str | dict[str, Any]]
    etag: NotRequired[str]
    notModified: NotRequired[bool]
    receipt: NotRequired[list[ReceiptReply]]
    tokens: NotRequired[int]
    verdict: Literal["answerable", "weak", "none"]
    reason: str | None
    citations: Literal["on", "off"]
    backend: Literal["builtin", "qmd"]
    fallback: FallbackReply | None
    health: SearchHealth
    tookMs: float
    explain: NotRequired[RecallExplanation]
