"""Destination of the log, and the limit for repeated events."""

import pytest

from memoryd.daemon.log_output import MAX_KINDS, OTHERS, LogRate, StandardError, wants_file


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("journal", False),
        ("terminal", False),
        ("collected", False),
        ("launchd", True),
        ("nothing", True),
    ],
)
def test_log_file_is_used_where_stderr_is_not_kept(stderr: StandardError, expected: bool) -> None:
    assert wants_file("auto", stderr) is expected
    assert wants_file("on", stderr)
    assert not wants_file("off", stderr)


def test_f129_repeated_events_are_limited_and_the_rest_is_counted() -> None:
    """Of 1000 events in a minute, 3 are logged; the count of the others is logged once when the minute is over."""
    now = 0.0
    rate = LogRate(3, lambda: now)
    assert sum(rate.admits("scan failed") for _ in range(1000)) == 3
    assert rate.admits("another")
    assert rate.take_left_out() == {}
    now = 60.0
    assert rate.take_left_out() == {"scan failed": 997}
    assert rate.take_left_out() == {}
    assert rate.admits("scan failed")


def test_left_out_events_are_counted_at_the_end() -> None:
    rate = LogRate(1, lambda: 0.0)
    assert [rate.admits("late") for _ in range(3)] == [True, False, False]
    assert rate.take_left_out(is_end=True) == {"late": 2}


def test_excess_kinds_are_counted_together() -> None:
    rate = LogRate(2, lambda: 0.0)
    admitted = sum(rate.admits(f"event {number}") for number in range(MAX_KINDS + 100))
    assert admitted == MAX_KINDS + 2
    assert rate.take_left_out(is_end=True) == {OTHERS: 98}
