"""Where the log goes, and how often an event may repeat."""

import pytest

from memoryd.daemon.log_output import MAX_KINDS, OTHERS, LogRate, StandardError, wants_file


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("journal", False),
        ("terminal", False),
        ("collected", False),
        ("launchd", True),
        ("nothing", True),
    ],
)
def test_own_file_is_there_where_nobody_else_keeps_what_is_said(found: StandardError, wanted: bool) -> None:
    assert wants_file("auto", found) is wanted
    assert wants_file("on", found)
    assert not wants_file("off", found)


def test_f129_of_events_that_repeat_the_rest_is_counted_and_told_once() -> None:
    """Of a thousand events a minute three are logged; the count of the rest is told once, when the minute is over."""
    now = 0.0
    rate = LogRate(3, lambda: now)
    assert sum(rate.admits("scan failed") for _ in range(1000)) == 3
    assert rate.admits("another")
    assert rate.take_left_out() == {}
    now = 60.0
    assert rate.take_left_out() == {"scan failed": 997}
    assert rate.take_left_out() == {}
    assert rate.admits("scan failed")


def test_what_is_left_out_at_the_end_is_told_then() -> None:
    rate = LogRate(1, lambda: 0.0)
    assert [rate.admits("late") for _ in range(3)] == [True, False, False]
    assert rate.take_left_out(is_end=True) == {"late": 2}


def test_kinds_without_end_are_one_kind() -> None:
    rate = LogRate(2, lambda: 0.0)
    admitted = sum(rate.admits(f"event {number}") for number in range(MAX_KINDS + 100))
    assert admitted == MAX_KINDS + 2
    assert rate.take_left_out(is_end=True) == {OTHERS: 98}
