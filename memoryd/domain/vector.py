"""A vector as numpy has it, apart from the rules of embedding: the configuration reads those, and needs no numpy."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One dimension, float32, finite, Euclidean length 1."""
