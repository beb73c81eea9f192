"""What is recalled: memories, passages of documents and pages of entities, with all that is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_order import Placed
from memoryd.domain.memories.tiers import Tier
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.search.hits import Hit
from memoryd.search.protocol import Arm, Engine, Fallback, Freshness


class SourceState(StrEnum):
    """What became of a line since it was read."""

    VERIFIED = "verified"
    """It stands where it was read."""
    MOVED = "moved"
    """It stands on other lines."""
    EDITED = "edited"
    """Another text stands there."""
    GONE = "gone"
    """The document, or the line, is gone."""


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A line that states a memory, with the lines on which it stands now."""

    source: MemorySource
    state: SourceState


@dataclass(frozen=True, slots=True)
class ChunkEvidence:
    """What words and meaning say of one chunk; None where an arm did not find it."""

    base_score: float = 0.0
    words_rank: int | None = None
    vector_rank: int | None = None
    bm25: float | None = None
    cosine: float | None = None
    terms: tuple[str, ...] = ()
    verdict: Verdict = Verdict.NONE
    is_noise: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory:
    """A memory as an answer tells it. `sources` hold the one that is cited first."""

    memory: Memory
    sources: tuple[CheckedSource, ...]
    placed: Placed
    evidence: ChunkEvidence
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: tuple[MemoryId, ...] = ()
    copies: tuple[MemoryId, ...] = ()
    """Other memories that say the same and were folded into it."""
    moved_before: str = ""
    """The citation of what it was moved up to stand before; empty where it stands by its own worth."""
    because: str = ""
    tier: Tier = Tier.WORKING

    @property
    def lead(self) -> CheckedSource:
        """The source that is cited."""
        return self.sources[0]

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that found or lifted it."""
        found = (("lexical", self.evidence.words_rank), ("vector", self.evidence.vector_rank))
        return (*(name for name, rank in found if rank), *self.placed.lifts)


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """A passage of a document, told as search tells it."""

    hit: Hit
    placed: Placed
    because: str = ""


@dataclass(frozen=True, slots=True)
class RecalledEntity:
    """The page of an entity that the question names: its summary, and the memories that it rests on."""

    slug: EntitySlug
    name: str
    path: str
    summary: str
    memories: tuple[MemoryId, ...] = ()


RecalledItem = RecalledMemory | RecalledPassage
"""What is ranked."""


@dataclass(frozen=True, slots=True)
class CutItem:
    """What came near and is not told, and why."""

    item: RecalledItem
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The answer of one recall."""

    entities: tuple[RecalledEntity, ...] = ()
    items: tuple[RecalledItem, ...] = ()
    left_out: tuple[CutItem, ...] = ()
    arms: Mapping[str, Arm] = field(default_factory=dict)
    freshness: Freshness = field(default_factory=Freshness)
    verdict: Verdict = Verdict.NONE
    reason: str | None = None
    floors: Floors | None = None
    engine: Engine = field(default_factory=Engine)
    fallback: Fallback | None = None
    took_ms: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether every arm that is switched on took part in full and nothing was pending."""
        return not self.freshness.pending_files and all(arm.is_as_configured for arm in self.arms.values())
