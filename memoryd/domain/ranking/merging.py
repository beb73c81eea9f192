"""Merging two ordered lists of hits that were found in two indexes: notes and conversations.

Scores of two indexes do not compare: each measures words against its own best and its own rarity, and in a small index
no word is rare. What compares is how much of the question a hit holds. So both lists are scored jointly, by

    text weight × words + vector weight × meaning, times what age leaves.

*Words* are, to four fifths, the share of the question's weight that stands in a hit, each term weighing what it weighs
in both indexes together; the rest is BM25 against the best of its own list, which tells how often and how near each
other the words stand. *Meaning* is how far a cosine rises above one noise for both, that of the index that compared
more vectors. A hit of an engine that gives neither has its own score.

The lists are merged head by head: the better verdict comes first, then the higher joint score, and noise behind all
else; each list keeps its own order, which decay, folding and diversity made. docs/explanation/conversations.md has
figures.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from memoryd.domain.ranking.floors import Floors, Verdict
from memoryd.domain.ranking.fusion import Noise, Weights, standout

BM25_SHARE: Final = 0.2
"""Of what words are worth."""
_RANKS: Final = {verdict: rank for rank, verdict in enumerate(Verdict)}

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Evident:
    """What of a hit is compared with hits of another list; numbers of an arm are None where it did not find it.

    `matching` is BM25 against the best of its list, 0 to 1; `score` is its own, 0 to 1, and `decay` what age leaves.
    """

    terms: Collection[str] = ()
    matching: float | None = None
    cosine: float | None = None
    score: float = 0.0
    decay: float = 1.0
    verdict: Verdict | None = None
    is_noise: bool = False


@dataclass(frozen=True, slots=True)
class JointMeasure:
    """By what hits of both lists are scored: the weight of each term and the noise of cosines, where they are known."""

    weights: Weights
    terms: Mapping[str, float] | None = None
    noise: Noise | None = None

    def score(self, hit: Evident) -> float:
        """Return 0 to 1."""
        if hit.matching is None and hit.cosine is None:
            return hit.score
        return hit.decay * (self.weights.text * self._words(hit) + self.weights.vector * self._meaning(hit.cosine))

    def _words(self, hit: Evident) -> float:
        if self.terms is None:
            return hit.matching or 0.0
        total = sum(self.terms.values())
        held = sum(weight for term, weight in self.terms.items() if term in hit.terms)
        share = held / total if total > 0 else float(bool(hit.terms))
        return (1 - BM25_SHARE) * share + BM25_SHARE * (hit.matching or 0.0)

    def _meaning(self, cosine: float | None) -> float:
        if cosine is None:
            return 0.0
        return max(0.0, cosine) if self.noise is None else standout(cosine, self.noise)


def joint_measure(floors: Sequence[Floors], weights: Weights) -> JointMeasure:
    """Return by what hits of both lists are scored; `floors` are those of the lists that have some."""
    if not floors:
        return JointMeasure(weights)
    terms: Counter[str] = Counter()
    for one in floors:
        terms.update(one.idf.weights)
    compared = max(floors, key=lambda one: one.vectors)
    return JointMeasure(weights, terms, compared.noise if compared.vectors else None)


def merged(
    first: Sequence[tuple[Item, Evident]], second: Sequence[tuple[Item, Evident]], measure: JointMeasure
) -> list[Item]:
    """Return the items of both lists, each list in its own order; of equals that of the first list comes first."""
    order: list[Item] = []
    left, right = list(first), list(second)
    while left and right:
        taken = right if _worth(right[0][1], measure) < _worth(left[0][1], measure) else left
        order.append(taken.pop(0)[0])
    return order + [item for item, _ in (*left, *right)]


def _worth(hit: Evident, measure: JointMeasure) -> tuple[bool, int, float]:
    """Sort what is no noise before noise, then by verdict, then by the joint score."""
    rank = len(_RANKS) if hit.verdict is None else _RANKS[hit.verdict]
    return hit.is_noise, rank, -measure.score(hit)
