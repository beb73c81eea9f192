"""What triggers a scan: demands, hints of events, questions that wait for it, and its time."""

import asyncio
import time

import pytest

from memoryd.domain.clock import Debounce
from memoryd.index.file_events import ANYTHING
from memoryd.index.triggers import ANY_CHANGE, NEVER, NOTHING, Demand, ScanTriggers
from tests.waiting import eventually_async


@pytest.fixture
def triggers() -> ScanTriggers:
    return ScanTriggers(Debounce(0.01, 0.02))


def never() -> bool:
    return False


async def test_demand_is_served_by_a_scan_that_begins_after_it(triggers: ScanTriggers) -> None:
    triggers.begin()
    ticket = triggers.demand()
    await triggers.serve()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await triggers.served(ticket)
    triggers.begin()
    await triggers.serve()
    await triggers.served(ticket)


async def test_sleep_ends_at_once_while_a_demand_waits(triggers: ScanTriggers) -> None:
    triggers.begin()
    triggers.demand()
    assert await has_ended(asyncio.ensure_future(triggers.wait(NEVER, unless=never)))


async def test_sleep_ends_with_the_debounce_of_a_hint(triggers: ScanTriggers) -> None:
    triggers.begin()
    waiting = asyncio.ensure_future(triggers.wait(NEVER, unless=never))
    await asyncio.sleep(0)
    triggers.hint()
    assert await has_ended(waiting)


async def test_sleep_ends_at_its_time(triggers: ScanTriggers) -> None:
    triggers.begin()
    assert await has_ended(asyncio.ensure_future(triggers.wait(time.monotonic() + 0.01, unless=never)))


async def test_sleep_ends_when_woken(triggers: ScanTriggers) -> None:
    triggers.begin()
    is_cut = asyncio.Event()
    waiting = asyncio.ensure_future(triggers.wait(NEVER, unless=is_cut.is_set))
    await asyncio.sleep(0)
    is_cut.set()
    triggers.wake()
    assert await has_ended(waiting)


async def has_ended(waiting: asyncio.Future[None]) -> bool:
    async with asyncio.timeout(60):
        await waiting
    return waiting.done()


async def test_questions_share_a_partial_scan_and_are_answered_before_demands(
    triggers: ScanTriggers,
) -> None:
    triggers.begin()
    triggers.take()
    ticket = triggers.ask(is_watched=True)
    assert triggers.ask(is_watched=True) == ticket
    await triggers.answer()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await triggers.answered(ticket)
    triggers.begin()
    assert triggers.take() == Demand(is_forced=False, trusts_times=True, is_asked=True, is_partial=True)
    assert triggers.ask(is_watched=True) > ticket
    await triggers.answer()
    await triggers.answered(ticket)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await triggers.served(ticket)


def test_scan_is_partial_only_for_watched_questions(triggers: ScanTriggers) -> None:
    triggers.take()
    triggers.ask(is_watched=True)
    assert triggers.next.is_partial
    triggers.ask(is_watched=False)
    assert not triggers.take().is_partial
    triggers.ask(is_watched=True)
    triggers.demand()
    assert not triggers.take().is_partial
    triggers.ask(is_watched=True)
    triggers.take_events(ANYTHING)
    assert not triggers.take().is_partial


async def test_partial_scan_does_not_end_the_debounce(triggers: ScanTriggers) -> None:
    triggers.take()
    triggers.hint()
    triggers.ask(is_watched=True)
    triggers.begin()
    assert triggers.take().is_partial
    await asyncio.sleep(0)
    await eventually_async(lambda: triggers.is_due(triggers.ticket))
    triggers.begin()
    assert not triggers.take().is_partial
    assert not triggers.is_due(triggers.ticket)


def test_changes_given_back_stay_unseen(triggers: ScanTriggers) -> None:
    triggers.take_events(ANYTHING)
    taken = triggers.take()
    triggers.unseen.begin()
    assert triggers.unseen.changes == ANY_CHANGE
    assert not triggers.unseen.is_waiting
    triggers.give_back(taken)
    assert triggers.unseen.is_waiting
    triggers.unseen.begin()
    triggers.unseen.end()
    assert triggers.unseen.changes == NOTHING


def test_options_of_a_demand_apply_to_one_scan(triggers: ScanTriggers) -> None:
    triggers.demand(is_forced=True)
    triggers.distrust_times()
    triggers.demand()
    assert triggers.take() == Demand(is_forced=True, trusts_times=False)
    assert triggers.take() == Demand(is_forced=False, trusts_times=True)


def test_clock_change_during_a_scan_applies_to_the_next(triggers: ScanTriggers) -> None:
    triggers.begin()
    triggers.take()
    triggers.distrust_times()
    assert triggers.is_due(triggers.ticket)
    triggers.begin()
    assert not triggers.take().trusts_times


def test_failed_demand_is_given_back(triggers: ScanTriggers) -> None:
    triggers.demand(is_forced=True)
    triggers.distrust_times()
    taken = triggers.take()
    assert taken == Demand(is_forced=True, trusts_times=False)
    assert triggers.take() == Demand(is_forced=False, trusts_times=True)
    triggers.give_back(taken)
    assert triggers.take() == taken
