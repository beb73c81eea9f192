"""The commit of a large note, which takes seconds, and lets smaller ones pass."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memoryd.domain.text.entries import ChunkEntry
from memoryd.index.demands import Demands
from memoryd.index.large import Cut
from memoryd.index.reading import Reading
from memoryd.index.round import Round
from memoryd.store.index.documents import Entries

MAX_YIELDS = 3
"""So often the commit of a large note is put off for smaller ones; then they wait for it."""


class PutOffError(Exception):
    """The commit of a large note was broken off, since smaller ones came."""


@dataclass(frozen=True, slots=True)
class Stoppable:
    """Entries whose commit can be broken off; raises PutOffError then."""

    entries: Entries
    stop: threading.Event = field(default_factory=threading.Event)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[ChunkEntry]:
        for entry in self.entries:
            if self.stop.is_set():
                raise PutOffError
            yield entry


class InterruptibleCommit:
    """Commits a large note wholly, or, if small ones come before that is done, not at all."""

    def __init__(
        self,
        *,
        demands: Demands,
        commit: Callable[[Sequence[Reading], Round], Awaitable[None]],
        has_newcomers: Callable[[], Awaitable[bool]],
    ) -> None:
        self._demands = demands
        self._commit = commit
        self._has_newcomers = has_newcomers

    async def run(self, reading: Reading, cut: Cut) -> bool:
        """Commit a note that was cut, and tell whether that was done."""
        entries, is_over = Stoppable(reading.chunks), asyncio.Event()

        async def commit() -> bool:
            try:
                await self._commit([replace(reading, chunks=entries)], cut.work)
            except PutOffError:
                # raised within the transaction, which is rolled back as a whole
                return False
            finally:
                is_over.set()
                self._demands.wake()
            return True

        async def look_out() -> None:
            try:
                await self._look_out(cut.yields, is_over)
            finally:
                entries.stop.set()

        # both to their end, also when one fails: a look that went on would run beside that of the next round
        is_done, looked = await asyncio.gather(commit(), look_out(), return_exceptions=True)
        for failure in (is_done, looked):
            if isinstance(failure, BaseException):
                raise failure
        return is_done is True

    async def _look_out(self, yields: int, is_over: asyncio.Event) -> None:
        """Return when the commit is over, or when smaller notes are to be read before it is."""
        ticket, has_looked = self._demands.ticket, False
        try:
            while not is_over.is_set():
                if yields >= MAX_YIELDS:
                    await self._demands.wait_for_wake()
                elif self._demands.is_due(ticket):
                    ticket, has_looked = self._demands.turn_to_newcomers(), True
                    if await self._has_newcomers():
                        return
                    # no sleep before `is_over` is asked: the commit may have ended meanwhile, and woken nobody
                else:
                    await self._demands.wait_for_hints()
        finally:
            if has_looked:
                # the hints that were taken for heard here are still to be followed by a round
                self._demands.hint()
