"""Counting the Markdown files of a workspace where nobody looks, so that status can say that there are some."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor

from memoryd.domain.documents import OutsideCount
from memoryd.files.roots import count_outside
from memoryd.files.scanner import Scan, ScanRules

SHARE = 0.01
"""Of the time may be spent on counting."""


class OutsideCounter:
    """Counts after each scan; `found` is what the last count found."""

    def __init__(self, rules: Callable[[], ScanRules], executor: Executor) -> None:
        self.found = OutsideCount()
        self._rules = rules
        self._executor = executor
        self._scanned: asyncio.Queue[Scan] = asyncio.Queue(maxsize=1)

    def note_scan(self, seen: Scan) -> None:
        """Take a scan; only the latest one is counted beside."""
        # one that is waiting is older, and nobody has begun with it
        if self._scanned.full():
            self._scanned.get_nowait()
        self._scanned.put_nowait(seen)

    async def run(self, share: float = SHARE) -> None:
        """Count until cancelled, for at most a `share` of the time."""
        while True:
            seen = await self._scanned.get()
            # scans may come faster than this: it must not take the threads that they and the answers need
            began = time.monotonic()
            self.found = await asyncio.get_running_loop().run_in_executor(
                self._executor, lambda seen: count_outside(seen, self._rules()), seen
            )
            await asyncio.sleep((time.monotonic() - began) / share)
