"""How long a queue takes."""

import pytest

from memoryd.domain.counters import WINDOW_SECONDS, RateMeter


def paced(*, every: float, done: int, times: int) -> RateMeter:
    pace = RateMeter()
    for number in range(times):
        pace.note(number * every, done)
    return pace


def test_rest_takes_as_long_as_the_pace_says() -> None:
    assert paced(every=1.0, done=20, times=11).seconds_left(10.0, 400) == pytest.approx(20.0)


def test_pace_of_long_ago_says_nothing() -> None:
    assert paced(every=1.0, done=20, times=3).seconds_left(WINDOW_SECONDS * 3, 400) is None


def test_one_batch_alone_tells_no_pace() -> None:
    assert paced(every=1.0, done=20, times=1).seconds_left(0.5, 400) is None
    assert RateMeter().seconds_left(0.0, 400) is None


def test_nothing_takes_no_time() -> None:
    assert RateMeter().seconds_left(0.0, 0) == 0.0


def test_queue_that_stands_still_takes_ever_longer() -> None:
    pace = paced(every=1.0, done=20, times=5)
    soon, late = pace.seconds_left(5.0, 400), pace.seconds_left(30.0, 400)
    assert soon is not None
    assert late is not None
    assert soon < late
