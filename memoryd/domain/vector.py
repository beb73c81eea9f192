"""Vectors, and how they are packed for the disk; apart from `domain/embedding.py`, whose readers need no numpy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One dimension, float32, finite, Euclidean length 1."""
Matrix = NDArray[np.float32]
"""Vectors of one space, shape (n, dimensions)."""

_STEPS = 127
"""A number is one of so many steps to either side of zero: 8 bits."""
_FACTOR = np.dtype("<f4")


def packed_bytes(dimensions: int) -> int:
    """Return how long a packed vector is."""
    return _FACTOR.itemsize + dimensions


def packed(vector: Vector) -> bytes:
    """Return a vector in 8 bits a number, a quarter of float32: a factor that makes its length 1, then the numbers.

    A cosine differs by some 0.0004. To pack what was unpacked changes nothing.
    """
    numbers = np.rint(vector * (_STEPS / np.abs(vector).max())).astype(np.int8)
    factor = np.float32(1 / np.linalg.norm(numbers.astype(np.float32)))
    return b"".join(part.tobytes() for part in (factor.astype(_FACTOR), numbers))


def unpacked(vectors: Sequence[bytes], dimensions: int) -> Matrix:
    """Return the vectors that were packed."""
    rows = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), packed_bytes(dimensions))
    factors = np.ascontiguousarray(rows[:, : _FACTOR.itemsize]).view(_FACTOR)
    found: Matrix = rows[:, _FACTOR.itemsize :].view(np.int8) * factors
    return found
