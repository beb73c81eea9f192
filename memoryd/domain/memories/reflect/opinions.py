"""Opinions: what confidence they have, by which steps, and which steps new evidence takes.

The confidence is that of the opinion's own lines, moved by the steps on record. A person's word wins: the `c` on a
page without a date (`bank/opinions.md`, kept by hand) comes before those of daily logs, of which the newest counts;
without any it is 0.5. The record time of undated pages is in the ledger alone and is not used, so that the base holds
without a ledger. Once the lines give another confidence, the steps from before are set aside: they move nothing, and
their evidence stays spent.

A memory counts once for an opinion, on the oldest of its days; only an opinion that is said again counts once for each
day. What was counted never counts again, though its line be moved, edited or taken out: a step is history, and a
person overrules it by another `c`.

With α = 0.05: reinforce c ← min(c + α, 1); weaken c ← max(c − α, 0); contradict c ← max(c − 2α, 0); neutral c ← c.
Evidence of one day counts once for each label: many statements on one day move no more than one. One run moves an
opinion by at most 0.10, down by up to 0.30 if at least 3 memories from at least 2 days contradict it in this run. What
the cap cuts is spent and counts in no later run: the same run again must change nothing.

The steps of a run are made in the order of evidence day, then id, then label; each applies the rule to the result of
the one before, and is then held within the cap. Every result is rounded to 12 decimals, so that no sum drifts; Python
rounds correctly on every machine, so a replay gives the same bits. All history in one run and the same history day by
day give the same steps, but for the cap of a run, and for 0 and 1, where a confidence stops.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from itertools import groupby
from typing import TypeVar

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.kinds import MemoryId, is_belief, short_id
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.ranking.filters import date_in_name

DEFAULT_CONFIDENCE = 0.5
"""The confidence of an opinion whose lines name none."""


class OpinionBase(Struct, frozen=True):
    """The confidence that evidence moves.

    Lines that say the opinion again count for it after `stated_on`; None if no daily log states it. No evidence from
    before `revised_on` counts: on that day a line gave another confidence than the ones before it.
    """

    confidence: float
    stated_on: date | None = None
    revised_on: date | None = None


def base_of(memory: Memory) -> OpinionBase:
    """Return what the lines of an opinion say of its confidence."""
    dated = sorted((one for one in memory.sources if is_dated(one)), key=lambda one: one.day)
    by_hand = sorted((one for one in memory.sources if _has_confidence(one) and not is_dated(one)), key=_place)
    telling = [one for one in dated if _has_confidence(one)]
    if by_hand or not telling:
        confidence = _confidence(by_hand[0]) if by_hand else DEFAULT_CONFIDENCE
        return OpinionBase(confidence, dated[0].day if dated else None)
    newest = max(telling, key=lambda one: (one.day, *_place(one)))
    since = _since(dated, newest)
    return OpinionBase(_confidence(newest), since, since if since > dated[0].day else None)


def restated_days(memory: Memory, base: OpinionBase) -> tuple[date, ...]:
    """Return the days, in order, on which daily logs say the opinion again, not with another confidence."""
    days = {one.day for one in memory.sources if is_dated(one) and _agrees(one, base.confidence)}
    return tuple(sorted(day for day in days if base.stated_on is not None and day > base.stated_on))


def is_dated(source: MemorySource) -> bool:
    """Tell whether a line is in a file whose name has its day."""
    return date_in_name(source.path) is not None


def _since(dated: list[MemorySource], newest: MemorySource) -> date:
    """Return the day since when the confidence of the newest line holds, no line between giving another."""
    day = newest.day
    for one in reversed(dated):
        if not _agrees(one, _confidence(newest)):
            break
        day = one.day if _has_confidence(one) else day
    return min(day, newest.day)


def _agrees(source: MemorySource, confidence: float) -> bool:
    return source.line.attributes.confidence in (None, confidence)


def _has_confidence(source: MemorySource) -> bool:
    return source.line.attributes.confidence is not None


def _confidence(source: MemorySource) -> float:
    given = source.line.attributes.confidence
    return DEFAULT_CONFIDENCE if given is None else given


def _place(source: MemorySource) -> tuple[str, int]:
    return source.path, source.start_line


ALPHA = 0.05
RUN_CAP = 0.10
"""How far one run moves an opinion, up or down."""
STRONG_CAP = 0.30
"""How far one run moves it down where it is strongly contradicted."""
STRONG_MEMORIES, STRONG_DAYS = 3, 2
_DECIMALS = 12


class Label(StrEnum):
    """What a memory means for an opinion."""

    REINFORCE = "reinforce"
    WEAKEN = "weaken"
    CONTRADICT = "contradict"
    NEUTRAL = "neutral"


_MOVES = {Label.REINFORCE: ALPHA, Label.WEAKEN: -ALPHA, Label.CONTRADICT: -2 * ALPHA, Label.NEUTRAL: 0.0}


class LabelledEvidence(Struct, frozen=True):
    """What a memory, said on a day, means for an opinion, and which rule or model said so.

    An opinion that is said again is evidence for itself.
    """

    opinion: MemoryId
    evidence: MemoryId
    label: Label
    labelled_by: str
    day: date


class Step(LabelledEvidence, frozen=True):
    """What a run made of a piece of evidence: confidences are 0 to 1, `base` is that of the opinion's own lines."""

    run: str
    base: float
    before: float
    after: float

    @property
    def has_moved(self) -> bool:
        return self.after != self.before


def moved(confidence: float, label: Label) -> float:
    """Return the confidence after one piece of evidence, without regard to caps."""
    if label is Label.NEUTRAL:
        return confidence
    return round(min(max(confidence + _MOVES[label], 0.0), 1.0), _DECIMALS)


def replayed(base: float, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps of one opinion with all confidences computed anew from its base, in the order and runs they have."""
    confidence = base
    counted: set[tuple[date, Label]] = set()
    replay: list[Step] = []
    for run, group in groupby(steps, key=lambda step: step.run):
        replay += run_of(list(group), run, base, confidence, counted)
        confidence = replay[-1].after
    return tuple(replay)


def chained(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps of one opinion as if they were all: computed anew from each base that its lines had in turn."""
    groups = groupby(steps, key=lambda step: step.base)
    return tuple(step for base, group in groups for step in replayed(base, group))


def run_of(
    evidence: Sequence[LabelledEvidence], run: str, base: float, start: float, counted: set[tuple[date, Label]]
) -> Iterator[Step]:
    """Yield the steps of one run on one opinion, from the confidence `start`, in the order given.

    `counted` has the days and labels that count no more, and is added to.
    """
    low = round(max(start - _cap_down(evidence), 0.0), _DECIMALS)
    high = round(min(start + RUN_CAP, 1.0), _DECIMALS)
    before = start
    for one in evidence:
        is_again = (one.day, one.label) in counted
        after = before if is_again else min(max(moved(before, one.label), low), high)
        counted.add((one.day, one.label))
        yield Step(one.opinion, one.evidence, one.label, one.labelled_by, one.day, run, base, before, after)
        before = after


def in_order(evidence: Iterable[LabelledEvidence]) -> list[LabelledEvidence]:
    """Return evidence in the order in which a run counts it."""
    return sorted(evidence, key=lambda one: (one.day, one.evidence, one.label, one.labelled_by))


def _cap_down(evidence: Sequence[LabelledEvidence]) -> float:
    against = [one for one in evidence if one.label is Label.CONTRADICT]
    is_strong = (
        len({one.evidence for one in against}) >= STRONG_MEMORIES and len({one.day for one in against}) >= STRONG_DAYS
    )
    return STRONG_CAP if is_strong else RUN_CAP


SUPPORTS = "supports"
CONTRADICTS = "contradicts"
RESTATED = "restated"
MODEL = "model:"
"""Who labelled: an attribute of the line, a line that says the same, or the model whose identity follows."""
Evidence = TypeVar("Evidence", bound=LabelledEvidence)
_EXPLICIT = frozenset({SUPPORTS, CONTRADICTS})


class OpinionState(Struct, frozen=True):
    """The state of an opinion now. `set_aside` has the steps from before a person gave it another confidence."""

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
        return tuple(step for step in self.steps if step.label is Label.REINFORCE)

    @property
    def opposing(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.label in (Label.WEAKEN, Label.CONTRADICT))


def opinion_state_of(memory: Memory, steps: Iterable[Step]) -> OpinionState:
    """Return the state of an opinion after all recorded steps, in the order in which they were made."""
    base, recorded = base_of(memory), tuple(steps)
    others = [number for number, step in enumerate(recorded, 1) if step.base != base.confidence]
    first = others[-1] if others else 0
    return OpinionState(memory.id, base, recorded[first:], recorded[:first])


def plan_steps(book: Book, labels: Iterable[LabelledEvidence], steps: Iterable[Step], *, run: str) -> tuple[Step, ...]:
    """Return the steps of a run: what these labels move that no step has counted yet, opinion by opinion.

    `steps` are all on record, in the order in which they were made. Planned again after they were recorded, there are
    none. Raises ValueError for a run that has made steps before and would make more: it would get round its cap.
    """
    known, offered = by_opinion(steps), by_opinion(labels)
    made: list[Step] = []
    for opinion in sorted(offered):
        memory = book.memories.get(opinion)
        if memory is not None and is_belief(memory.kind):
            made += _plan_opinion(memory, offered[opinion], known.get(opinion, []), run)
    return tuple(made)


def _plan_opinion(memory: Memory, offered: Sequence[LabelledEvidence], known: Sequence[Step], run: str) -> list[Step]:
    standing = opinion_state_of(memory, known)
    fresh = in_order(_new_evidence(memory, offered, known))
    if fresh and any(step.run == run for step in known):
        raise ValueError(f"the run {run} has made its steps; what came since is for another one")
    counted = {(step.day, step.label) for step in standing.steps}
    return list(run_of(fresh, run, standing.base.confidence, standing.confidence, counted))


def _new_evidence(memory: Memory, offered: Iterable[LabelledEvidence], known: Sequence[Step]) -> list[LabelledEvidence]:
    """Return what no step has counted, one label for each piece of evidence: the explicit one, if there is any.

    A neutral step does not keep a line from being told explicitly what it means. Of days on which an opinion was said
    again as many are left out as were counted and are no more: a line that was moved says nothing twice.
    """
    spent = {_piece(step) for step in known}
    moving = {_piece(step) for step in known if step.label is not Label.NEUTRAL}
    chosen: dict[tuple[MemoryId, date | None], LabelledEvidence] = {}
    for one in sorted(offered, key=lambda one: (one.labelled_by not in _EXPLICIT, one.day, one.labelled_by)):
        is_spent = _piece(one) in (moving if one.labelled_by in _EXPLICIT else spent)
        if not is_spent:
            chosen.setdefault(_piece(one), one)
    moved_days = {step.day for step in known if step.evidence == memory.id} - {one.day for one in memory.sources}
    again = sorted((one for one in chosen.values() if one.evidence == one.opinion), key=lambda one: one.day)
    return [one for one in chosen.values() if one not in again[: len(moved_days)]]


def _piece(one: LabelledEvidence) -> tuple[MemoryId, date | None]:
    return one.evidence, one.day if one.evidence == one.opinion else None


def by_opinion(labels: Iterable[Evidence]) -> Mapping[MemoryId, list[Evidence]]:
    """Return labels or steps by the opinion they are of, in their order."""
    return grouped((one.opinion, one) for one in labels)


class LineEvidence(Struct, frozen=True):
    """A memory whose line says that it speaks for or against an opinion."""

    memory: Memory
    label: Label


def line_evidence(
    book: Book, opinions: Collection[MemoryId], filters: RecallFilters
) -> Mapping[MemoryId, tuple[LineEvidence, ...]]:
    """Return what lines state for and against these opinions, the oldest first, as far as the asker may know."""
    named = {short_id(one): one for one in opinions}
    stating = [one for one in book.stating if filters.standing(one)] if named else []
    evidence = (
        (named[short], LineEvidence(memory, label))
        for memory in stating
        for shorts, label in (
            (memory.line.attributes.supports, Label.REINFORCE),
            (memory.line.attributes.contradicts, Label.CONTRADICT),
        )
        for short in shorts
        if short in named
    )
    return {opinion: tuple(lines) for opinion, lines in grouped(evidence).items()}
