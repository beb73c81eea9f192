"""Opinions: what confidence they have, by which steps, and which steps new evidence takes.

The confidence is that of the opinion's own lines (`opinion_base`), moved by the steps on record (`opinion_rule`).
A memory counts once for an opinion, on the oldest of its days; only an opinion that is said again counts once for each
day. What was counted never counts again, though its line be moved, edited or taken out: a step is history, and what a
person thinks of it is said by another `c`. Once the lines give another confidence, the steps from before are set
aside: they move nothing, and their evidence stays spent.

All history in one run and the same history day by day give the same steps, but for the cap of a run, and for 0 and 1,
where a confidence stops.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, TypeVar

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import is_belief
from memoryd.domain.memories.opinion_base import OpinionBase, base_of
from memoryd.domain.memories.opinion_rule import Label, LabelledEvidence, Step, in_order, run_of

SUPPORTS: Final = "supports"
CONTRADICTS: Final = "contradicts"
RESTATED: Final = "restated"
MODEL: Final = "model:"
"""Who labelled: an attribute of the line, a line that says the same, or the model whose identity follows."""
_EXPLICIT: Final = frozenset({SUPPORTS, CONTRADICTS})
Said = TypeVar("Said", LabelledEvidence, Step)
_FOR: Final = frozenset({Label.REINFORCE})
_AGAINST: Final = frozenset({Label.WEAKEN, Label.CONTRADICT})


@dataclass(frozen=True, slots=True)
class OpinionStanding:
    """How an opinion stands now. `set_aside` has the steps from before a person gave it another confidence."""

    opinion: MemoryId
    base: OpinionBase
    steps: tuple[Step, ...] = ()
    set_aside: tuple[Step, ...] = ()

    @property
    def confidence(self) -> float:
        return self.steps[-1].after if self.steps else self.base.confidence

    @property
    def recorded(self) -> tuple[Step, ...]:
        """All of its steps, in the order in which they were made."""
        return (*self.set_aside, *self.steps)

    @property
    def last_updated(self) -> date | None:
        """The day of the evidence that moved it last, else the one since which its lines say so; None: unknown."""
        days = [step.day for step in self.steps if step.has_moved]
        return days[-1] if days else self.base.revised_on or self.base.stated_on

    @property
    def supporting(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.label in _FOR)

    @property
    def opposing(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.label in _AGAINST)


def standing_of(memory: Memory, steps: Iterable[Step]) -> OpinionStanding:
    """Return how an opinion stands after all steps on record, in the order in which they were made."""
    base, recorded = base_of(memory), tuple(steps)
    others = [number for number, step in enumerate(recorded, 1) if step.base != base.confidence]
    first = others[-1] if others else 0
    return OpinionStanding(memory.id, base, recorded[first:], recorded[:first])


def plan_steps(book: Book, labels: Iterable[LabelledEvidence], steps: Iterable[Step], *, run: str) -> tuple[Step, ...]:
    """Return the steps of a run: what these labels move that no step has counted yet, opinion by opinion.

    `steps` are all on record, in the order in which they were made. Planned again after they were recorded, there are
    none. Raises ValueError for a run that has made steps before and would make more: it would get round its cap.
    """
    known, offered = _by_opinion(steps), _by_opinion(labels)
    made: list[Step] = []
    for opinion in sorted(offered):
        memory = book.memories.get(opinion)
        if memory is not None and is_belief(memory.kind):
            made += _planned(memory, offered[opinion], known.get(opinion, []), run)
    return tuple(made)


def _planned(memory: Memory, offered: Sequence[LabelledEvidence], known: Sequence[Step], run: str) -> list[Step]:
    standing = standing_of(memory, known)
    fresh = in_order(_uncounted(memory, offered, known))
    if fresh and any(step.run == run for step in known):
        raise ValueError(f"the run {run} has made its steps; what came since is for another one")
    counted = {(step.day, step.label) for step in standing.steps}
    return list(run_of(fresh, run, standing.base.confidence, standing.confidence, counted))


def _uncounted(memory: Memory, offered: Iterable[LabelledEvidence], known: Sequence[Step]) -> list[LabelledEvidence]:
    """Return what no step has counted, one label for each piece of evidence: the explicit one, if there is any.

    A neutral step does not keep a line from being told explicitly what it means. Of days on which an opinion was said
    again as many are left out as were counted and are no more: a line that was moved says nothing twice.
    """
    spent = {_piece(step.labelled) for step in known}
    moving = {_piece(step.labelled) for step in known if step.label is not Label.NEUTRAL}
    chosen: dict[tuple[MemoryId, date | None], LabelledEvidence] = {}
    for one in sorted(offered, key=lambda one: (one.labelled_by not in _EXPLICIT, one.day, one.labelled_by)):
        is_spent = _piece(one) in (moving if one.labelled_by in _EXPLICIT else spent)
        if not is_spent:
            chosen.setdefault(_piece(one), one)
    gone = {step.day for step in known if step.evidence == memory.id} - {source.day for source in memory.sources}
    return _without_moved(list(chosen.values()), len(gone))


def _without_moved(fresh: list[LabelledEvidence], gone: int) -> list[LabelledEvidence]:
    again = sorted((one for one in fresh if one.evidence == one.opinion), key=lambda one: one.day)
    return [one for one in fresh if one not in again[:gone]]


def _piece(one: LabelledEvidence) -> tuple[MemoryId, date | None]:
    return one.evidence, one.day if one.evidence == one.opinion else None


def _by_opinion(given: Iterable[Said]) -> Mapping[MemoryId, list[Said]]:
    found: defaultdict[MemoryId, list[Said]] = defaultdict(list)
    for one in given:
        found[one.opinion].append(one)
    return found
