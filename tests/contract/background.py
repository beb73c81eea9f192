"""Work of an event loop that runs while a test asks something."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from memoryd.errors import MemorydError

Answer = TypeVar("Answer")


@asynccontextmanager
async def in_background(work: Coroutine[object, object, object]) -> AsyncIterator[None]:
    """Run `work` as a task until the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def eventually_answers(ask: Callable[[], Awaitable[Answer]], refusal: type[MemorydError]) -> Answer:
    """Ask again after each `refusal` until the back-off is over."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await ask()
            except refusal:
                await asyncio.sleep(0.02)
