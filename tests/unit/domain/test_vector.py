"""What a vector is after it was packed: nearly the same, in 8 bits a number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memoryd.domain.vector import Matrix, packed, packed_bytes, unpacked

UNITS = arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 9)),
    elements=st.floats(-1, 1, width=32, allow_subnormal=False),
).filter(lambda rows: bool((np.linalg.norm(rows, axis=1) > 1e-3).all()))
UNITS = UNITS.map(lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True))


@given(UNITS)
def test_each_number_is_off_by_two_steps_at_most(rows: Matrix) -> None:
    """Half a step is lost, and a little more as the length is brought to 1."""
    found = unpacked([packed(row) for row in rows], rows.shape[1])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    steps = np.abs(rows).max(axis=1, keepdims=True) / 127
    assert (np.abs(found - rows) <= 2 * steps).all()


@given(UNITS)
def test_what_was_unpacked_is_packed_as_before(rows: Matrix) -> None:
    once = [packed(row) for row in rows]
    assert [packed(row) for row in unpacked(once, rows.shape[1])] == once


@pytest.mark.parametrize("dimensions", [1, 2, 3, 384, 385, 3072])
def test_a_number_takes_eight_bits(dimensions: int) -> None:
    row = np.full(dimensions, 1 / np.sqrt(dimensions), np.float32)
    assert len(packed(row)) == packed_bytes(dimensions) == 4 + dimensions
    assert np.linalg.norm(unpacked([packed(row)], dimensions)) == pytest.approx(1)


def test_cosines_stay_as_they_are_to_the_third_place() -> None:
    drawn = np.random.default_rng(1).standard_normal((500, 384)).astype(np.float32)
    rows = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    found = unpacked([packed(row) for row in rows], 384)
    assert np.abs(found @ rows.T - rows @ rows.T).max() < 3e-3
    assert np.abs(found @ rows.T - rows @ rows.T).mean() < 4e-4


def test_nothing_is_unpacked_of_nothing() -> None:
    assert unpacked([], 384).shape == (0, 384)


def test_nearest_are_the_same_but_for_one_in_a_hundred() -> None:
    """Vectors of some topics with something of their own, as those of models are."""
    random = np.random.default_rng(1)
    topics = random.standard_normal((40, 384)).astype(np.float32)
    drawn = random.dirichlet(np.full(40, 0.1), 5_000) @ topics + 0.1 * random.standard_normal((5_000, 384))
    rows = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    found = unpacked([packed(row) for row in rows], 384)
    nearest, exact = (np.argsort(-(rows[:100] @ side.T), axis=1)[:, :24] for side in (found, rows))
    same = sum(len({*one} & {*other}) for one, other in zip(nearest.tolist(), exact.tolist(), strict=True))
    assert same >= 0.99 * 100 * 24
