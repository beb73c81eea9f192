"""What is recalled: memories, passages, pages of entities, and bundles of them."""

from typing import Any, Literal, NotRequired, TypedDict

from memoryd.replies.daemon import FallbackReply
from memoryd.replies.search import FloorsExplanation, LinesReply, SearchHealth

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
