"""The look at the clocks, with clocks of its own."""

import asyncio
from collections.abc import Iterator

from memoryd.daemon.heartbeats import read_clocks, watch_clocks
from memoryd.domain.clock import Clocks, Jump
from tests.waiting import eventually_async

PAUSE = 0.01


def clocks() -> Iterator[Clocks]:
    """As the machine sleeps for an hour after the first look, and the time of day is set back after the third."""
    yield Clocks(0.0, 0.0, 1_000_000.0)
    yield Clocks(PAUSE, PAUSE + 3600, 1_000_000.0 + PAUSE + 3600)
    yield Clocks(2 * PAUSE, 2 * PAUSE + 3600, 1_000_000.0 + 2 * PAUSE + 3600)
    count = 3
    while True:
        yield Clocks(count * PAUSE, count * PAUSE + 3600, 1_000_000.0 + count * PAUSE)
        count += 1


async def test_each_jump_is_told_once() -> None:
    told: list[Jump] = []
    turn = clocks()
    looks = 0

    def look() -> Clocks:
        nonlocal looks
        looks += 1
        return next(turn)

    task = asyncio.create_task(watch_clocks(told.append, read=look, pause_seconds=PAUSE))
    await eventually_async(lambda: looks > 6)
    task.cancel()
    assert [it.reason for it in told] == ["the machine slept for 3600 s", "the clock was set back by 3600 s"]
    assert [it.was_set_back for it in told] == [False, True]


async def test_clocks_of_the_system_go_on() -> None:
    first, second = read_clocks(), read_clocks()
    assert first.running <= second.running
    assert first.running <= first.elapsed + 1
    assert first.wall <= second.wall
