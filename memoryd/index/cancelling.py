"""Breaking off what is under way."""

import asyncio
from collections.abc import Awaitable


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
