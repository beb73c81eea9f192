"""Quantiles of durations in buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.counters import BOUNDS, Durations, quantile


def test_half_of_a_bucket_lies_in_its_middle() -> None:
    durations = Durations()
    for _ in range(10):
        durations.add(0.2)
    assert quantile(durations.counts, 0.5) == pytest.approx(0.175)


def test_nothing_has_no_quantile() -> None:
    assert quantile(Durations().counts, 0.5) is None


def test_what_took_longest_of_all_is_told_as_the_last_bound() -> None:
    durations = Durations()
    durations.add(500.0)
    assert quantile(durations.counts, 0.95) == BOUNDS[-1]


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.01, 1))
def test_quantile_lies_in_the_bucket_of_the_true_one(seconds: list[float], share: float) -> None:
    durations = Durations()
    for one in seconds:
        durations.add(one)
    told = quantile(durations.counts, share)
    assert told is not None
    assert 0 <= told <= max(bound for bound in (*BOUNDS, 0.0))
    assert sum(one <= told * (1 + 1e-9) for one in BOUNDS) <= sum(one <= max(seconds) for one in BOUNDS) + 1
