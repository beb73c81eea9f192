import pytest
from msgspec.structs import replace

from memoryd.domain.clock import Clocks, Jump, jump

BEFORE = Clocks(running=100.0, elapsed=500.0, wall=1_700_000_000.0)
PAUSE = 2.0


def after(running: float, elapsed: float, wall: float) -> Clocks:
    return Clocks(BEFORE.running + running, BEFORE.elapsed + elapsed, BEFORE.wall + wall)


@pytest.mark.parametrize("late", [0.0, 0.9])
@pytest.mark.parametrize("slewed", [-0.01, 0.0, 0.01])
def test_slightly_late_pause_is_no_jump(late: float, slewed: float) -> None:
    passed = PAUSE + late
    assert jump(BEFORE, after(passed, passed, passed + slewed), PAUSE) is None


def test_machine_sleep_differs_from_stopped_process() -> None:
    assert jump(BEFORE, after(2.0, 3_602.0, 3_602.0), PAUSE) == Jump("the machine slept for 3600 s")
    assert jump(BEFORE, after(62.0, 62.0, 62.0), PAUSE) == Jump("the process was stopped for 60 s")


def test_changed_time_of_day_has_a_direction() -> None:
    assert jump(BEFORE, after(2, 2, 92), PAUSE) == Jump("the clock was set forward by 90 s")
    assert jump(BEFORE, after(2, 2, -88), PAUSE) == Jump("the clock was set back by 90 s", was_set_back=True)


def test_clock_set_back_during_sleep_is_detected() -> None:
    found = jump(BEFORE, replace(after(2, 3_602, 0), wall=BEFORE.wall - 60), PAUSE)
    assert found is not None
    assert found.was_set_back
