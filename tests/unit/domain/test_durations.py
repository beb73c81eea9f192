"""Counting of durations in buckets, and their quantiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.counters import BOUNDS, Durations, quantile

SECONDS = st.lists(st.floats(0, 100))


def counted(seconds: list[float]) -> Durations:
    durations = Durations()
    for duration in seconds:
        durations.add(duration)
    return durations


@given(SECONDS)
def test_bucket_counts_durations_up_to_its_bound(seconds: list[float]) -> None:
    buckets = dict(counted(seconds).buckets())
    assert buckets.pop("+Inf") == len(seconds)
    assert buckets == {str(bound): sum(duration <= bound for duration in seconds) for bound in BOUNDS}


@given(SECONDS, SECONDS)
def test_sum_equals_counting_all(some: list[float], others: list[float]) -> None:
    total = counted(some)
    total.add_all(counted(others))
    assert total.counts == counted(some + others).counts
    assert abs(total.total - sum(some) - sum(others)) < 1e-6


def test_median_of_one_bucket_is_its_middle() -> None:
    assert quantile(counted([0.2] * 10).counts, 0.5) == pytest.approx(0.175)


def test_no_durations_have_no_quantile() -> None:
    assert quantile(Durations().counts, 0.5) is None


def test_quantile_in_last_bucket_is_last_bound() -> None:
    assert quantile(counted([500.0]).counts, 0.95) == BOUNDS[-1]


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.01, 1))
def test_quantile_lies_in_bucket_of_exact_one(seconds: list[float], share: float) -> None:
    found = quantile(counted(seconds).counts, share)
    assert found is not None
    assert 0 <= found <= BOUNDS[-1]
    reached, longest = (sum(bound <= limit for bound in BOUNDS) for limit in (found * (1 + 1e-9), max(seconds)))
    assert reached <= longest + 1
