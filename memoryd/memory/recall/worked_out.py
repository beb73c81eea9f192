"""What was worked out in a thread for one book, remembered for the questions that ask for the same."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from typing import Final, Generic, TypeVar

MOST: Final = 16

Value = TypeVar("Value")


class WorkedOut(Generic[Value]):
    """The last `MOST` values, by their keys."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known: dict[Hashable, Value] = {}
        self._running: dict[Hashable, asyncio.Future[Value]] = {}

    async def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made in a thread where it is not known; once, for whoever waits for it.

        A question that is out of time leaves it to the next one: begun anew each time, what takes longer than a
        question may would never be done.
        """
        if key not in self._known:
            running = self._running.get(key)
            if running is None:
                running = asyncio.get_running_loop().run_in_executor(self._executor, make)
                self._running[key] = running
                running.add_done_callback(lambda done: self._keep(key, done))
            return await asyncio.shield(running)
        # what was asked for last goes last
        known = self._known[key] = self._known.pop(key)
        return known

    def _keep(self, key: Hashable, done: "asyncio.Future[Value]") -> None:
        self._running.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[key] = done.result()
