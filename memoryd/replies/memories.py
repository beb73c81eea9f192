"""Memories one by one; their names are in snake case."""

from typing import TypedDict

from memoryd.replies.reflect import NearCopiesReply
from memoryd.replies.search import SearchHealth


class MemoryDocumentReply(TypedDict):
    """A memory: `importance` is 0 to 1, `created_at` and `accessed_at` are Unix seconds."""

    id: str
    scope: str
    kind: str
    network: str
    text: str
    tier: str
    importance: float
    pinned: bool
    tags: list[str]
    entities: list[str]
    access_count: int
    created_at: float
    accessed_at: float
    abstract_text: str
    overview_text: str
    citation: str
    sources: list[str]
    relevance: float
    superseded_by: list[str]
    score: float | None


class MemoryReply(TypedDict):
    """One memory."""

    memory: MemoryDocumentReply


class MemoryListReply(TypedDict):
    """Some memories, the newest first, and how many there are."""

    memories: list[MemoryDocumentReply]
    total: int


class MemoryStatsReply(TypedDict):
    """How many memories there are within reach."""

    total: int
    by_tier: dict[str, int]
    by_kind: dict[str, int]
    by_scope: dict[str, int]
    pinned: int
    near_copies: list[NearCopiesReply]
    across_scopes: list[NearCopiesReply]


class RelevanceTermsReply(TypedDict):
    """Every term of the relevance of a memory."""

    tier: str
    reason: str
    pinned: bool
    importance: float
    access_count: int
    age_days: float
    half_life_days: float
    beta: float
    recency: float
    frequency: float
    composite: float
    floor: float
    relevance: float


class MemoryWhyReply(MemoryReply):
    """Why a memory stands where it does."""

    terms: RelevanceTermsReply


class DecayedMemoryReply(MemoryReply):
    """A memory and how it will stand."""

    terms: RelevanceTermsReply


class MemoryDecayReply(TypedDict):
    """How memories will stand in some days if nobody touches them; `moving` go to another tier."""

    days: float
    memories: list[DecayedMemoryReply]
    moving: int
    total: int


class MemoryAddReply(MemoryReply):
    """A memory that was stated; `created` is false where today's log stated it already."""

    created: bool
    change: int | None
    searchable: bool
    notes: list[str]


class MemorySearchReply(TypedDict):
    """Memories that answer, best first."""

    memories: list[MemoryDocumentReply]
    verdict: str
    reason: str | None
    health: SearchHealth
    took_ms: float


class MemoryEditReply(MemoryReply):
    """A memory after an edit; `changed` is false where it was so already."""

    changed: bool
    changes: list[int]
    searchable: bool


class MemoryDeleteReply(TypedDict):
    """A memory whose lines were taken out, or would be."""

    id: str
    deleted: bool
    lines: list[str]
    changes: list[int]
    run: str | None
    searchable: bool
