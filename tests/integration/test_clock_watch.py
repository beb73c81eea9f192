"""Watching the clocks, with fake clocks."""

import asyncio
from collections.abc import Iterator

from memoryd.daemon.heartbeats import read_clocks, watch_clocks
from memoryd.domain.clock import Clocks, Jump
from tests.waiting import eventually_async

PAUSE = 0.01


def clocks() -> Iterator[Clocks]:
    """Yield clocks: the machine sleeps an hour after the first reading, the time is set back after the third."""
    yield Clocks(0.0, 0.0, 1_000_000.0)
    yield Clocks(PAUSE, PAUSE + 3600, 1_000_000.0 + PAUSE + 3600)
    yield Clocks(2 * PAUSE, 2 * PAUSE + 3600, 1_000_000.0 + 2 * PAUSE + 3600)
    count = 3
    while True:
        yield Clocks(count * PAUSE, count * PAUSE + 3600, 1_000_000.0 + count * PAUSE)
        count += 1


async def test_each_jump_is_reported_once() -> None:
    jumps: list[Jump] = []
    readings = clocks()
    reads = 0

    def read() -> Clocks:
        nonlocal reads
        reads += 1
        return next(readings)

    task = asyncio.create_task(watch_clocks(jumps.append, read=read, pause_seconds=PAUSE))
    await eventually_async(lambda: reads > 6)
    task.cancel()
    assert [it.reason for it in jumps] == ["the machine slept for 3600 s", "the clock was set back by 3600 s"]
    assert [it.was_set_back for it in jumps] == [False, True]


async def test_system_clocks_advance() -> None:
    first, second = read_clocks(), read_clocks()
    assert first.running <= second.running
    assert first.running <= first.elapsed + 1
    assert first.wall <= second.wall
