"""What belongs to a vector space rather than to notes: how far answers rise in it, and what languages leave in it.

A model for many languages puts the language of a text into its vector beside the meaning, so that a question comes
nearer to everything in its own language than to what answers it in another. And some models give all texts much the
same direction. Both are the same for whatever is said, so the mean of the passages of a language shows them. Without
that of its own language a vector says what is meant. The notes give these means as far as there are enough of them,
the strangers of the model give the others. docs/explanation/ranking.md has the figures.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.vector import Matrix, Vector


class Strangers(Struct, frozen=True, dict=True):
    """What a model makes of some texts of one language that have nothing to do with each other."""

    language: str
    vectors: Matrix
    questions: Matrix
    """What each of them answers."""

    @cached_property
    def mean(self) -> Vector:
        mean: Vector = self.vectors.mean(axis=0)
        return mean

    @cached_property
    def reach(self) -> float:
        """How many deviations above the others what answers a question stands, the mean of all questions."""
        texts, questions = self.vectors, self.questions
        if is_narrow([self]):
            texts, questions = (_turned(rows - self.mean) for rows in (texts, questions))
        cosines = questions @ texts.T
        others = _unrelated(cosines)
        rises = (cosines.diagonal() - others.mean(axis=1)) / np.maximum(others.std(axis=1), _TINY)
        return float(rises.mean())


def usual_of(cosines: Matrix) -> tuple[float, float]:
    """Return mean and deviation of the cosines of questions, in rows, with what answers others of them, in columns."""
    others = _unrelated(cosines)
    return float(others.mean()), float(others.std())


def _unrelated(cosines: Matrix) -> Matrix:
    return cosines[~np.eye(len(cosines), dtype=bool)].reshape(len(cosines), -1)


CLEAR_REACH = 1.5
"""Deviations: where answers stand lower than this among two dozen texts, the best stranger is above most of them."""
NARROW = 0.5
"""Mean cosine of texts that have nothing in common from which on a model gives all of them much the same direction."""
LEAST = 5
"""Passages from which on their mean says something of their language."""
LEAST_SHARE = 0.02
"""Of all passages: what is less may be lists and names that look like a language."""
STRANGERS_SHARE = 0.7
"""So much is taken of what strangers say of a language: in a few notes it is also what they are about."""
UNKNOWN_COUNT = 3
"""So many passages weigh as much as knowing nothing of a language."""
_TINY = np.finfo(np.float32).tiny


def spoken(counts: Mapping[str, int]) -> frozenset[str]:
    """Return the languages that passages, counted by language, are in."""
    total = sum(counts.values())
    return frozenset(code for code, count in counts.items() if code and count >= LEAST and count >= LEAST_SHARE * total)


def is_multilingual(strangers: Sequence[Strangers]) -> bool:
    """Tell whether a model is known to tell answers from strangers in all their languages."""
    return bool(strangers) and all(one.reach >= CLEAR_REACH for one in strangers)


def is_narrow(strangers: Sequence[Strangers]) -> bool:
    """Tell whether a model gives all texts much the same direction, in whichever language they are."""
    return bool(strangers) and all(float(one.mean @ one.mean) >= NARROW for one in strangers)


def _priors(strangers: Sequence[Strangers]) -> dict[str, tuple[Vector, int]]:
    """Return what is known of languages without any note, and how many texts that is of."""
    if not is_narrow(strangers):
        return {}
    return {one.language: (STRANGERS_SHARE * one.mean, len(one.vectors)) for one in strangers}


def _prior(code: str, total: Vector, priors: Mapping[str, tuple[Vector, int]]) -> tuple[Vector, int]:
    """Return what is known of a language; of another than the strangers', that of the one it is nearest to."""
    if not priors:
        return np.zeros_like(total), UNKNOWN_COUNT
    return priors.get(code) or max(priors.values(), key=lambda prior: float(total @ prior[0]))


Groups = NDArray[np.int8]
"""Which of the means is that of each vector, shape (n,)."""


class LanguageMeans(Struct, frozen=True):
    """What is taken from vectors: a mean for each of `languages`, shape (n, dimensions); nothing without any."""

    languages: tuple[str, ...] = ()
    means: Matrix = np.empty((0, 0), np.float32)

    @classmethod
    def of(cls, vectors: Matrix, languages: Sequence[str], strangers: Sequence[Strangers]) -> Self:
        """Take the means of passages; nothing of those in one language, nor under a model that knows one."""
        codes, priors = spoken(Counter(languages)), _priors(strangers)
        if len(codes) < 2 or not is_multilingual(strangers):
            return cls()
        codes |= priors.keys()
        given, means = np.array(languages), []
        for code in sorted(codes):
            own = vectors[given == code]
            total: Vector = own.sum(axis=0)
            prior, weight = _prior(code, total, priors)
            means.append((total + weight * prior) / (len(own) + weight))
        return cls(tuple(sorted(codes)), np.stack(means).astype(np.float32))

    def without(self, vectors: Matrix, groups: Groups) -> Matrix:
        """Return vectors, shape (n, dimensions), without the mean of the group of each, again of length 1."""
        if not self.languages:
            return vectors
        return _turned(vectors - self.means[groups])

    def groups(self, vectors: Matrix, languages: Sequence[str]) -> Groups:
        """Return which mean is each one's; where the language has none, or is unknown, the nearest."""
        if not self.languages:
            return np.zeros(len(vectors), np.int8)
        known = {code: place for place, code in enumerate(self.languages)}
        groups = np.array([known.get(code, -1) for code in languages], np.int8)
        if (strange := groups < 0).any():
            lengths = np.linalg.norm(self.means, axis=1)
            groups[strange] = (vectors[strange] @ self.means.T / lengths).argmax(axis=1)
        return groups


def _turned(rows: Matrix) -> Matrix:
    """Return rows of length 1, what has none as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    turned: Matrix = rows / np.maximum(lengths, _TINY)
    return turned
