"""One space for all languages: what a vector says of the language of its text is taken out of it.

A model for many languages puts the language beside the meaning, so that a question comes nearer to everything in its
own language than to what answers it in another. What sets languages apart is much the same for all texts: the mean of
the passages of each. Without that of its own language a vector says what is meant. Where the notes are in one language
nothing is taken. docs/explanation/ranking.md has the figures.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.vector import Matrix

LEAST: Final = 5
"""Passages from which on their mean says something of their language."""
LEAST_SHARE: Final = 0.005
"""Of all passages that are in a language: what is less may be lists and names that look like it."""
NO_SHIFT: Final = 3
"""So many passages weigh as much as nothing known of a language."""


def spoken(counts: Mapping[str, int]) -> frozenset[str]:
    """Return the languages of passages, counted by language, that have a mean of their own."""
    total = sum(counts.values())
    return frozenset(
        code for code, count in counts.items() if code and count >= LEAST and count >= LEAST_SHARE * total
    )


class LanguageMeans(Struct, frozen=True):
    """What is taken from vectors: a mean for each of `languages`, shape (n, dimensions); of fewer than two nothing."""

    languages: tuple[str, ...] = ()
    means: Matrix = np.empty((0, 0), np.float32)

    @classmethod
    def of(cls, vectors: Matrix, languages: Sequence[str]) -> Self:
        """Take the means of passages, each as far as there are enough of its language, and of another."""
        counts = Counter(languages)
        codes = sorted(spoken(counts), key=lambda code: (-counts[code], code))
        if len(codes) < 2:
            return cls()
        given = np.array(languages)
        most = counts[codes[1]]
        shares = [count / (count + NO_SHIFT) for count in (min(most, counts[code]) for code in codes)]
        means = [share * vectors[given == code].mean(axis=0) for code, share in zip(codes, shares, strict=True)]
        return cls(tuple(codes), np.stack(means).astype(np.float32))

    def without(self, vectors: Matrix, languages: Sequence[str]) -> Matrix:
        """Return vectors, shape (n, dimensions), without what they say of their language, again of length 1."""
        if not self.languages:
            return vectors
        shifted: Matrix = vectors - self.means[self._places(vectors, languages)]
        lengths = np.linalg.norm(shifted, axis=1, keepdims=True)
        shifted /= np.maximum(lengths, np.finfo(np.float32).tiny)
        return shifted

    def _places(self, vectors: Matrix, languages: Sequence[str]) -> NDArray[np.intp]:
        """Return which mean is each one's; where the language has none, or is unknown, the nearest."""
        known = {code: place for place, code in enumerate(self.languages)}
        places = np.array([known.get(code, -1) for code in languages], np.intp)
        if (strange := places < 0).any():
            lengths = np.linalg.norm(self.means, axis=1)
            places[strange] = (vectors[strange] @ self.means.T / lengths).argmax(axis=1)
        return places
