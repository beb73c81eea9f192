"""Pauses in long work."""

import pytest

from memoryd.index import threads
from memoryd.index.threads import PAUSE_SECONDS, WORK_SECONDS, with_pauses


class Clock:
    """Goes on by what the work takes, and by its pauses."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def test_all_items_come_in_order() -> None:
    assert list(with_pauses(range(1000))) == list(range(1000))
    assert list(with_pauses([])) == []


@pytest.mark.parametrize(("share", "pauses"), [(0.0, 0), (0.26, 25), (2.0, 100)])
def test_pauses_come_with_the_work_that_is_done(monkeypatch: pytest.MonkeyPatch, share: float, pauses: int) -> None:
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    for _ in with_pauses(range(100)):
        clock.now += share * WORK_SECONDS
    assert clock.pauses == [PAUSE_SECONDS] * pauses
