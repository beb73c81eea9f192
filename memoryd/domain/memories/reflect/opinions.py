"""Opinions: their confidence, the recorded steps that changed it, and the steps for new evidence.

The confidence is that of the opinion's own lines, changed by the recorded steps. A person's word takes precedence: the
`c` on a page without a date (`bank/opinions.md`, maintained by hand) precedes those of daily logs, where the newest
counts; without any it is 0.5. The record time of undated pages is only in the ledger and is not used, so that the base
does not depend on the ledger. If the lines change to another confidence, the earlier steps are set aside: they no
longer change the confidence, and their evidence is not counted again.

A memory counts once for an opinion, on the oldest of its days; only a repetition of the opinion itself counts once for
each day. Counted evidence never counts again, even if its line is moved, edited or deleted: a step is history, and a
person overrides it with another `c`.

With α = 0.05: reinforce c ← min(c + α, 1); weaken c ← max(c − α, 0); contradict c ← max(c − 2α, 0); neutral c ← c.
Evidence of one day counts once for each label, however many statements there are. One run changes an opinion by at
most 0.10, or down by up to 0.30 if at least 3 memories from at least 2 days contradict it in this run. Evidence beyond
the cap is used up and counts in no later run, because repeating a run must change nothing.

The steps of a run are ordered by evidence day, then id, then label; each applies the rule to the previous result, which
is then limited by the cap. Every result is rounded to 12 decimals, so that sums do not drift; Python rounds correctly
on every machine, so a replay gives the same bits. All history in one run and the same history day by day give the same
steps, except for the cap of a run, and for the limits 0 and 1.
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
"""The confidence of an opinion whose lines give none."""


class OpinionBase(Struct, frozen=True):
    """The confidence from an opinion's lines, before evidence.

    Lines that repeat the opinion count for it after `stated_on`, which is None if no daily log states it. Evidence from
    before `revised_on` does not count: on that day a line gave another confidence than earlier lines.
    """

    confidence: float
    stated_on: date | None = None
    revised_on: date | None = None


def base_of(memory: Memory) -> OpinionBase:
    """Return the confidence and days given by the lines of an opinion."""
    dated = sorted((source for source in memory.sources if is_dated(source)), key=lambda source: source.day)
    by_hand = sorted(
        (source for source in memory.sources if _has_confidence(source) and not is_dated(source)), key=_place
    )
    with_confidence = [source for source in dated if _has_confidence(source)]
    if by_hand or not with_confidence:
        confidence = _confidence(by_hand[0]) if by_hand else DEFAULT_CONFIDENCE
        return OpinionBase(confidence, dated[0].day if dated else None)
    newest = max(with_confidence, key=lambda source: (source.day, *_place(source)))
    since = _since(dated, newest)
    return OpinionBase(_confidence(newest), since, since if since > dated[0].day else None)


def restated_days(memory: Memory, base: OpinionBase) -> tuple[date, ...]:
    """Return the days, in order, on which daily logs repeat the opinion without another confidence."""
    days = {source.day for source in memory.sources if is_dated(source) and _agrees(source, base.confidence)}
    return tuple(sorted(day for day in days if base.stated_on is not None and day > base.stated_on))


def is_dated(source: MemorySource) -> bool:
    """Return whether the name of a line's file has a day."""
    return date_in_name(source.path) is not None


def _since(dated: list[MemorySource], newest: MemorySource) -> date:
    """Return the first day of the newest confidence, with no different confidence since."""
    day = newest.day
    for source in reversed(dated):
        if not _agrees(source, _confidence(newest)):
            break
        day = source.day if _has_confidence(source) else day
    return min(day, newest.day)


def _agrees(source: MemorySource, confidence: float) -> bool:
    return source.line.attributes.confidence in (None, confidence)


def _has_confidence(source: MemorySource) -> bool:
    return source.line.attributes.confidence is not None


def _confidence(source: MemorySource) -> float:
    confidence = source.line.attributes.confidence
    return DEFAULT_CONFIDENCE if confidence is None else confidence


def _place(source: MemorySource) -> tuple[str, int]:
    return source.path, source.start_line


ALPHA = 0.05
RUN_CAP = 0.10
"""Most that one run changes an opinion, up or down."""
STRONG_CAP = 0.30
"""Most that one run lowers a strongly contradicted opinion."""
STRONG_MEMORIES, STRONG_DAYS = 3, 2
_DECIMALS = 12


class Label(StrEnum):
    """The effect of a memory on an opinion."""

    REINFORCE = "reinforce"
    WEAKEN = "weaken"
    CONTRADICT = "contradict"
    NEUTRAL = "neutral"


_MOVES = {Label.REINFORCE: ALPHA, Label.WEAKEN: -ALPHA, Label.CONTRADICT: -2 * ALPHA, Label.NEUTRAL: 0.0}


class LabelledEvidence(Struct, frozen=True):
    """The effect of a memory of some day on an opinion, and the rule or model that determined it.

    A repetition of the opinion is evidence for itself.
    """

    opinion: MemoryId
    evidence: MemoryId
    label: Label
    labelled_by: str
    day: date


class Step(LabelledEvidence, frozen=True):
    """The effect of a piece of evidence in a run: confidences are 0 to 1; `base` is that of the opinion's own lines."""

    run: str
    base: float
    before: float
    after: float

    @property
    def has_moved(self) -> bool:
        return self.after != self.before


def confidence_after(confidence: float, label: Label) -> float:
    """Return the confidence after one piece of evidence, ignoring caps."""
    if label is Label.NEUTRAL:
        return confidence
    return round(min(max(confidence + _MOVES[label], 0.0), 1.0), _DECIMALS)


def replay_steps(base: float, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps of one opinion with all confidences recomputed from a base; order and runs do not change."""
    confidence = base
    counted: set[tuple[date, Label]] = set()
    replay: list[Step] = []
    for run, group in groupby(steps, key=lambda step: step.run):
        replay += run_steps(list(group), run, base, confidence, counted)
        confidence = replay[-1].after
    return tuple(replay)


def replay_by_base(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps of one opinion recomputed from each base that its lines had in turn."""
    groups = groupby(steps, key=lambda step: step.base)
    return tuple(step for base, group in groups for step in replay_steps(base, group))


def run_steps(
    evidence: Sequence[LabelledEvidence], run: str, base: float, start: float, counted: set[tuple[date, Label]]
) -> Iterator[Step]:
    """Yield the steps of one run on one opinion, starting from confidence `start`, in the given order.

    `counted` contains the days and labels that do not count again; the run adds its own.
    """
    low = round(max(start - _cap_down(evidence), 0.0), _DECIMALS)
    high = round(min(start + RUN_CAP, 1.0), _DECIMALS)
    before = start
    for item in evidence:
        is_again = (item.day, item.label) in counted
        after = before if is_again else min(max(confidence_after(before, item.label), low), high)
        counted.add((item.day, item.label))
        yield Step(item.opinion, item.evidence, item.label, item.labelled_by, item.day, run, base, before, after)
        before = after


def sort_evidence(evidence: Iterable[LabelledEvidence]) -> list[LabelledEvidence]:
    """Return evidence in the order in which a run counts it."""
    return sorted(evidence, key=lambda item: (item.day, item.evidence, item.label, item.labelled_by))


def _cap_down(evidence: Sequence[LabelledEvidence]) -> float:
    against = [item for item in evidence if item.label is Label.CONTRADICT]
    is_strong = (
        len({item.evidence for item in against}) >= STRONG_MEMORIES
        and len({item.day for item in against}) >= STRONG_DAYS
    )
    return STRONG_CAP if is_strong else RUN_CAP


SUPPORTS = "supports"
CONTRADICTS = "contradicts"
RESTATED = "restated"
MODEL = "model:"
"""Values of `labelled_by`: an attribute of the line, a repetition, or `model:` and the model's identity."""
Evidence = TypeVar("Evidence", bound=LabelledEvidence)
_EXPLICIT = frozenset({SUPPORTS, CONTRADICTS})


class OpinionState(Struct, frozen=True):
    """The state of an opinion. `set_aside` has the steps made before a person gave it another confidence."""

    opinion: MemoryId
    base: OpinionBase
    steps: tuple[Step, ...] = ()
    set_aside: tuple[Step, ...] = ()

    @property
    def confidence(self) -> float:
        return self.steps[-1].after if self.steps else self.base.confidence

    @property
    def recorded(self) -> tuple[Step, ...]:
        """All steps in the order in which they were made."""
        return (*self.set_aside, *self.steps)

    @property
    def last_updated(self) -> date | None:
        """The day of the last evidence that changed it, else the first day of its confidence; None if unknown."""
        days = [step.day for step in self.steps if step.has_moved]
        return days[-1] if days else self.base.revised_on or self.base.stated_on

    @property
    def supporting(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.label is Label.REINFORCE)

    @property
    def opposing(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.label in (Label.WEAKEN, Label.CONTRADICT))


def opinion_state_of(memory: Memory, steps: Iterable[Step]) -> OpinionState:
    """Return the state of an opinion after all recorded steps, given in the order in which they were made."""
    base, recorded = base_of(memory), tuple(steps)
    others = [number for number, step in enumerate(recorded, 1) if step.base != base.confidence]
    first = others[-1] if others else 0
    return OpinionState(memory.id, base, recorded[first:], recorded[:first])


def plan_steps(book: Book, labels: Iterable[LabelledEvidence], steps: Iterable[Step], *, run: str) -> tuple[Step, ...]:
    """Return the new steps of a run, opinion by opinion: those of labels that no step has counted yet.

    `steps` are all recorded steps, in the order in which they were made. Once the new steps are recorded, planning
    again returns none. Raises ValueError for further steps of a run with recorded steps, which would circumvent its
    cap.
    """
    known, offered = by_opinion(steps), by_opinion(labels)
    planned: list[Step] = []
    for opinion in sorted(offered):
        memory = book.memories.get(opinion)
        if memory is not None and is_belief(memory.kind):
            planned += _plan_opinion(memory, offered[opinion], known.get(opinion, []), run)
    return tuple(planned)


def _plan_opinion(memory: Memory, offered: Sequence[LabelledEvidence], known: Sequence[Step], run: str) -> list[Step]:
    state = opinion_state_of(memory, known)
    evidence = sort_evidence(_new_evidence(memory, offered, known))
    if evidence and any(step.run == run for step in known):
        raise ValueError(f"the run {run} has made its steps; what came since is for another one")
    counted = {(step.day, step.label) for step in state.steps}
    return list(run_steps(evidence, run, state.base.confidence, state.confidence, counted))


def _new_evidence(memory: Memory, offered: Iterable[LabelledEvidence], known: Sequence[Step]) -> list[LabelledEvidence]:
    """Return the evidence that no step has counted, with one label for each piece: the explicit one, if there is any.

    A neutral step does not prevent an explicit label later. Days on which the opinion is repeated are reduced by the
    number of counted days that no longer state it, because a line that was moved is no new evidence.
    """
    spent = {_piece(step) for step in known}
    moving = {_piece(step) for step in known if step.label is not Label.NEUTRAL}
    chosen: dict[tuple[MemoryId, date | None], LabelledEvidence] = {}
    for item in sorted(offered, key=lambda item: (item.labelled_by not in _EXPLICIT, item.day, item.labelled_by)):
        is_spent = _piece(item) in (moving if item.labelled_by in _EXPLICIT else spent)
        if not is_spent:
            chosen.setdefault(_piece(item), item)
    missing_days = {step.day for step in known if step.evidence == memory.id} - {item.day for item in memory.sources}
    repetitions = sorted((item for item in chosen.values() if item.evidence == item.opinion), key=lambda item: item.day)
    return [item for item in chosen.values() if item not in repetitions[: len(missing_days)]]


def _piece(item: LabelledEvidence) -> tuple[MemoryId, date | None]:
    return item.evidence, item.day if item.evidence == item.opinion else None


def by_opinion(labels: Iterable[Evidence]) -> Mapping[MemoryId, list[Evidence]]:
    """Return labels or steps grouped by opinion, in their order."""
    return grouped((item.opinion, item) for item in labels)


class LineEvidence(Struct, frozen=True):
    """A memory whose line states that it is evidence for or against an opinion."""

    memory: Memory
    label: Label


def line_evidence(
    book: Book, opinions: Collection[MemoryId], filters: RecallFilters
) -> Mapping[MemoryId, tuple[LineEvidence, ...]]:
    """Return the stated evidence for and against these opinions, oldest first, as far as the filters admit it."""
    named = {short_id(opinion): opinion for opinion in opinions}
    stating = [memory for memory in book.opinion_evidence if filters.visible_sources(memory)] if named else []
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
