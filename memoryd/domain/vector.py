"""The type of a vector, apart from `domain/embedding.py`, so that the configuration need not import numpy."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One dimension, float32, finite, Euclidean length 1."""
