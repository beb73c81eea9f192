"""Evidence → candidates: memories and passages, each with what it is worth, in the order of an answer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final

from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import AskedFor
from memoryd.domain.memories.recall_order import RETELLING_WEIGHT, Placed, lifts_of, nearness_of, verdict_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.recall.eligible import Eligible
from memoryd.memory.recall.recalled import ChunkEvidence
from memoryd.search.hits import holds_a_word
from memoryd.search.ranking import Ranked

ARM_DEPTH: Final = 4
"""How many times as many memories as there are places an arm that lifts may bring."""

Relevance = Callable[[Memory], float]
"""How much a memory counts by its age and use; all of them have a mean of 1."""


def all_alike(_memory: Memory) -> float:
    """Return the relevance of memories that nobody has told apart."""
    return 1.0


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A memory that may stand in the answer; `sources` are its lines that may, the one to cite first."""

    memory: Memory
    sources: tuple[MemorySource, ...]
    evidence: ChunkEvidence
    placed: Placed


class CandidateMemories:
    """Makes candidates of what the arms found in one book, for one question."""

    def __init__(self, eligible: Eligible, ranking: Ranked, asking: AskedFor, relevance: Relevance) -> None:
        self._eligible = eligible
        self._ranking = ranking
        self._asking = asking
        self._relevance = relevance
        self._noise = frozenset(ranking.noise)

    def found(self) -> dict[MemoryId, MemoryCandidate]:
        """Return the memories that words or meaning found, in that order."""
        by_chunk, memories = self._eligible.book.by_chunk, self._eligible.book.memories
        keys = dict.fromkeys(by_chunk[chunk] for chunk in self._chunks() if chunk in by_chunk)
        found = (self.of(memories[key]) for key in keys)
        return {one.memory.id: one for one in found if one is not None}

    def by_arms(self, limit: int) -> Iterator[Memory]:
        """Yield the memories that the entity and temporal arms bring, the newest of each first."""
        depth = ARM_DEPTH * limit
        yield from islice(self._of_entities(), depth)
        yield from islice(self._of_days(), depth)

    def of(self, memory: Memory) -> MemoryCandidate | None:
        """Return a memory with all that is known of it; None if no line of it may answer."""
        sources = self._eligible.sources(memory)
        if not sources:
            return None
        scores = self._ranking.base_scores
        span = self._asking.span
        # of lines that say the same the newest is cited, or that of the days asked about
        lead = best = sources[0]
        if len(sources) > 1:
            lead = max(sources, key=lambda source: nearness_of(source, span))
            best = max(sources, key=lambda source: scores.get(source.chunk, -1.0))
        evidence = self.evidence(best.chunk)
        lifts = lifts_of(memory, sources, self._asking, self._eligible.book.aliases)
        placed = Placed(
            base_score=evidence.base_score,
            lifts=lifts,
            verdict=verdict_of(evidence.verdict, lifts, self._asking),
            is_noise=evidence.is_noise,
            day=newest_day(sources),
            relevance=self._relevance(memory) * (RETELLING_WEIGHT if is_of_session(memory.line) else 1.0),
        )
        return MemoryCandidate(memory, (lead, *(one for one in sources if one is not lead)), evidence, placed)

    def evidence(self, chunk: int) -> ChunkEvidence:
        """Return what words and meaning say of a chunk."""
        ranking = self._ranking
        if chunk not in ranking.base_scores:
            return ChunkEvidence()
        bm25, cosine = ranking.evidence.lexical.bm25.get(chunk), ranking.evidence.vector.cosines.get(chunk)
        terms = ranking.statistics.terms_of(chunk) if ranking.statistics else ()
        is_literal = holds_a_word(bm25, terms)
        floors, ranks = ranking.floors, ranking.ranks[chunk]
        verdict = Verdict.WEAK if floors is None else floors.verdict(terms, cosine, is_literal=is_literal)
        return ChunkEvidence(
            base_score=ranking.base_scores[chunk],
            words_rank=ranks.words,
            vector_rank=ranks.vector,
            bm25=bm25,
            cosine=cosine,
            terms=terms,
            verdict=verdict,
            is_noise=verdict is Verdict.NONE and not is_literal,
        )

    def _chunks(self) -> Iterator[int]:
        yield from self._ranking.telling
        yield from self._ranking.noise

    def _of_entities(self) -> Iterator[Memory]:
        book, asked = self._eligible.book, self._asking.entities
        slugs = {*asked, *(alias for alias, entity in book.aliases.items() if entity in asked)}
        keys = {key for slug in slugs for key in book.by_entity.get(slug, ())}
        yield from sorted((book.memories[key] for key in keys), key=_newest)

    def _of_days(self) -> Iterator[Memory]:
        span = self._asking.span
        if span is None:
            return
        yield from self._eligible.days.meeting(span)


def newest_day(sources: Iterable[MemorySource]) -> date | None:
    """Return the newest day that lines speak of; None where all stand on pages without a date, and name none.

    A plan is of the day on which it was written, as is what is still open.
    """
    days = (
        min(source.event.last, source.day) if source.event else source.day
        for source in sources
        if source.event is not None or date_in_name(source.path) is not None
    )
    return max(days, default=None)


def _newest(memory: Memory) -> tuple[int, str]:
    day = newest_day(memory.sources) or date.min
    return -day.toordinal(), memory.id
