import asyncio
import time

import pytest

from memoryd.domain.clock import Debounce
from memoryd.index.file_events import ANYTHING
from memoryd.index.triggers import ANY_CHANGE, NEVER, NOTHING, Demand, Demands
from tests.waiting import eventually_async


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
    async with asyncio.timeout(60):
        await waiting
    return waiting.done()


async def test_questions_that_wait_for_a_look_share_it_and_are_answered_before_it_is_settled(demands: Demands) -> None:
    demands.begin()
    demands.take()
    ticket = demands.ask(is_heard=True)
    assert demands.ask(is_heard=True) == ticket
    await demands.answer()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await demands.answered(ticket)
    demands.begin()
    assert demands.take() == Demand(is_forced=False, trusts_times=True, is_asked=True, is_partial=True)
    assert demands.ask(is_heard=True) > ticket
    await demands.answer()
    await demands.answered(ticket)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await demands.served(ticket)


def test_files_that_events_named_are_enough_only_for_questions_that_heard_them(demands: Demands) -> None:
    demands.take()
    demands.ask(is_heard=True)
    assert demands.next.is_partial
    demands.ask(is_heard=False)
    assert not demands.take().is_partial
    demands.ask(is_heard=True)
    demands.demand()
    assert not demands.take().is_partial
    demands.ask(is_heard=True)
    demands.hear(ANYTHING)
    assert not demands.take().is_partial


async def test_look_at_some_files_leaves_the_debounce_to_run(demands: Demands) -> None:
    demands.take()
    demands.hint()
    demands.ask(is_heard=True)
    demands.begin()
    assert demands.take().is_partial
    await asyncio.sleep(0)
    await eventually_async(lambda: demands.is_due(demands.ticket))
    demands.begin()
    assert not demands.take().is_partial
    assert not demands.is_due(demands.ticket)


def test_what_could_not_be_looked_at_is_told_still(demands: Demands) -> None:
    demands.hear(ANYTHING)
    taken = demands.take()
    demands.unseen.begin()
    assert demands.unseen.changes == ANY_CHANGE
    assert not demands.unseen.is_waiting
    demands.give_back(taken)
    assert demands.unseen.is_waiting
    demands.unseen.begin()
    demands.unseen.end()
    assert demands.unseen.changes == NOTHING


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
