"""What a better judge of order does to scores: it deals them anew, and makes none up.

A cross-encoder's numbers are of another kind than the scores of the arms. The hits that it read keep their scores as a
set, the first in its order getting the best of them, so that they stay 0 to 1 and sorted, those that it did not read
stay where they are, and age weighs as much as ever.
"""

from collections.abc import Sequence


def dealt(scores: Sequence[float], order: Sequence[int]) -> list[float]:
    """Return the score of each position after they are dealt in `order`, which holds every position once."""
    given = [0.0] * len(scores)
    for position, score in zip(order, sorted(scores, reverse=True), strict=True):
        given[position] = score
    return given
