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

    async def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made in a thread where it is not known."""
        known = self._known.pop(key, None)
        if known is None:
            known = await asyncio.get_running_loop().run_in_executor(self._executor, make)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
        # what was asked for last goes last
        self._known[key] = known
        return known
