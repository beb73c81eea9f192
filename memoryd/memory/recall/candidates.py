"""Candidates of recall in one order: memories with what lifts them, passages, and every current version first.

What memoryd wrote of a session ranks below the fact that it retells.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final

from msgspec.structs import replace

from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import QueryIntent
from memoryd.domain.memories.recall_order import (
    RETELLING_WEIGHT,
    SPAN_LIFT,
    Boosts,
    RankedCandidate,
    boosts_of,
    current_first,
    facts_first,
    latest_first,
    nearness_of,
    sort_key,
    verdict_of,
)
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.recall.eligible import Eligible
from memoryd.memory.recall.query import (
    CheckedSource,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
    RecallQuery,
)
from memoryd.search.hits import Hit
from memoryd.search.ranking import Ranked

ARM_DEPTH: Final = 4
"""How many times as many memories as there are places an arm that lifts may bring."""
MAX_SOURCES = 16
"""Of one memory, the newest: so many are looked at and told."""

Relevance = Callable[[Memory], float]
"""How much a memory counts by its age and use; all of them have a mean of 1."""


class CandidateMemories:
    """Makes candidates of what the arms found in one book, for one question; all of it before any file is looked at."""

    def __init__(self, eligible: Eligible, ranking: Ranked, asking: QueryIntent, relevance: Relevance) -> None:
        self._eligible = eligible
        self._ranking = ranking
        self._asking = asking
        self._relevance = relevance

    def all(self, query: RecallQuery, meant: Sequence[Memory]) -> dict[MemoryId, RecalledMemory]:
        """Return what words and meaning found, what the other arms bring, and current versions of both.

        `meant` are memories of whom a message means without a name.
        """
        by_chunk, memories = self._eligible.book.by_chunk, self._eligible.book.memories
        chunks = (*self._ranking.telling, *self._ranking.noise)
        wanted = dict.fromkeys(by_chunk[chunk] for chunk in chunks if chunk in by_chunk)
        if not query.question.is_narrowed:
            wanted |= dict.fromkeys(memory.id for memory in (*self._by_arms(query.limit), *meant))
        found = {key: one for key in wanted if (one := self.of(memories[key])) is not None}
        for key in current_first(list(found), self._eligible.versions.above):
            if key not in found and (one := self.of(memories[key])) is not None:
                found[key] = one
        return found

    def _by_arms(self, limit: int) -> Iterator[Memory]:
        """Yield the memories that the entity and temporal arms bring, the newest of each first."""
        book, depth = self._eligible.book, ARM_DEPTH * limit
        keys = {key for slug in book.slugs_of(self._asking.entities) for key in book.by_entity.get(slug, ())}
        days = {key: (newest_day(book.memories[key].sources) or date.min).toordinal() for key in keys}
        for key in sorted(keys, key=lambda key: (-days[key], key))[:depth]:
            yield book.memories[key]
        if self._asking.span is not None:
            yield from islice(self._eligible.facts.days.meeting(self._asking.span), depth)

    def of(self, memory: Memory) -> RecalledMemory | None:
        """Return a memory with all that is known of it; None if no line of it may answer."""
        sources = self._eligible.sources(memory)
        if not sources:
            return None
        scores, span, versions = self._ranking.base_scores, self._asking.span, self._eligible.versions
        # of lines that say the same the newest is cited, or that of the days asked about
        lead = best = sources[0]
        if len(sources) > 1:
            lead = max(sources, key=lambda source: nearness_of(source, span))
            best = max(sources, key=lambda source: scores.get(source.chunk, -1.0))
        evidence = self._ranking.judged(best.chunk)
        lifts = boosts_of(memory, sources, self._asking, self._eligible.book.aliases)
        placed = RankedCandidate(
            base_score=evidence.base_score,
            lifts=lifts,
            verdict=verdict_of(evidence.verdict or Verdict.WEAK, lifts, self._asking),
            is_noise=evidence.is_noise,
            day=newest_day(sources),
            relevance=self._relevance(memory) * (RETELLING_WEIGHT if is_of_session(memory.line) else 1.0),
        )
        return RecalledMemory(
            memory=memory,
            sources=tuple(map(CheckedSource, (lead, *(one for one in sources if one is not lead))[:MAX_SOURCES])),
            placed=placed,
            evidence=evidence,
            supersedes=versions.superseded.get(memory.id, ()),
            superseded_by=versions.newer.get(memory.id, ()),
            doubted_by=versions.doubted.get(memory.id, ()),
        )


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


def placed_passage(hit: Hit, asking: QueryIntent) -> RecalledPassage:
    """Return a passage with what it is worth; the day of its document may lift it."""
    day, span = date_in_name(hit.chunk.path), asking.span
    is_inside = day is not None and span is not None and span.first <= day <= span.last
    lifts = {Boosts.TEMPORAL: SPAN_LIFT} if is_inside else {}
    verdict = verdict_of(hit.verdict or Verdict.WEAK, lifts, asking)
    return RecalledPassage(hit, RankedCandidate(hit.score, lifts, verdict, hit.is_noise, day))


def says_something(hit: Hit) -> bool:
    """Tell whether a passage has more than headings: of a page that reflect wrote they alone are text."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in hit.chunk.text.split("\n"))


def ordered(
    memories: Mapping[MemoryId, RecalledMemory],
    passages: Sequence[RecalledPassage],
    eligible: Eligible,
    asking: QueryIntent,
) -> list[RecalledItem]:
    """Return all in one order, every current version before what it supersedes, in whatever words that stands."""
    newer = eligible.versions.above
    told = {key: _without_day_lift(one, memories, asking) for key, one in memories.items()}
    outdated = [one for one in told.values() if one.superseded_by]
    every: list[RecalledItem] = [*told.values(), *passages]
    placed = sorted(every, key=lambda item: sort_key(item.placed, asking))
    if asking.is_of_last:
        placed = latest_first(placed, lambda item: item.placed)
    items = facts_first(placed, retells, may_retell=is_retelling)
    order: dict[MemoryId | int, RecalledItem] = {}
    for at, item in enumerate(items):
        key = item.memory.id if isinstance(item, RecalledMemory) else at
        keys = [item.memory.id] if isinstance(item, RecalledMemory) else _said_in(item, outdated)
        above = [key for one in keys for key in current_first([one], newer) if key != one and key in told]
        for one in above:
            if one not in order and not _was_later(told[one], item, asking):
                order[one] = replace(told[one], moved_before=str(item.citation))
        order.setdefault(key, item)
    return list(order.values())


def _was_later(current: RecalledMemory, item: RecalledItem, asking: QueryIntent) -> bool:
    """Tell whether a question is about days on which an older version held, and the current one was not known yet."""
    if asking.span is None or Boosts.TEMPORAL not in item.placed.lifts:
        return False
    return current.memory.recorded > asking.span.last


def _without_day_lift(
    one: RecalledMemory, told: Mapping[MemoryId, RecalledMemory], asking: QueryIntent
) -> RecalledMemory:
    """Return a memory without the lift of its days if those were put off before they came."""
    newer = [told[key] for key in one.superseded_by if key in told]
    if not any(not _was_later(above, one, asking) for above in newer):
        return one
    lifts = {arm: lift for arm, lift in one.placed.lifts.items() if arm != Boosts.TEMPORAL}
    return replace(one, placed=replace(one.placed, lifts=lifts))


def _said_in(passage: RecalledPassage, outdated: Sequence[RecalledMemory]) -> list[MemoryId]:
    """Return the superseded memories that a passage states in the same words, and was found by."""
    said, terms = " ".join(passage.hit.chunk.text.split()), set(passage.hit.terms)
    return [
        one.memory.id
        for one in outdated
        if terms and terms.issubset(one.evidence.terms) and " ".join(one.memory.line.text.split()) in said
    ]


def is_retelling(item: RecalledItem) -> bool:
    """Tell whether an item is what memoryd wrote of a session."""
    return isinstance(item, RecalledMemory) and is_of_session(item.memory.line)


def retells(item: RecalledItem, other: RecalledItem) -> bool:
    """Tell whether one is of a session and holds no more of the question than the other, which somebody stated."""
    if not isinstance(item, RecalledMemory) or not is_retelling(item) or other.placed.is_noise:
        return False
    terms = item.evidence.terms
    return not is_retelling(other) and bool(terms) and set(terms).issubset(other.evidence.terms)
