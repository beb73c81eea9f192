"""The order of recalled memories: evidence and boosts, days of the question first, then versions.

Entity, time and opinion do not find an answer on their own: they boost memories that words and meaning found. Only if a
question asks for nothing else, they determine the order, newest first.

The weights were set by hand and checked against the questions of `python -m bench.recall_questions`, whose results are
in docs/explanation/recall.md; there were no separate questions for choosing and for measuring.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import IntEnum
from typing import Final, TypeVar

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.recall_filters import QueryIntent, span_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name

Item = TypeVar("Item")

ENTITY_BOOST = 0.25
"""The boost of a memory about all entities that the question names; proportionally less for some of them."""
SPAN_BOOST = 0.2
"""The boost of a memory about the days that the question names."""
OPINION_BOOST = 0.2
"""The boost of an opinion or preference, if the question asks for one."""


RETELLING_WEIGHT = 0.9
"""Factor for text that memoryd wrote about a session: it should rank below the fact itself."""
SHARED_WEIGHT = 0.97
"""Factor for memories of other team members: at equal worth the owner's own line comes first."""
LAST_SHARE = 0.7
"""Share of the best worth from which on memories may be about different times of the same thing."""
INSIDE_SHARE = 0.5
"""Share of a memory's own days that must be days of the question."""


class Nearness(IntEnum):
    """The relation of a line to the days of the question."""

    OUTSIDE = 0
    NEAR = 1
    INSIDE = 2


class Boosts:
    """Names of the boosts."""

    ENTITY: Final = "entity"
    TEMPORAL: Final = "temporal"
    OPINION: Final = "opinion"


class RankedCandidate(Struct, frozen=True):
    """The values that determine the rank of one candidate, a memory or a passage.

    `base_score` is 0 to 1 by words and meaning; `boosts` are by name; `relevance` is a factor for both.
    """

    base_score: float
    boosts: Mapping[str, float]
    verdict: Verdict
    is_noise: bool
    day: date | None
    """The newest day that it is about."""
    relevance: float = 1.0

    @property
    def worth(self) -> float:
        """The value by which candidates are compared; not clamped, so that more evidence always gives more."""
        return (self.base_score + sum(self.boosts.values())) * self.relevance

    @property
    def score(self) -> float:
        """The worth clamped to 0 to 1, for replies."""
        return min(1.0, self.worth)


def boosts_of(
    memory: Memory,
    sources: Sequence[MemorySource],
    intent: QueryIntent,
    aliases: Mapping[EntitySlug, EntitySlug],
) -> dict[str, float]:
    """Return the boosts of a memory, by name; `sources` are those that may answer, `aliases` map to entities."""
    boosts: dict[str, float] = {}
    if shared := intent.entities.intersection(aliases.get(slug, slug) for slug in memory.slugs):
        boosts[Boosts.ENTITY] = ENTITY_BOOST * len(shared) / len(intent.entities)
    # plans for some days were not written on these days
    dated = (source for source in sources if source.event or not intent.is_ahead)
    if (nearness := max((nearness_of(source, intent.span) for source in dated), default=Nearness.OUTSIDE)) > 0:
        boosts[Boosts.TEMPORAL] = SPAN_BOOST * nearness / Nearness.INSIDE
    if intent.is_of_opinion and is_belief(memory.kind):
        boosts[Boosts.OPINION] = OPINION_BOOST
    return boosts


def nearness_of(source: MemorySource, span: DaySpan | None) -> Nearness:
    """Return the relation of a line to the days of the question.

    A line about many more days is only near, and so is a line without a date on a page: the day on which it was first
    seen is not the day of the event.
    """
    if span is None or not (own := span_of(source)).overlaps(span):
        return Nearness.OUTSIDE
    shared = (min(own.last, span.last) - max(own.first, span.first)).days + 1
    is_dated = source.event is not None or date_in_name(source.path) is not None
    is_most = shared >= INSIDE_SHARE * ((own.last - own.first).days + 1)
    return Nearness.INSIDE if is_dated and is_most else Nearness.NEAR


def verdict_of(verdict: Verdict, boosts: Mapping[str, float], intent: QueryIntent) -> Verdict:
    """Return the verdict on a memory: that of its evidence, or better if the question names it otherwise.

    Everything that a bare question asks for is an answer; in other questions an entity counts as a matching word.
    """
    if intent.is_bare and _has_all(boosts, intent):
        return Verdict.ANSWERABLE
    return Verdict.WEAK if verdict is Verdict.NONE and Boosts.ENTITY in boosts else verdict


def sort_key(candidate: RankedCandidate, intent: QueryIntent) -> tuple[bool, float, float, float, float, int]:
    """Return the sort key of a candidate; the least key comes first.

    Noise is last. In a question about days, candidates within these days come first, but those with no evidence except
    days come after answers of other days. Days that are only mentioned are a boost. For a bare question, candidates
    with most of what it asks for come first: of opinions the best, of others the newest.
    """
    day = 0 if candidate.day is None else -candidate.day.toordinal()
    distance = -candidate.boosts.get(Boosts.TEMPORAL, 0.0)
    if intent.is_bare:
        # a question for a preference has words of opinions; names and days alone do not measure quality
        worth = -round(candidate.worth, 2) if intent.is_of_opinion else 0.0
        return False, distance, -len(candidate.boosts), worth, 0.0, day
    is_alone = candidate.is_noise and not candidate.boosts
    if not intent.is_of_days:
        return is_alone, 0, 0.0, float(candidate.is_noise), -candidate.worth, day
    return is_alone, _days_rank(candidate, intent), distance, float(candidate.is_noise), -candidate.worth, day


def _days_rank(candidate: RankedCandidate, intent: QueryIntent) -> int:
    """Return 0 for evidence of the named days and words or meaning, 1 for answers on other days, else 2."""
    if intent.span is None or (Boosts.TEMPORAL in candidate.boosts and not candidate.is_noise):
        return 0
    return 1 if candidate.verdict is Verdict.ANSWERABLE else 2


def latest_first(order: Sequence[Item], candidate_of: Callable[[Item], RankedCandidate]) -> list[Item]:
    """Return the order with candidates nearly as good as the best re-sorted by day, newest first.

    This is for questions about the last time of something, where every time has the same words.
    """
    if not order:
        return []
    threshold = LAST_SHARE * max(candidate_of(item).worth for item in order)
    near = [item for item in order if candidate_of(item).worth >= threshold and not candidate_of(item).is_noise]
    newest = iter(sorted(near, key=lambda item: candidate_of(item).day or date.min, reverse=True))
    near_ids = set(map(id, near))
    return [next(newest) if id(item) in near_ids else item for item in order]


def current_first(order: Sequence[MemoryId], newer: Mapping[MemoryId, Sequence[MemoryId]]) -> list[MemoryId]:
    """Return the order with every current version before those that it supersedes, added if it is missing.

    `newer` maps a memory to those that supersede it. A version takes the place of the first one that it supersedes.
    """
    placed: dict[MemoryId, None] = {}
    for memory in order:
        for version in (*reversed(current_above(memory, newer)), memory):
            placed.setdefault(version)
    return list(placed)


def facts_first(
    order: Sequence[Item], retells: Callable[[Item, Item], bool], *, may_retell: Callable[[Item], bool]
) -> list[Item]:
    """Return the order with each item that retells another one moved directly after the first one that it retells.

    `retells(a, b)` returns whether `a` retells `b`, and does not nest. Only items that `may_retell` are compared with
    all others, because few do.
    """
    original_of: dict[int, int] = {}
    for at, item in enumerate(order):
        if not may_retell(item):
            continue
        original = next((place for place, other in enumerate(order) if place != at and retells(item, other)), at)
        if original > at:
            original_of[at] = original
    return [order[at] for at in sorted(range(len(order)), key=lambda at: (original_of.get(at, at), at in original_of))]


def newer_of(superseded: Mapping[MemoryId, Sequence[MemoryId]]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return the inverse of a mapping to superseded memories: what supersedes each of them."""
    pairs = grouped((old, new) for new, olds in superseded.items() for old in olds)
    return {old: tuple(newer) for old, newer in pairs.items()}


def current_above(memory: MemoryId, newer: Mapping[MemoryId, Sequence[MemoryId]]) -> list[MemoryId]:
    """Return the current versions of a memory: those that supersede it and are not superseded. A circle has none."""
    seen, tops = {memory}, list[MemoryId]()
    waiting = list(newer.get(memory, ()))
    while waiting:
        version = waiting.pop()
        if version in seen:
            continue
        seen.add(version)
        above = newer.get(version, ())
        waiting.extend(above)
        if not above:
            tops.append(version)
    return tops


def _has_all(boosts: Mapping[str, float], intent: QueryIntent) -> bool:
    wanted = {
        Boosts.ENTITY: bool(intent.entities),
        Boosts.TEMPORAL: intent.span is not None,
        Boosts.OPINION: intent.is_of_opinion,
    }
    return all(name in boosts for name, is_wanted in wanted.items() if is_wanted)
