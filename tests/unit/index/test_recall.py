import asyncio

import pytest

from memoryd.index.recall import Recall


async def test_what_is_called_back_ends_and_nobody_hears_of_it() -> None:
    recall, ended = Recall(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            recall.call_back()
            # it takes a moment to end, and may be called back meanwhile
            await asyncio.sleep(0)
            ended.set()

    running = asyncio.ensure_future(recall.run(work()))
    await asyncio.sleep(0)
    recall.call_back()
    await running
    assert ended.is_set()


async def test_nothing_under_way_needs_no_calling_back() -> None:
    recall = Recall()
    recall.call_back()
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    await recall.run(work())
    assert done


async def test_time_that_the_work_itself_ran_out_of_is_its_failure() -> None:
    async def work() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await Recall().run(work())
