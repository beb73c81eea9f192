"""What cosines of a question with unrelated passages look like, measured on a sample of the vectors."""

import numpy as np

from memoryd.domain.embedding import Vector
from memoryd.domain.ranking.calibration import CosineSample, noise_of
from memoryd.domain.ranking.fusion import Noise
from memoryd.store.index.vectors import Matrix

SAMPLE = 2_000
"""Vectors that stand for the corpus when the noise of a question is measured."""
SAMPLE_GROWTH = 1.05
"""Another sample is taken when there are so many times as many vectors."""


class NoiseSample:
    """Every n-th vector of a space: those of one document lie side by side, so that the first ones would be like it."""

    def __init__(self, dimensions: int) -> None:
        self._vectors: Matrix = np.empty((0, dimensions), np.float32)
        self._count = 0

    def follow(self, vectors: Matrix) -> None:
        """Take another sample if there are enough more vectors than when the last one was taken."""
        if len(vectors) > SAMPLE_GROWTH * self._count:
            self._count = len(vectors)
            self._vectors = vectors[:: max(1, len(vectors) // SAMPLE)].copy()

    def take(self, vectors: Matrix) -> None:
        """Take these as the sample."""
        self._vectors = vectors

    def noise(self, query: Vector, strangers: Matrix | None) -> Noise:
        """Return the noise of a question, from the sample and from strangers under this model, if they are known."""
        if not len(self._vectors):
            return Noise()
        return noise_of(_cosines(self._vectors, query), None if strangers is None else _cosines(strangers, query))


def _cosines(vectors: Matrix, query: Vector) -> CosineSample:
    similarity = vectors @ query
    return CosineSample(len(similarity), float(similarity.mean()), float(similarity.var()))
