"""What recall is asked, how its arms are asked, and what it returns: memories, passages and pages of entities."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, tzinfo
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Citation
from memoryd.domain.memories.book import CitedState, Memory, MemorySource
from memoryd.domain.memories.bundle import Bundle
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.memories.reflect.opinions import LineEvidence
from memoryd.domain.memories.tiers import Tier
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import reciprocal, relative
from memoryd.domain.text.sanitizing import Flag
from memoryd.domain.text.words import query_terms
from memoryd.memory.book import OpinionWithEvidence
from memoryd.search.answer import Answer
from memoryd.search.hits import ChunkEvidence, Hit
from memoryd.search.protocol import Query
from memoryd.search.ranking import MIN_DEPTH, Recipe, SearchSettings

LEXICAL_DEPTH = 4
VECTOR_DEPTH = 3
"""How many times as many candidates as there are places words and meaning give, and no fewer than fusion needs."""

RecallFusion = Literal["relative", "rrf"]


def recall_recipe(settings: SearchSettings, fusion: RecallFusion, limit: int, beside: Collection[str]) -> Recipe:
    """Return how recall asks for `limit` items; words that are `beside` the question find, too."""
    is_by_rank, weights = fusion == "rrf", settings.weights
    # ranks need no more; shares of the best are best with no fewer than search asks for
    least = 0 if is_by_rank else MIN_DEPTH
    return Recipe(
        words=max(least, LEXICAL_DEPTH * limit),
        vectors=max(least, VECTOR_DEPTH * limit),
        base_scores=reciprocal if is_by_rank else lambda evidence: relative(evidence, weights),
        beside=tuple(query_terms(" ".join(beside))) if beside else (),
    )


class RecallQuery(Query, frozen=True, kw_only=True):
    """A question to memories and passages: for passages as for any search, with the filters of memories."""

    memory_filters: RecallFilters
    said: str = ""
    """The message as it was said, where nobody asked: what its own evidence earns is recalled, and nothing else."""
    said_before: tuple[str, ...] = ()
    """What was said before it in the same conversation: it tells whom a pronoun means."""
    is_failure: bool = False
    """Whether a tool failed and `said` is what that asks: what helps stands first."""

    @property
    def today(self) -> date:
        """The day that "yesterday" is told from: the one that is asked as of, else the asker's."""
        return self.memory_filters.as_of or self.now.date()


def document_filters(asked: Filters, given: RecallFilters, now: datetime) -> Filters:
    """Return the filters of documents that days stand for: those that a question names, and the days given."""
    zone = now.tzinfo or asked.zone
    starts = [one for one in (asked.since, _instant(given.since, time.min, zone)) if one is not None]
    days = (given.until, given.as_of, given.known_by)
    ends = [one for one in (asked.until, *(_instant(day, time.max, zone) for day in days)) if one is not None]
    return Filters(
        paths=asked.paths,
        within=asked.within,
        since=max(starts, default=None),
        until=min(ends, default=None),
        zone=zone,
    )


def _instant(day: date | None, at: time, zone: tzinfo) -> datetime | None:
    return None if day is None else datetime.combine(day, at, tzinfo=zone)


class CheckedSource(Struct, frozen=True):
    """A line that states a memory, with the lines on which it stands now."""

    source: MemorySource
    state: CitedState = CitedState.VERIFIED


class RecalledMemory(Struct, frozen=True, kw_only=True):
    """A memory that may stand in an answer. `sources` are its lines that may, the one to cite first."""

    memory: Memory
    sources: tuple[CheckedSource, ...]
    placed: RankedCandidate
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
    def standing(self) -> tuple[Flag, ...]:
        """What the document of the line that is cited says of whether it holds."""
        return self.lead.source.standing

    @property
    def citation(self) -> Citation:
        """The way to point at it."""
        return self.lead.source.citation

    @property
    def is_answer(self) -> bool:
        """Whether its own evidence answers, so that telling it is a use: never of what is superseded as of now."""
        return self.placed.verdict is Verdict.ANSWERABLE and not self.superseded_by

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that found or lifted it."""
        found = (("lexical", self.evidence.ranks.words), ("vector", self.evidence.ranks.vector))
        return (*(name for name, rank in found if rank), *self.placed.lifts)


class RecalledPassage(Struct, frozen=True):
    """A passage of a document, told as search tells it."""

    hit: Hit
    placed: RankedCandidate
    because: str = ""

    @property
    def standing(self) -> tuple[Flag, ...]:
        """What its document says of whether it holds."""
        return self.hit.decay.standing

    @property
    def evidence(self) -> Hit:
        """What words and meaning say of it."""
        return self.hit

    @property
    def citation(self) -> Citation:
        """The way to point at it."""
        return self.hit.citation


class RecalledEntity(Struct, frozen=True):
    """The page of an entity that the question names: its summary, and the memories that it rests on."""

    slug: EntitySlug
    name: str
    path: str
    summary: str
    memories: tuple[MemoryId, ...] = ()


RecalledItem = RecalledMemory | RecalledPassage
"""What is ranked."""


def cut_because(item: RecalledItem, reason: str) -> RecalledItem:
    """Return what came near and is not told, with the reason."""
    return replace(item, because=reason)


class Recalled(Answer, frozen=True, kw_only=True):
    """The answer of one recall, with the opinions among it as they stand, and the bundle if one was asked for."""

    entities: tuple[RecalledEntity, ...] = ()
    items: tuple[RecalledItem, ...] = ()
    left_out: tuple[RecalledItem, ...] = ()
    """What came near and is not told, each with the reason."""
    opinions: Mapping[MemoryId, OpinionWithEvidence] = {}
    stated: Mapping[MemoryId, Sequence[LineEvidence]] = {}
    """What lines say for and against them, counted or not."""
    team: str = ""
    """The name of the team that the scope `team` means."""
    bundle: Bundle | None = None

    @property
    def memories(self) -> list[RecalledMemory]:
        """The memories among its items."""
        return [item for item in self.items if isinstance(item, RecalledMemory)]
