"""Blocking work away from the event loop: in a thread, cancellable, with pauses for other threads.

Python takes the interpreter from a busy thread after 5 ms. But NumPy lets it go by itself all the time, for moments too
short for another thread to wake up in, and each of them puts those 5 ms off: the event loop would wait for half a
second and more. A pause that is long enough to wake up in, every few milliseconds, costs a hundredth of the work.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import TypeVar

Done = TypeVar("Done")


async def in_thread(executor: Executor, work: Callable[[], Done]) -> Done:
    """Return what `work` returns, run in a thread of the pool; it goes on to its end even if nobody waits any more."""
    return await asyncio.get_running_loop().run_in_executor(executor, work)


class Cancellable:
    """Runs one thing at a time, which may be cancelled; then it ends as if it had been done."""

    def __init__(self) -> None:
        self._under_way: asyncio.Timeout | None = None

    async def run(self, work: Awaitable[None]) -> None:
        """Wait for `work`, or until it was cancelled and has ended."""
        try:
            async with asyncio.timeout(None) as under_way:
                self._under_way = under_way
                await work
        except TimeoutError:
            # one of the work's own is none of ours
            if not under_way.expired():
                raise
        finally:
            self._under_way = None

    def cancel(self) -> None:
        """Break off what is under way, if anything is."""
        # what was broken off takes a moment to end, and may be cancelled again meanwhile
        if self._under_way is not None and not self._under_way.expired():
            self._under_way.reschedule(asyncio.get_running_loop().time())


Item = TypeVar("Item")

WORK_SECONDS, PAUSE_SECONDS = 0.005, 0.000_1


def with_pauses(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, with a pause after so much CPU of this thread: while it waits, others have their turn anyway."""
    begun = time.thread_time()
    for item in items:
        yield item
        if time.thread_time() - begun > WORK_SECONDS:
            time.sleep(PAUSE_SECONDS)
            begun = time.thread_time()
