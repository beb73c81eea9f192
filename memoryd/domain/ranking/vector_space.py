"""Properties of a vector space, independent of the notes: how far answers rise in it, and the mean of each language.

A multilingual model puts the language of a text into its vector beside the meaning, so that a question is nearer to
every text in its own language than to its answer in another. And some models give all texts much the same direction.
Both effects are the same for all texts, so the mean of the passages of a language shows them. Without the mean of its
language, a vector reflects the meaning alone. The means come from the notes if there are enough, otherwise from the
model's strangers: texts that have nothing to do with each other. docs/explanation/ranking.md has the figures.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.vector import Matrix, Vector


class UnrelatedVectors(Struct, frozen=True, dict=True):
    """Vectors, under a model, of texts in one language that have nothing to do with each other."""

    language: str
    vectors: Matrix
    questions: Matrix
    """Vectors of the questions that the texts answer, in the same order."""

    @cached_property
    def mean(self) -> Vector:
        mean: Vector = self.vectors.mean(axis=0)
        return mean

    @cached_property
    def reach(self) -> float:
        """Deviations by which the answer of a question rises above the other texts, averaged over all questions."""
        texts, questions = self.vectors, self.questions
        if is_narrow([self]):
            texts, questions = (_normalised(rows - self.mean) for rows in (texts, questions))
        cosines = questions @ texts.T
        others = _unrelated(cosines)
        rises = (cosines.diagonal() - others.mean(axis=1)) / np.maximum(others.std(axis=1), _TINY)
        return float(rises.mean())


def unrelated_moments(cosines: Matrix) -> tuple[float, float]:
    """Return mean and deviation of the cosines of questions with answers of other questions.

    Row i of `cosines` is question i, column j the answer to question j.
    """
    others = _unrelated(cosines)
    return float(others.mean()), float(others.std())


def _unrelated(cosines: Matrix) -> Matrix:
    return cosines[~np.eye(len(cosines), dtype=bool)].reshape(len(cosines), -1)


CLEAR_REACH = 1.5
"""Deviations; if answers rise less among two dozen texts, the best unrelated text is above most of them."""
NARROW = 0.5
"""Mean cosine of unrelated texts from which a model gives all texts much the same direction."""
LEAST = 5
"""Least number of passages whose mean describes their language."""
LEAST_SHARE = 0.02
"""Least share of all passages for a language; fewer may be lists and names that look like a language."""
STRANGERS_SHARE = 0.7
"""Factor for the mean of a language's strangers: the mean of a few texts also holds their topics."""
UNKNOWN_COUNT = 3
"""Number of passages that weigh as much as the zero prior of an unknown language."""
_TINY = np.finfo(np.float32).tiny


def languages_in(counts: Mapping[str, int]) -> frozenset[str]:
    """Return the languages with enough passages, from the number of passages by language code."""
    total = sum(counts.values())
    return frozenset(code for code, count in counts.items() if code and count >= LEAST and count >= LEAST_SHARE * total)


def is_multilingual(strangers: Sequence[UnrelatedVectors]) -> bool:
    """Return whether a model is known to separate answers from strangers in all languages of `strangers`."""
    return bool(strangers) and all(texts.reach >= CLEAR_REACH for texts in strangers)


def is_narrow(strangers: Sequence[UnrelatedVectors]) -> bool:
    """Return whether a model gives all texts much the same direction, in each language of `strangers`."""
    return bool(strangers) and all(float(texts.mean @ texts.mean) >= NARROW for texts in strangers)


def _priors(strangers: Sequence[UnrelatedVectors]) -> dict[str, tuple[Vector, int]]:
    """Return the prior mean of each language and the number of texts behind it; empty unless the model is narrow."""
    if not is_narrow(strangers):
        return {}
    return {texts.language: (STRANGERS_SHARE * texts.mean, len(texts.vectors)) for texts in strangers}


def _prior(code: str, total: Vector, priors: Mapping[str, tuple[Vector, int]]) -> tuple[Vector, int]:
    """Return the prior mean of a language and its weight; for an unknown language, those of the nearest language."""
    if not priors:
        return np.zeros_like(total), UNKNOWN_COUNT
    return priors.get(code) or max(priors.values(), key=lambda prior: float(total @ prior[0]))


Groups = NDArray[np.int8]
"""Index of the language mean of each vector, shape (n,)."""


class LanguageMeans(Struct, frozen=True):
    """Means to subtract from vectors, one row for each of `languages`, shape (n, dimensions)."""

    languages: tuple[str, ...] = ()
    means: Matrix = np.empty((0, 0), np.float32)

    @classmethod
    def of(cls, vectors: Matrix, languages: Sequence[str], strangers: Sequence[UnrelatedVectors]) -> Self:
        """Return the means of passages by language; empty for a single language or a model that is not multilingual."""
        codes, priors = languages_in(Counter(languages)), _priors(strangers)
        if len(codes) < 2 or not is_multilingual(strangers):
            return cls()
        codes |= priors.keys()
        spoken_in, means = np.array(languages), []
        for code in sorted(codes):
            own = vectors[spoken_in == code]
            total: Vector = own.sum(axis=0)
            prior, weight = _prior(code, total, priors)
            means.append((total + weight * prior) / (len(own) + weight))
        return cls(tuple(sorted(codes)), np.stack(means).astype(np.float32))

    def without(self, vectors: Matrix, groups: Groups) -> Matrix:
        """Return vectors, shape (n, dimensions), without the mean of their groups, scaled to length 1."""
        if not self.languages:
            return vectors
        return _normalised(vectors - self.means[groups])

    def groups(self, vectors: Matrix, languages: Sequence[str]) -> Groups:
        """Return the mean of each vector, by its language; the nearest mean if the language is unknown or has none."""
        if not self.languages:
            return np.zeros(len(vectors), np.int8)
        known = {code: place for place, code in enumerate(self.languages)}
        groups = np.array([known.get(code, -1) for code in languages], np.int8)
        if (unknown := groups < 0).any():
            lengths = np.linalg.norm(self.means, axis=1)
            groups[unknown] = (vectors[unknown] @ self.means.T / lengths).argmax(axis=1)
        return groups


def _normalised(rows: Matrix) -> Matrix:
    """Return rows scaled to length 1; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    normalised: Matrix = rows / np.maximum(lengths, _TINY)
    return normalised
