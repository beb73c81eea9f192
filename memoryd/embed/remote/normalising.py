"""From the numbers of an answer to a vector that can be compared, or the reason why not."""

import numpy as np

from memoryd.domain.embedding import Vector
from memoryd.embed.protocol import Unembeddable
from memoryd.embed.remote.api import RawVector


def vector_of(row: RawVector) -> Vector | Unembeddable:
    """Return the row as float32 of Euclidean length 1; rejected if it is not made of finite numbers or is all zeros."""
    if not all(type(number) in (float, int) for number in row):
        return Unembeddable("the endpoint answered with something that is no number")
    try:
        # float64: the length of a long vector of large numbers overflows float32
        vector = np.asarray(row, dtype=np.float64)
        length = float(np.linalg.norm(vector))
    except (OverflowError, ValueError):
        return Unembeddable("the endpoint answered with numbers out of range")
    if not np.isfinite(length):
        return Unembeddable("the endpoint answered with numbers that are not finite")
    if length == 0.0:
        return Unembeddable("the endpoint answered with zeros only")
    return (vector / length).astype(np.float32)
