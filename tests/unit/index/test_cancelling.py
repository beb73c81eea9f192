"""Work that can be cancelled without its caller noticing."""

import asyncio

import pytest

from memoryd.index.threads import Cancellable


async def test_cancelled_work_ends_without_an_error() -> None:
    cancellable, ended = Cancellable(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancellable.cancel()
            # it takes a moment to end, and may be cancelled again meanwhile
            await asyncio.sleep(0)
            ended.set()

    running = asyncio.ensure_future(cancellable.run(work()))
    await asyncio.sleep(0)
    cancellable.cancel()
    await running
    assert ended.is_set()


async def test_cancelling_without_running_work_does_nothing() -> None:
    cancellable = Cancellable()
    cancellable.cancel()
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    await cancellable.run(work())
    assert done


async def test_timeout_of_the_work_itself_is_raised() -> None:
    async def work() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await Cancellable().run(work())
