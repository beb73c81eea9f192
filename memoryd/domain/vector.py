"""A vector, as embedders make it and the index keeps it."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One dimension, float32, finite, Euclidean length 1."""
