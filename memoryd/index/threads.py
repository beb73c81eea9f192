"""Work that blocks, away from the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

Done = TypeVar("Done")


async def in_thread(executor: Executor, work: Callable[[], Done]) -> Done:
    """Return what `work` returns, run in a thread of the pool; it goes on to its end even if nobody waits any more."""
    return await asyncio.get_running_loop().run_in_executor(executor, work)
