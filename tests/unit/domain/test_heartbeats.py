"""Who is well, who gets on, and who is stuck."""

import pytest

from memoryd.domain.clock import HeartbeatChecker, HeartState, MonitoredPart, Pulse


def part(limit: float = 10.0) -> MonitoredPart:
    return MonitoredPart("writer", Pulse(), limit)


def states(stethoscope: HeartbeatChecker, one: MonitoredPart, seconds: float) -> HeartState:
    (heard,) = stethoscope.check([one], seconds)
    return heard.state


def test_part_without_work_is_never_stuck() -> None:
    one, stethoscope = part(), HeartbeatChecker()
    assert {states(stethoscope, one, 1e6) for _ in range(3)} == {HeartState.IDLE}


def test_part_at_work_is_stuck_once_it_was_silent_too_long() -> None:
    one, stethoscope = part(), HeartbeatChecker()
    one.pulse.begin()
    assert [states(stethoscope, one, 6) for _ in range(3)] == [
        HeartState.WORKING,
        HeartState.WORKING,
        HeartState.STALLED,
    ]


def test_f124_busy_part_that_gets_on_is_alive() -> None:
    """A work of hours that gives a sign within each limit never counts as stuck."""
    one, stethoscope = part(), HeartbeatChecker()
    with one.pulse.work():
        for _ in range(1000):
            assert states(stethoscope, one, 9) is HeartState.WORKING
            one.pulse.beat()
    assert states(stethoscope, one, 9) is HeartState.IDLE


def test_part_that_gives_a_sign_again_is_well_again() -> None:
    one, stethoscope = part(), HeartbeatChecker()
    one.pulse.begin()
    states(stethoscope, one, 0)
    assert states(stethoscope, one, 11) is HeartState.STALLED
    one.pulse.beat()
    assert states(stethoscope, one, 11) is HeartState.WORKING


def test_work_that_fails_is_over() -> None:
    one = part()
    with pytest.raises(ValueError, match="a fault"), one.pulse.work():
        raise ValueError("a fault")
    assert one.pulse.tasks == 0


def test_silence_is_told_and_begins_anew_with_another_part() -> None:
    one, stethoscope = part(), HeartbeatChecker()
    one.pulse.begin()
    stethoscope.check([one], 0)
    (heard,) = stethoscope.check([one], 4)
    assert (heard.name, heard.silent_seconds, heard.limit_seconds) == ("writer", 4, 10)
    stethoscope.check([], 100)
    (heard,) = stethoscope.check([one], 4)
    assert heard.silent_seconds == 0
