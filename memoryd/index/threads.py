"""Blocking work outside the event loop: in a thread, cancellable, with pauses for other threads.

Python takes the interpreter lock from a busy thread after 5 ms. But NumPy keeps releasing it for moments too short for
another thread to wake up, and each release restarts the 5 ms, so the event loop would wait for half a second or more.
A pause long enough to wake up in, every few milliseconds, costs a hundredth of the work.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import TypeVar

Done = TypeVar("Done")


async def in_thread(executor: Executor, work: Callable[[], Done]) -> Done:
    """Run `work` in a thread of the pool and return its result; it runs to its end even if the caller is cancelled."""
    return await asyncio.get_running_loop().run_in_executor(executor, work)


class Cancellable:
    """Runs one awaitable at a time; if it is cancelled, `run` returns normally."""

    def __init__(self) -> None:
        self._timeout: asyncio.Timeout | None = None

    async def run(self, work: Awaitable[None]) -> None:
        """Await `work`, or its end after `cancel`."""
        try:
            async with asyncio.timeout(None) as timeout:
                self._timeout = timeout
                await work
        except TimeoutError:
            # a TimeoutError of the work itself
            if not timeout.expired():
                raise
        finally:
            self._timeout = None

    def cancel(self) -> None:
        """Cancel the running work, if any."""
        # it takes a moment to end, and may be cancelled again until then
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())


Item = TypeVar("Item")

WORK_SECONDS, PAUSE_SECONDS = 0.005, 0.000_1


def with_pauses(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, with a pause after each `WORK_SECONDS` of CPU time of this thread."""
    start = time.thread_time()
    for item in items:
        yield item
        if time.thread_time() - start > WORK_SECONDS:
            time.sleep(PAUSE_SECONDS)
            start = time.thread_time()
