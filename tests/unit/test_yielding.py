"""Pauses in long work, so that other threads can run."""

import pytest

from memoryd.index import threads
from memoryd.index.threads import PAUSE_SECONDS, WORK_SECONDS, with_pauses


class Clock:
    """A clock of thread time, and of wall time with pauses and waits for the processor."""

    def __init__(self) -> None:
        self.worked = self.waited = 100.0
        self.pauses: list[float] = []

    def thread_time(self) -> float:
        return self.worked

    def monotonic(self) -> float:
        return self.worked + self.waited

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.waited += seconds


def test_all_items_come_in_order() -> None:
    assert list(with_pauses(range(1000))) == list(range(1000))
    assert list(with_pauses([])) == []


@pytest.mark.parametrize(("share", "pauses"), [(0.0, 0), (0.26, 25), (2.0, 100)])
def test_pauses_follow_the_work_done(monkeypatch: pytest.MonkeyPatch, share: float, pauses: int) -> None:
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    for _ in with_pauses(range(100)):
        clock.worked += share * WORK_SECONDS
    assert clock.pauses == [PAUSE_SECONDS] * pauses


def test_waiting_for_the_processor_does_not_count_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    for _ in with_pauses(range(100)):
        clock.worked += 0.26 * WORK_SECONDS
        clock.waited += 5 * WORK_SECONDS
    assert len(clock.pauses) == 25
