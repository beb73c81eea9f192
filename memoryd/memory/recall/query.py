"""The query of recall, its recipe for searching the index, and its result: memories, passages and pages of entities."""

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
from memoryd.domain.ranking.fusion import score_reciprocal, score_relative
from memoryd.domain.text.sanitizing import Flag
from memoryd.domain.text.words import query_terms
from memoryd.memory.book import OpinionWithEvidence
from memoryd.search.answer import Answer
from memoryd.search.hits import ChunkEvidence, Hit
from memoryd.search.protocol import Query
from memoryd.search.ranking import MIN_DEPTH, Recipe, SearchSettings

LEXICAL_DEPTH = 4
VECTOR_DEPTH = 3
"""Candidates by words and by vectors, as multiples of the limit; at least as many as fusion needs."""

RecallFusion = Literal["relative", "rrf"]


def recall_recipe(settings: SearchSettings, fusion: RecallFusion, limit: int, expansions: Collection[str]) -> Recipe:
    """Return the recipe to recall `limit` items; `expansions` are words that match in addition to the query's."""
    is_by_rank, weights = fusion == "rrf", settings.weights
    # ranks need no minimum; relative scores are best with at least as many candidates as search uses
    least = 0 if is_by_rank else MIN_DEPTH
    return Recipe(
        words=max(least, LEXICAL_DEPTH * limit),
        vectors=max(least, VECTOR_DEPTH * limit),
        base_scores=score_reciprocal if is_by_rank else lambda evidence: score_relative(evidence, weights),
        beside=tuple(query_terms(" ".join(expansions))) if expansions else (),
    )


class RecallQuery(Query, frozen=True, kw_only=True):
    """A query for memories and passages: the query of any search, with the filters of memories."""

    memory_filters: RecallFilters
    message: str = ""
    """The user's message if it is no explicit query: then only items with enough evidence of their own are recalled."""
    earlier_messages: tuple[str, ...] = ()
    """Earlier messages of the same conversation, to resolve pronouns."""
    is_failure: bool = False
    """True if a tool failed and `message` is the question made of that: helpful items come first."""

    @property
    def today(self) -> date:
        """The day that "yesterday" refers to: the `asOf` day if given, else the asker's day."""
        return self.memory_filters.as_of or self.now.date()


def document_filters(query: Filters, memory: RecallFilters, now: datetime) -> Filters:
    """Return the filters of documents with the days of both: those that the query names, and those of memories."""
    zone = now.tzinfo or query.zone
    starts = [start for start in (query.since, _instant(memory.since, time.min, zone)) if start is not None]
    days = (memory.until, memory.as_of, memory.known_by)
    ends = [end for end in (query.until, *(_instant(day, time.max, zone) for day in days)) if end is not None]
    return Filters(
        paths=query.paths,
        within=query.within,
        since=max(starts, default=None),
        until=min(ends, default=None),
        zone=zone,
    )


def _instant(day: date | None, at: time, zone: tzinfo) -> datetime | None:
    return None if day is None else datetime.combine(day, at, tzinfo=zone)


class CheckedSource(Struct, frozen=True):
    """A line that states a memory, with its current line numbers."""

    source: MemorySource
    state: CitedState = CitedState.VERIFIED


class RecalledMemory(Struct, frozen=True, kw_only=True):
    """A memory that may be in an answer. `sources` are the lines that may be cited, the one to cite first."""

    memory: Memory
    sources: tuple[CheckedSource, ...]
    placed: RankedCandidate
    evidence: ChunkEvidence
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: tuple[MemoryId, ...] = ()
    doubted_by: tuple[MemoryId, ...] = ()
    """Current memories that may contradict it."""
    copies: tuple[MemoryId, ...] = ()
    """Other memories that say the same and were folded into it."""
    moved_before: str = ""
    """The citation of the item above which it was moved; empty if it ranks by its own score."""
    because: str = ""
    tier: Tier = Tier.WORKING

    @property
    def lead(self) -> CheckedSource:
        """The source that is cited."""
        return self.sources[0]

    @property
    def standing(self) -> tuple[Flag, ...]:
        """Flags of the cited document about whether it is still valid."""
        return self.lead.source.status_flags

    @property
    def citation(self) -> Citation:
        """The citation of the cited source."""
        return self.lead.source.citation

    @property
    def is_answer(self) -> bool:
        """True if its own evidence answers the query, so that returning it counts as a use; False if superseded."""
        return self.placed.verdict is Verdict.ANSWERABLE and not self.superseded_by

    @property
    def arms(self) -> tuple[str, ...]:
        """The search arms that matched or boosted it."""
        ranks = (("lexical", self.evidence.ranks.words), ("vector", self.evidence.ranks.vector))
        return (*(name for name, rank in ranks if rank), *self.placed.boosts)


class RecalledPassage(Struct, frozen=True):
    """A passage of a document, with the same fields as a search result."""

    hit: Hit
    placed: RankedCandidate
    because: str = ""

    @property
    def standing(self) -> tuple[Flag, ...]:
        """Flags of its document about whether it is still valid."""
        return self.hit.decay.status_flags

    @property
    def evidence(self) -> Hit:
        """Its matches by words and vectors."""
        return self.hit

    @property
    def citation(self) -> Citation:
        """The citation of the passage."""
        return self.hit.citation


class RecalledEntity(Struct, frozen=True):
    """The page of an entity that the query names: its summary, and the memories that the summary rests on."""

    slug: EntitySlug
    name: str
    path: str
    summary: str
    memories: tuple[MemoryId, ...] = ()


RecalledItem = RecalledMemory | RecalledPassage
"""An item that is ranked."""


def cut_because(item: RecalledItem, reason: str) -> RecalledItem:
    """Return an item that is left out, with the reason."""
    return replace(item, because=reason)


class Recalled(Answer, frozen=True, kw_only=True):
    """The result of a recall, with the state of its opinions, and the bundle if one was requested."""

    entities: tuple[RecalledEntity, ...] = ()
    items: tuple[RecalledItem, ...] = ()
    left_out: tuple[RecalledItem, ...] = ()
    """Near matches that are not returned, each with the reason."""
    opinions: Mapping[MemoryId, OpinionWithEvidence] = {}
    stated: Mapping[MemoryId, Sequence[LineEvidence]] = {}
    """Lines for and against the opinions, counted or not."""
    team: str = ""
    """The name of the team that the scope `team` refers to."""
    bundle: Bundle | None = None

    @property
    def memories(self) -> list[RecalledMemory]:
        """The memories among the items."""
        return [item for item in self.items if isinstance(item, RecalledMemory)]
