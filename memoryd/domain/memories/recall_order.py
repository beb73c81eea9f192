"""The order of recalled memories: evidence and lifts, before them days that a question is about, then versions.

Entity, time and opinion never find an answer among words alone: they lift what words and meaning found. Only where a
question asks for nothing else do they give the order, the newest first.

The weights were set by hand and held against the questions of `python -m bench.recall_questions`, whose figures
docs/explanation/memory.md has; they were not chosen on some of the questions and measured on others.
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

ENTITY_LIFT = 0.25
"""For a memory of all entities that the question names; of some it is a share."""
SPAN_LIFT = 0.2
"""For what speaks of the days that the question names."""
OPINION_LIFT = 0.2
"""For an opinion or preference, where the question asks for one."""


RETELLING_WEIGHT = 0.9
"""Of what memoryd wrote of a session: beside the fact itself, in other words, it is the second best."""
SHARED_WEIGHT = 0.97
"""Of what others of a team say: the owner's own line of equal worth stands before it."""
LAST_SHARE = 0.7
"""Of the worth of the best: what has as much may tell of another time of the same thing."""
INSIDE_SHARE = 0.5
"""Of its own days, what speaks of the days that are asked about has so many in them."""


class Nearness(IntEnum):
    """How a line lies to the days that are asked about."""

    OUTSIDE = 0
    NEAR = 1
    INSIDE = 2


class Boosts:
    """Names of the arms that lift."""

    ENTITY: Final = "entity"
    TEMPORAL: Final = "temporal"
    OPINION: Final = "opinion"


class RankedCandidate(Struct, frozen=True):
    """What decides the place of one candidate, a memory or a passage.

    `base_score` is 0 to 1 by words and meaning; `lifts` are by the name of their arm; `relevance` scales both.
    """

    base_score: float
    lifts: Mapping[str, float]
    verdict: Verdict
    is_noise: bool
    day: date | None
    """The newest that it speaks of."""
    relevance: float = 1.0

    @property
    def worth(self) -> float:
        """By what candidates are compared; of two that have all, the one with more evidence has more."""
        return (self.base_score + sum(self.lifts.values())) * self.relevance

    @property
    def score(self) -> float:
        """What is told of its worth, 0 to 1."""
        return min(1.0, self.worth)


def boosts_of(
    memory: Memory,
    sources: Sequence[MemorySource],
    asking: QueryIntent,
    aliases: Mapping[EntitySlug, EntitySlug],
) -> dict[str, float]:
    """Return what lifts a memory, by arm; `sources` are those that may answer, `aliases` other names of entities."""
    lifts: dict[str, float] = {}
    if shared := asking.entities.intersection(aliases.get(slug, slug) for slug in memory.slugs):
        lifts[Boosts.ENTITY] = ENTITY_LIFT * len(shared) / len(asking.entities)
    # what is planned for some days was not written on them
    dated = (source for source in sources if source.event or not asking.is_ahead)
    if (nearness := max((nearness_of(source, asking.span) for source in dated), default=Nearness.OUTSIDE)) > 0:
        lifts[Boosts.TEMPORAL] = SPAN_LIFT * nearness / Nearness.INSIDE
    if asking.is_of_opinion and is_belief(memory.kind):
        lifts[Boosts.OPINION] = OPINION_LIFT
    return lifts


def nearness_of(source: MemorySource, span: DaySpan | None) -> Nearness:
    """Tell how a line lies to the days that are asked about.

    What speaks of many more days is only near them, and so is a line of a page without a date: that it was first seen
    then does not say when it was so.
    """
    if span is None or not (own := span_of(source)).meets(span):
        return Nearness.OUTSIDE
    shared = (min(own.last, span.last) - max(own.first, span.first)).days + 1
    is_dated = source.event is not None or date_in_name(source.path) is not None
    is_most = shared >= INSIDE_SHARE * ((own.last - own.first).days + 1)
    return Nearness.INSIDE if is_dated and is_most else Nearness.NEAR


def verdict_of(verdict: Verdict, lifts: Mapping[str, float], asking: QueryIntent) -> Verdict:
    """Return what a memory is worth: what its evidence says, or more where the question names it in another way.

    All that a bare question asks for is an answer; of another one, the entity is a word that it holds.
    """
    if asking.is_bare and _is_all(lifts, asking):
        return Verdict.ANSWERABLE
    return Verdict.WEAK if verdict is Verdict.NONE and Boosts.ENTITY in lifts else verdict


def sort_key(placed: RankedCandidate, asking: QueryIntent) -> tuple[bool, float, float, float, float, int]:
    """Return by what candidates are sorted, the first having the least.

    Noise is last; of a question that is about days, what is inside of them comes first, but for what only the days
    speak for: that comes behind an answer of other days. Days that it only names are a lift like others. A bare
    question is answered by what has most of what it asks for: of opinions the best first, of others the newest.
    """
    day = 0 if placed.day is None else -placed.day.toordinal()
    distance = -placed.lifts.get(Boosts.TEMPORAL, 0.0)
    if asking.is_bare:
        # what somebody prefers is asked in words that opinions hold; names and days alone say nothing of what is best
        worth = -round(placed.worth, 2) if asking.is_of_opinion else 0.0
        return False, distance, -len(placed.lifts), worth, 0.0, day
    is_alone = placed.is_noise and not placed.lifts
    if not asking.is_of_days:
        return is_alone, 0, 0.0, float(placed.is_noise), -placed.worth, day
    return is_alone, _days_rank(placed, asking), distance, float(placed.is_noise), -placed.worth, day


def _days_rank(placed: RankedCandidate, asking: QueryIntent) -> int:
    """Return 0 for what the named days and words or meaning speak for, 1 for what answers on other days, else 2."""
    if asking.span is None or (Boosts.TEMPORAL in placed.lifts and not placed.is_noise):
        return 0
    return 1 if placed.verdict is Verdict.ANSWERABLE else 2


def latest_first(order: Sequence[Item], placed: Callable[[Item], RankedCandidate]) -> list[Item]:
    """Return the order with what is nearly as good as the first in the order of its days, the newest first.

    It is for questions about the last time of something, of which every time says the same.
    """
    if not order:
        return []
    least = LAST_SHARE * max(placed(item).worth for item in order)
    near = [item for item in order if placed(item).worth >= least and not placed(item).is_noise]
    newest = iter(sorted(near, key=lambda item: placed(item).day or date.min, reverse=True))
    among = set(map(id, near))
    return [next(newest) if id(item) in among else item for item in order]


def current_first(order: Sequence[MemoryId], newer: Mapping[MemoryId, Sequence[MemoryId]]) -> list[MemoryId]:
    """Return the order with every current version before what it supersedes, brought in where it is not there.

    `newer` maps a memory to those that supersede it. A version takes the place of the first of those that it
    supersedes.
    """
    placed: dict[MemoryId, None] = {}
    for memory in order:
        for one in (*reversed(current_above(memory, newer)), memory):
            placed.setdefault(one)
    return list(placed)


def facts_first(
    order: Sequence[Item], retells: Callable[[Item, Item], bool], *, may_retell: Callable[[Item], bool]
) -> list[Item]:
    """Return the order with everything that retells others right behind the first that it retells.

    `retells` says it of the first of two; what retells is not retold itself. Only what `may_retell` is held against
    the others: few do, and each costs a look at all of them.
    """
    behind: dict[int, int] = {}
    for at, item in enumerate(order):
        if not may_retell(item):
            continue
        told = next((place for place, other in enumerate(order) if place != at and retells(item, other)), at)
        if told > at:
            behind[at] = told
    return [order[at] for at in sorted(range(len(order)), key=lambda at: (behind.get(at, at), at in behind))]


def newer_of(superseded: Mapping[MemoryId, Sequence[MemoryId]]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return what supersedes each memory that is superseded."""
    found = grouped((old, new) for new, olds in superseded.items() for old in olds)
    return {old: tuple(newer) for old, newer in found.items()}


def current_above(memory: MemoryId, newer: Mapping[MemoryId, Sequence[MemoryId]]) -> list[MemoryId]:
    """Return the current versions above a memory: those that nothing supersedes. A circle has none."""
    seen, tops = {memory}, list[MemoryId]()
    waiting = list(newer.get(memory, ()))
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        above = newer.get(one, ())
        waiting.extend(above)
        if not above:
            tops.append(one)
    return tops


def _is_all(lifts: Mapping[str, float], asking: QueryIntent) -> bool:
    wanted = {
        Boosts.ENTITY: bool(asking.entities),
        Boosts.TEMPORAL: asking.span is not None,
        Boosts.OPINION: asking.is_of_opinion,
    }
    return all(name in lifts for name, is_wanted in wanted.items() if is_wanted)
