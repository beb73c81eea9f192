"""Estimated time until a queue is empty."""

import pytest

from memoryd.domain.counters import WINDOW_SECONDS, RateMeter


def meter(*, every: float, done: int, times: int) -> RateMeter:
    rate = RateMeter()
    for number in range(times):
        rate.note(number * every, done)
    return rate


def test_time_left_follows_from_rate() -> None:
    assert meter(every=1.0, done=20, times=11).seconds_left(10.0, 400) == pytest.approx(20.0)


def test_old_rate_gives_no_estimate() -> None:
    assert meter(every=1.0, done=20, times=3).seconds_left(WINDOW_SECONDS * 3, 400) is None


def test_single_batch_gives_no_estimate() -> None:
    assert meter(every=1.0, done=20, times=1).seconds_left(0.5, 400) is None
    assert RateMeter().seconds_left(0.0, 400) is None


def test_empty_queue_takes_no_time() -> None:
    assert RateMeter().seconds_left(0.0, 0) == 0.0


def test_estimate_grows_while_queue_stalls() -> None:
    stalled = meter(every=1.0, done=20, times=5)
    soon, late = stalled.seconds_left(5.0, 400), stalled.seconds_left(30.0, 400)
    assert soon is not None
    assert late is not None
    assert soon < late
