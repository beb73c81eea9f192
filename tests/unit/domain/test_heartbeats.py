"""Heartbeats: idle, working and stalled parts."""

import pytest

from memoryd.domain.clock import HeartbeatChecker, HeartState, MonitoredPart, Pulse


def part(limit: float = 10.0) -> MonitoredPart:
    return MonitoredPart("writer", Pulse(), limit)


def state(checker: HeartbeatChecker, monitored: MonitoredPart, seconds: float) -> HeartState:
    (report,) = checker.check([monitored], seconds)
    return report.state


def test_idle_part_never_stalls() -> None:
    writer, checker = part(), HeartbeatChecker()
    assert {state(checker, writer, 1e6) for _ in range(3)} == {HeartState.IDLE}


def test_silent_working_part_stalls_after_limit() -> None:
    writer, checker = part(), HeartbeatChecker()
    writer.pulse.begin()
    assert [state(checker, writer, 6) for _ in range(3)] == [
        HeartState.WORKING,
        HeartState.WORKING,
        HeartState.STALLED,
    ]


def test_f124_busy_part_that_beats_is_alive() -> None:
    """Work of hours that beats within each limit never counts as stalled."""
    writer, checker = part(), HeartbeatChecker()
    with writer.pulse.work():
        for _ in range(1000):
            assert state(checker, writer, 9) is HeartState.WORKING
            writer.pulse.beat()
    assert state(checker, writer, 9) is HeartState.IDLE


def test_stalled_part_recovers_with_next_beat() -> None:
    writer, checker = part(), HeartbeatChecker()
    writer.pulse.begin()
    state(checker, writer, 0)
    assert state(checker, writer, 11) is HeartState.STALLED
    writer.pulse.beat()
    assert state(checker, writer, 11) is HeartState.WORKING


def test_failed_work_ends() -> None:
    writer = part()
    with pytest.raises(ValueError, match="a fault"), writer.pulse.work():
        raise ValueError("a fault")
    assert writer.pulse.tasks == 0


def test_report_has_silence_which_restarts_for_new_part() -> None:
    writer, checker = part(), HeartbeatChecker()
    writer.pulse.begin()
    checker.check([writer], 0)
    (report,) = checker.check([writer], 4)
    assert (report.name, report.silent_seconds, report.limit_seconds) == ("writer", 4, 10)
    checker.check([], 100)
    (report,) = checker.check([writer], 4)
    assert report.silent_seconds == 0
