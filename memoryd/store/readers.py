"""The read-only connections to a database: who asks takes one that is free, and waits while the file is opened anew."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

import apsw

from memoryd.errors import StoreUnavailable
from memoryd.store.file_opening import READERS
from memoryd.store.running import INTERRUPT_SECONDS, Returned, Runner

REOPEN_SECONDS = 5.0
"""How long a question waits at most for a file that is being opened anew."""


class Readers:
    """Runs questions, as many at once as there are connections; each on a thread of its own."""

    def __init__(self, runner: Runner) -> None:
        self.is_open = False
        self._runner = runner
        self._idle: list[apsw.Connection] = []
        self._busy: list[apsw.Connection] = []
        self._places = asyncio.Semaphore(READERS)
        self._is_settled = asyncio.Event()
        """Cleared while the file is being opened anew: whoever asks meanwhile waits for the outcome."""
        self._is_settled.set()

    def attach(self, connections: Sequence[apsw.Connection]) -> None:
        """Take connections that are open, of which nobody gets one before `is_open` is set."""
        self._idle = list(connections)

    async def run(self, work: Callable[[apsw.Connection], Returned]) -> Returned:
        """Run `work` on a connection; when the caller is cancelled, the query is interrupted."""
        end = time.monotonic() + REOPEN_SECONDS
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(end - time.monotonic()):
                    await self._is_settled.wait()
            async with self._places:
                # It may have begun to be opened anew in between. Nobody waits for that in a place: closing waits
                # until all places are free.
                if self.is_open or self._is_settled.is_set() or time.monotonic() >= end:
                    return await self._run(work)

    async def _run(self, work: Callable[[apsw.Connection], Returned]) -> Returned:
        if not self.is_open:
            raise StoreUnavailable(self._runner.wording.not_open)
        # whoever has a place finds a connection: there are as many of the one as of the other
        reader = self._idle.pop()
        self._busy.append(reader)
        try:
            return await self._runner.run(work, reader, interrupt=reader.interrupt)
        finally:
            self._busy.remove(reader)
            self._idle.append(reader)

    @contextlib.contextmanager
    def holding_back(self) -> Iterator[None]:
        """Let whoever asks wait until the end of the block."""
        self._is_settled.clear()
        try:
            yield
        finally:
            self._is_settled.set()

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[list[apsw.Connection]]:
        """Interrupt what runs, wait for it, and give the connections away to be closed; nothing runs in the block."""
        self.is_open = False
        for _ in range(READERS):
            while not await self._has_place():
                # again and again: a query that has not begun yet does not notice
                for reader in self._busy:
                    reader.interrupt()
        readers, self._idle = self._idle, []
        try:
            yield readers
        finally:
            for _ in range(READERS):
                self._places.release()

    async def _has_place(self) -> bool:
        try:
            async with asyncio.timeout(INTERRUPT_SECONDS):
                return await self._places.acquire()
        except TimeoutError:
            return False
