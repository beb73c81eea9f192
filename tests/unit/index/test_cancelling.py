import asyncio

import pytest

from memoryd.index.threads import Cancellable


async def test_what_is_cancelled_ends_and_nobody_hears_of_it() -> None:
    cancellable, ended = Cancellable(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancellable.cancel()
            # it takes a moment to end, and may be cancelled meanwhile
            await asyncio.sleep(0)
            ended.set()

    running = asyncio.ensure_future(cancellable.run(work()))
    await asyncio.sleep(0)
    cancellable.cancel()
    await running
    assert ended.is_set()


async def test_nothing_under_way_needs_no_cancelling() -> None:
    cancellable = Cancellable()
    cancellable.cancel()
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    await cancellable.run(work())
    assert done


async def test_time_that_the_work_itself_ran_out_of_is_its_failure() -> None:
    async def work() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await Cancellable().run(work())
