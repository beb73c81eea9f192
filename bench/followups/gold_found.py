"""How much of the gold is among the turns that were given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.followups.followup_set import Followup, Place


@dataclass(frozen=True, slots=True)
class GoldFound:
    """Means over questions, each 0 to 1: `whole` has all gold turns, `session` at least one turn of the gold's session.

    `precision` is the share of the given turns that are gold; of a question without any turn it is 0.
    """

    questions: int
    recall: float
    whole: float
    precision: float
    session: float


def gold_found(answered: Iterable[tuple[Followup, frozenset[Place]]]) -> GoldFound:
    """Return the figures of questions with the turns that each was given; there is at least one."""
    pairs = list(answered)
    return GoldFound(
        questions=len(pairs),
        recall=fmean(len(one.gold & given) / len(one.gold) for one, given in pairs),
        whole=fmean(one.gold <= given for one, given in pairs),
        precision=fmean(len(one.gold & given) / max(len(given), 1) for one, given in pairs),
        session=fmean(any(place[0] == one.session for place in given) for one, given in pairs),
    )


def groups(questions: Sequence[Followup]) -> dict[str, list[Followup]]:
    """Return the questions by what they are shown by: all, languages, kinds, and the two halves."""
    found = {"all": list(questions)}
    for one in questions:
        for name in (one.lang, one.kind, "odd" if one.is_tuned else "even"):
            found.setdefault(name, []).append(one)
    return found
