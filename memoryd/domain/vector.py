"""Vectors, and how they are packed for the disk; apart from `domain/embedding.py`, whose readers need no numpy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One dimension, float32, finite, Euclidean length 1."""
Matrix = NDArray[np.float32]
"""Vectors of one space, shape (n, dimensions)."""

_STEPS = 2047
"""A number is one of so many steps to either side of zero: 12 bits."""
_SCALE = np.dtype("<f4")


def packed_bytes(dimensions: int) -> int:
    """Return how long a packed vector is."""
    return _SCALE.itemsize + dimensions + (dimensions + 1) // 2


def packed(vector: Vector) -> bytes:
    """Return a vector in 12 bits a number: half as much as float32 takes with room for an index, and nearly as exact.

    The length of a step; the upper 8 bits of each number; the lower 4 bits of each of the first half, beside those of
    one of the second half. A cosine differs by some 0.00002; to pack what was unpacked changes nothing.
    """
    step = np.float32(np.abs(vector).max() / _STEPS) or np.float32(1)
    numbers = np.rint(vector / step).astype(np.int16)
    half = (len(vector) + 1) // 2
    low = (numbers & 15).astype(np.uint8)
    pairs = low[:half].copy()
    pairs[: len(vector) - half] |= low[half:] << 4
    parts = step.astype(_SCALE), (numbers >> 4).astype(np.int8), pairs
    return b"".join(part.tobytes() for part in parts)


def unpacked(vectors: Sequence[bytes], dimensions: int) -> Matrix:
    """Return the vectors that were packed."""
    rows = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), packed_bytes(dimensions))
    begin, half = _SCALE.itemsize, (dimensions + 1) // 2
    high, pairs = rows[:, begin : begin + dimensions].view(np.int8), rows[:, begin + dimensions :]
    numbers = high.astype(np.int16) << 4
    numbers[:, :half] |= pairs & 15
    numbers[:, half:] |= (pairs >> 4)[:, : dimensions - half]
    steps: Matrix = np.ascontiguousarray(rows[:, :begin]).view(_SCALE)
    return numbers * steps
