"""How evidence moves the confidence of an opinion: small steps, one for each day and label, within the cap of a run.

With α = 0.05: reinforce c ← min(c + α, 1); weaken c ← max(c − α, 0); contradict c ← max(c − 2α, 0); neutral c ← c.
Evidence of one day counts once for each label: whoever talks a lot on one day moves no more than whoever talks little.
One run moves an opinion by at most 0.10, down by up to 0.30 if at least 3 memories from at least 2 days contradict it
in this run. What the cap cuts is spent and counts in no later run: the same run again must change nothing.

The steps of a run are made in the order of evidence day, then id, then label; each applies the rule to what the one
before it left, and is then held within the cap. Every result is rounded to 12 decimals, so that no sum drifts; Python
rounds correctly on every machine, and so a replay gives the same bits.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import groupby
from typing import Final

from memoryd.domain.memories.identity import MemoryId

ALPHA: Final = 0.05
RUN_CAP: Final = 0.10
"""How far one run moves an opinion, up or down."""
STRONG_CAP: Final = 0.30
"""How far one run moves it down where it is strongly contradicted."""
STRONG_MEMORIES, STRONG_DAYS = 3, 2
_DECIMALS: Final = 12


class Label(StrEnum):
    """What a memory means for an opinion."""

    REINFORCE = "reinforce"
    WEAKEN = "weaken"
    CONTRADICT = "contradict"
    NEUTRAL = "neutral"


_MOVES: Final = {Label.REINFORCE: ALPHA, Label.WEAKEN: -ALPHA, Label.CONTRADICT: -2 * ALPHA, Label.NEUTRAL: 0.0}


@dataclass(frozen=True, slots=True)
class LabelledEvidence:
    """What a memory, said on a day, means for an opinion, and which rule or model said so.

    An opinion that is said again is evidence for itself.
    """

    opinion: MemoryId
    evidence: MemoryId
    label: Label
    labelled_by: str
    day: date


@dataclass(frozen=True, slots=True)
class Step:
    """What a run made of a piece of evidence: confidences are 0 to 1, `base` is that of the opinion's own lines."""

    opinion: MemoryId
    evidence: MemoryId
    label: Label
    labelled_by: str
    day: date
    run: str
    base: float
    before: float
    after: float

    @property
    def has_moved(self) -> bool:
        return self.after != self.before

    @property
    def labelled(self) -> LabelledEvidence:
        return LabelledEvidence(self.opinion, self.evidence, self.label, self.labelled_by, self.day)


def moved(confidence: float, label: Label) -> float:
    """Return the confidence after one piece of evidence, without regard to caps."""
    if label is Label.NEUTRAL:
        return confidence
    return round(min(max(confidence + _MOVES[label], 0.0), 1.0), _DECIMALS)


def replayed(base: float, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps of one opinion with all confidences computed anew from its base, in the order and runs they have."""
    confidence = base
    counted: set[tuple[date, Label]] = set()
    found: list[Step] = []
    for run, group in groupby(steps, key=lambda step: step.run):
        made = run_of([step.labelled for step in group], run, base, confidence, counted)
        found += made
        confidence = found[-1].after
    return tuple(found)


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
    memories, days = {one.evidence for one in against}, {one.day for one in against}
    return STRONG_CAP if len(memories) >= STRONG_MEMORIES and len(days) >= STRONG_DAYS else RUN_CAP
