"""Retry combines a breaker rule, a clock and jitter."""

import re
from datetime import UTC, datetime, timedelta

from memoryd.retry import BreakerRule, Retry, next_try
from tests.fakes import FakeClock

RULE = BreakerRule(first_delay=1.0, longest_delay=60.0, jitter=0.5, failures_to_open=3)


def retry_with(clock: FakeClock, *, chance: float = 0.0) -> Retry:
    return Retry(RULE, clock=clock, chance=lambda: chance)


def test_failure_returns_a_wait_that_passes_with_the_clock() -> None:
    clock = FakeClock()
    retry = retry_with(clock)
    assert retry.wait() == 0
    assert retry.note_failure() == 1.0
    clock.advance(0.75)
    assert retry.wait() == 0.25
    clock.advance(0.25)
    assert retry.wait() == 0
    assert retry.note_failure() == 2.0


def test_next_try_is_told_in_words_that_stay_true() -> None:
    """A status shows the words long after they were made: seconds would be wrong by then."""
    assert next_try(0.5) == next_try(59) == "next try within a minute"
    told = re.fullmatch(r"next try by (?:\d{4}-\d\d-\d\d )?(\d\d:\d\d) UTC", next_try(7200))
    assert told
    soonest, latest = (f"{datetime.now(UTC) + timedelta(minutes=minutes):%H:%M}" for minutes in (120, 122))
    assert soonest <= told[1] <= latest or latest < soonest
    assert f"by {datetime.now(UTC) + timedelta(seconds=103_140):%Y-%m-%d} " in next_try(103_000)


def test_jitter_lengthens_the_wait() -> None:
    retry = retry_with(FakeClock(), chance=0.5)
    assert retry.note_failure() == 1.25
    assert retry.jitter() == 1.25


def test_breaker_opens_after_the_failures_and_closes_with_a_success() -> None:
    clock = FakeClock()
    retry = retry_with(clock)
    for _ in range(3):
        assert not retry.is_open
        clock.advance(retry.note_failure())
    assert retry.is_open
    retry.note_try()
    assert retry.wait() == 60.0, "one probe at a time"
    retry.note_success()
    assert not retry.is_open
    assert retry.wait() == 0


def test_requested_pause_counts_if_longer_than_the_back_off() -> None:
    retry = retry_with(FakeClock())
    retry.note_failure()
    retry.pause(0.5)
    assert retry.wait() == 1.0
    retry.pause(30.0)
    assert retry.wait() == 30.0


def test_reset_forgets_the_failures() -> None:
    retry = retry_with(FakeClock())
    for _ in range(5):
        retry.note_failure()
    retry.reset()
    assert not retry.is_open
    assert retry.wait() == 0
