import asyncio
import time

import pytest

from memoryd.domain.debounce import Debounce
from memoryd.index.demands import NEVER, Demand, Demands


@pytest.fixture
def demands() -> Demands:
    return Demands(Debounce(0.01, 0.02))


def never() -> bool:
    return False


async def test_demand_is_served_by_a_round_that_begins_after_it(demands: Demands) -> None:
    demands.begin()
    ticket = demands.demand()
    await demands.serve()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await demands.served(ticket)
    demands.begin()
    await demands.serve()
    await demands.served(ticket)


async def test_nobody_sleeps_while_a_demand_waits(demands: Demands) -> None:
    demands.begin()
    demands.demand()
    assert await has_ended(asyncio.ensure_future(demands.wait(NEVER, unless=never)))


async def test_sleep_ends_with_the_debounce_of_a_hint(demands: Demands) -> None:
    demands.begin()
    waiting = asyncio.ensure_future(demands.wait(NEVER, unless=never))
    await asyncio.sleep(0)
    demands.hint()
    assert await has_ended(waiting)


async def test_sleep_ends_at_its_time(demands: Demands) -> None:
    demands.begin()
    assert await has_ended(asyncio.ensure_future(demands.wait(time.monotonic() + 0.01, unless=never)))


async def test_sleep_ends_when_it_is_woken_for_something(demands: Demands) -> None:
    demands.begin()
    is_cut = asyncio.Event()
    waiting = asyncio.ensure_future(demands.wait(NEVER, unless=is_cut.is_set))
    await asyncio.sleep(0)
    is_cut.set()
    demands.wake()
    assert await has_ended(waiting)


async def has_ended(waiting: asyncio.Future[None]) -> bool:
    async with asyncio.timeout(5):
        await waiting
    return waiting.done()


def test_how_to_look_is_said_once(demands: Demands) -> None:
    demands.demand(is_forced=True)
    demands.distrust_times()
    demands.demand()
    assert demands.take() == Demand(is_forced=True, trusts_times=False)
    assert demands.take() == Demand(is_forced=False, trusts_times=True)


def test_clock_that_is_set_back_during_a_look_is_for_the_next_one(demands: Demands) -> None:
    demands.begin()
    demands.take()
    demands.distrust_times()
    assert demands.is_due(demands.ticket)
    demands.begin()
    assert not demands.take().trusts_times


def test_demand_that_could_not_be_met_is_given_back(demands: Demands) -> None:
    demands.demand(is_forced=True)
    demands.distrust_times()
    taken = demands.take()
    assert taken == Demand(is_forced=True, trusts_times=False)
    assert demands.take() == Demand(is_forced=False, trusts_times=True)
    demands.give_back(taken)
    assert demands.take() == taken
