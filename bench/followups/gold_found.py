"""How much of the gold is among the turns that were given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.followups.followup_set import Followup, Place

BY_LANGUAGE = {"paraphrase"}
"""What vectors find as well as the model knows the language."""


@dataclass(frozen=True, slots=True)
class GoldFound:
    """Means over questions, each 0 to 1: `whole` has all gold turns, `right` at least one of them.

    `session` has at least one turn of the gold's session. `precision` is the share of the given turns that are gold; of
    a question without any turn it is 0. Where nothing is gold, all of them are 1 if no turn was given, else 0.
    """

    questions: int
    recall: float
    whole: float
    right: float
    precision: float
    session: float


def gold_found(answered: Iterable[tuple[Followup, frozenset[Place]]]) -> GoldFound:
    """Return the figures of questions with the turns that each was given; there is at least one."""
    pairs = list(answered)
    return GoldFound(
        questions=len(pairs),
        recall=fmean(_share(one.gold, given, len(one.gold)) for one, given in pairs),
        whole=fmean(one.gold <= given if one.gold else not given for one, given in pairs),
        right=fmean(bool(one.gold & given) if one.gold else not given for one, given in pairs),
        precision=fmean(_share(one.gold, given, len(given)) for one, given in pairs),
        session=fmean(one.session in {place[0] for place in given} if one.gold else not given for one, given in pairs),
    )


def _share(gold: frozenset[Place], given: frozenset[Place], count: int) -> float:
    return len(gold & given) / max(count, 1) if gold else float(not given)


def groups(questions: Sequence[Followup]) -> dict[str, list[Followup]]:
    """Return the questions by what they are shown by: all, languages, kinds, and the two halves."""
    found = {"all": list(questions)}
    for one in questions:
        kind = f"{one.kind} {one.lang}" if one.kind in BY_LANGUAGE else one.kind
        for name in (one.lang, kind, "odd" if one.is_tuned else "even"):
            found.setdefault(name, []).append(one)
    return found
