"""Durations in buckets."""

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.counters import BOUNDS, Durations

SECONDS = st.lists(st.floats(0, 100))


def of(seconds: list[float]) -> Durations:
    found = Durations()
    for one in seconds:
        found.add(one)
    return found


@given(SECONDS)
def test_a_bucket_counts_what_took_so_long_at_most(seconds: list[float]) -> None:
    told = dict(of(seconds).buckets())
    assert told.pop("+Inf") == len(seconds)
    assert told == {str(bound): sum(one <= bound for one in seconds) for bound in BOUNDS}


@given(SECONDS, SECONDS)
def test_joined_they_are_as_if_one_had_counted_all(some: list[float], others: list[float]) -> None:
    joined = of(some)
    joined.add_all(of(others))
    assert joined.counts == of(some + others).counts
    assert abs(joined.total - sum(some) - sum(others)) < 1e-6
