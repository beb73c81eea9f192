"""What recall is asked, how its arms are asked, and what it returns: memories, passages and pages of entities."""

from collections.abc import Mapping
from datetime import date, datetime, time, tzinfo
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.recall_order import Placed
from memoryd.domain.memories.tiers import Tier
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import Evidence, reciprocal, relative
from memoryd.domain.ranking.questions import Question
from memoryd.search.hits import Hit
from memoryd.search.protocol import Arm, Engine, Fallback, Freshness, Query, Untold
from memoryd.search.ranking import SearchSettings

LEXICAL_DEPTH: Final = 4
VECTOR_DEPTH: Final = 3
"""How many times as many candidates as there are places words and meaning give, and no fewer than fusion needs."""

RecallFusion = Literal["relative", "rrf"]


class RecallSettings(Struct, frozen=True):
    """How words and meaning are asked and merged: `search` as for search, `fusion` of recall's own."""

    search: SearchSettings = field(default_factory=SearchSettings)
    fusion: RecallFusion = "relative"

    def lexical_depth(self, limit: int) -> int:
        """Return how many chunks words give for so many places."""
        return self._depth(LEXICAL_DEPTH * limit)

    def vector_depth(self, limit: int) -> int:
        """Return how many chunks meaning gives for so many places."""
        return self._depth(VECTOR_DEPTH * limit)

    def base_scores(self, evidence: Evidence) -> dict[int, float]:
        """Merge what both arms found into one score a chunk, 0 to 1."""
        return reciprocal(evidence) if self.fusion == "rrf" else relative(evidence, self.search.weights)

    def _depth(self, wanted: int) -> int:
        # ranks need no more; shares of the best are best with no fewer than search asks for
        return wanted if self.fusion == "rrf" else max(wanted, self.search.min_depth)


class RecallQuery(Struct, frozen=True, kw_only=True):
    """A question with its limits; `deadline` is in seconds from the call, `now` the asker's clock and time zone."""

    question: Question
    limit: int
    filters: RecallFilters
    deadline: float
    now: datetime
    fresh_until: float = 0.0
    """Until when (monotonic clock) the index may be waited for, so that it follows the disk."""
    is_explained: bool = False
    said: str = ""
    """The message as it was said, where nobody asked: what its own evidence earns is recalled, and nothing else."""
    untold: Untold = field(default_factory=Untold)
    """What is not to be found, for it is known that its files do not hold it."""

    @property
    def today(self) -> date:
        """The day that "yesterday" is told from: the one that is asked as of, else the asker's."""
        return self.filters.as_of or self.now.date()

    @property
    def of_documents(self) -> Filters:
        """The filters of documents that their days stand for: those that a question names, and the days given."""
        asked, given = self.question.filters, self.filters
        zone = self.now.tzinfo or asked.zone
        starts = [one for one in (asked.since, _start_of_day(given.since, zone)) if one is not None]
        ends = (given.until, given.as_of, given.known_by)
        ends_given = [one for one in (asked.until, *(_end_of_day(day, zone) for day in ends)) if one is not None]
        return Filters(
            paths=asked.paths,
            within=asked.within,
            since=max(starts, default=None),
            until=min(ends_given, default=None),
            zone=zone,
        )

    def as_search(self, deadline: float) -> Query:
        """Return it as other engines are asked it."""
        return Query(
            text=self.question.text,
            limit=self.limit,
            deadline=deadline,
            filters=self.of_documents,
            asked=replace(self.question, filters=self.of_documents),
            now=self.now,
            untold=self.untold,
            reach=self.filters.reach,
            fresh_until=self.fresh_until,
            is_explained=self.is_explained,
        )


def _start_of_day(day: date | None, zone: tzinfo) -> datetime | None:
    return None if day is None else datetime.combine(day, time.min, tzinfo=zone)


def _end_of_day(day: date | None, zone: tzinfo) -> datetime | None:
    return None if day is None else datetime.combine(day, time.max, tzinfo=zone)


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


class CheckedSource(Struct, frozen=True):
    """A line that states a memory, with the lines on which it stands now."""

    source: MemorySource
    state: SourceState


class ChunkEvidence(Struct, frozen=True):
    """What words and meaning say of one chunk; None where an arm did not find it."""

    base_score: float = 0.0
    words_rank: int | None = None
    vector_rank: int | None = None
    bm25: float | None = None
    cosine: float | None = None
    terms: tuple[str, ...] = ()
    verdict: Verdict = Verdict.NONE
    is_noise: bool = True


class MemoryCandidate(Struct, frozen=True):
    """A memory that may stand in the answer; `sources` are its lines that may, the one to cite first."""

    memory: Memory
    sources: tuple[MemorySource, ...]
    evidence: ChunkEvidence
    placed: Placed


class RecalledMemory(Struct, frozen=True, kw_only=True):
    """A memory as an answer tells it. `sources` hold the one that is cited first."""

    memory: Memory
    sources: tuple[CheckedSource, ...]
    placed: Placed
    evidence: ChunkEvidence
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: tuple[MemoryId, ...] = ()
    doubted_by: tuple[MemoryId, ...] = ()
    """Those that stand, too, and may contradict it."""
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
    def is_answer(self) -> bool:
        """Whether its own evidence answers, so that telling it is a use: never of what is superseded as of now."""
        return self.placed.verdict is Verdict.ANSWERABLE and not self.superseded_by

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that found or lifted it."""
        found = (("lexical", self.evidence.words_rank), ("vector", self.evidence.vector_rank))
        return (*(name for name, rank in found if rank), *self.placed.lifts)


class RecalledPassage(Struct, frozen=True):
    """A passage of a document, told as search tells it."""

    hit: Hit
    placed: Placed
    because: str = ""


class RecalledEntity(Struct, frozen=True):
    """The page of an entity that the question names: its summary, and the memories that it rests on."""

    slug: EntitySlug
    name: str
    path: str
    summary: str
    memories: tuple[MemoryId, ...] = ()


RecalledItem = RecalledMemory | RecalledPassage
"""What is ranked."""


class CutItem(Struct, frozen=True):
    """What came near and is not told, and why."""

    item: RecalledItem
    because: str


class Recalled(Struct, frozen=True, kw_only=True):
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
