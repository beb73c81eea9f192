"""Packing of vectors: 12 bits per number, with small errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memoryd.domain.vector import Matrix, pack_vector, packed_bytes, unpack_vector

NUMBERS = arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 9)),
    elements=st.floats(-1, 1, width=32, allow_subnormal=False),
)


@given(NUMBERS)
def test_error_of_a_number_is_at_most_half_a_step(rows: Matrix) -> None:
    found = unpack_vector([pack_vector(row) for row in rows], rows.shape[1])
    assert found.dtype == np.float32
    steps = np.abs(rows).max(axis=1, keepdims=True) / 2047
    assert (np.abs(found - rows) <= 0.501 * steps).all()


@given(NUMBERS)
def test_packing_unpacked_vector_changes_nothing(rows: Matrix) -> None:
    once = [pack_vector(row) for row in rows]
    assert [pack_vector(row) for row in unpack_vector(once, rows.shape[1])] == once


@pytest.mark.parametrize("dimensions", [1, 2, 3, 384, 385, 3072])
def test_number_takes_twelve_bits(dimensions: int) -> None:
    row = np.full(dimensions, 1 / np.sqrt(dimensions), np.float32)
    assert len(pack_vector(row)) == packed_bytes(dimensions) <= 4 + 1.5 * dimensions + 0.5
    assert np.linalg.norm(unpack_vector([pack_vector(row)], dimensions)) == pytest.approx(1)


def test_cosines_keep_four_decimal_places() -> None:
    drawn = np.random.default_rng(1).standard_normal((500, 384)).astype(np.float32)
    rows = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    found = unpack_vector([pack_vector(row) for row in rows], 384)
    assert np.abs(found @ rows.T - rows @ rows.T).max() < 3e-4
    assert np.abs(found @ rows.T - rows @ rows.T).mean() < 3e-5


def test_unpacking_no_vectors_gives_empty_matrix() -> None:
    assert unpack_vector([], 384).shape == (0, 384)


def test_99_percent_of_nearest_vectors_stay_the_same() -> None:
    """The vectors are mixtures of topics with noise, like those of a model."""
    random = np.random.default_rng(1)
    topics = random.standard_normal((40, 384)).astype(np.float32)
    drawn = random.dirichlet(np.full(40, 0.1), 5_000) @ topics + 0.1 * random.standard_normal((5_000, 384))
    rows = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    found = unpack_vector([pack_vector(row) for row in rows], 384)
    nearest, exact = (np.argsort(-(rows[:100] @ side.T), axis=1)[:, :24] for side in (found, rows))
    same = sum(len({*one} & {*other}) for one, other in zip(nearest.tolist(), exact.tolist(), strict=True))
    assert same >= 0.99 * 100 * 24
