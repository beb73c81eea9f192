"""Reads files in batches and commits what they hold; what a round has no time for is left to the next ones.

A first index of many files takes minutes. What is saved or asked for meanwhile does not wait for it: between two
batches a round ends, and the next one begins with what is new.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Executor

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.clock import Pulse
from memoryd.domain.documents import FileStat, RelativePath
from memoryd.index.committing import Committer
from memoryd.index.reading import (
    READ_AHEAD_BYTES,
    READ_AHEAD_FILES,
    Reading,
    ReadStatus,
    ScanCycle,
    queued,
    read_under_the_rules,
)
from memoryd.index.state import FileTable, SyncReporter
from memoryd.index.threads import in_thread
from memoryd.index.triggers import ScanTriggers

BATCH_SECONDS = 1.0
"""How long a batch may take, since what is saved meanwhile waits for the end of it; fewer files are in one then."""
FEWEST_FILES = 8
"""In a batch, however slow the machine is: each has a transaction of its own."""


class BatchReader(Struct, kw_only=True):
    """Reads and commits for one indexer; each batch is a sign of `pulse`."""

    executor: Executor
    table: FileTable
    triggers: ScanTriggers
    reporter: SyncReporter
    committer: Committer
    pulse: Pulse
    _rest: dict[RelativePath, bool] = {}
    """What was left, and whether each is to be cut anew whatever it holds."""
    _left: Mapping[RelativePath, FileStat] = {}
    """The files as the round saw them that left it."""
    _most_files: int = READ_AHEAD_FILES
    """So many are read and committed in time, as fast as it went last."""

    @property
    def rest(self) -> Set[RelativePath]:
        """What is left of earlier rounds, whose plans named it."""
        return self._rest.keys()

    @property
    def is_forced(self) -> bool:
        """Whether one of these files is to be cut anew, whatever it holds."""
        return any(self._rest.values())

    def is_fresh(self, path: RelativePath, work: ScanCycle) -> bool:
        """Tell whether a file is to be read for another reason than that it was left, or in another way."""
        if path not in self._rest or (work.is_forced and not self._rest[path]):
            return True
        return self._left.get(path) != work.seen.files[path]

    async def read(
        self,
        paths: Sequence[RelativePath],
        work: ScanCycle,
        most_bytes: int = READ_AHEAD_BYTES,
        *,
        is_over: Callable[[], bool] = lambda: False,
    ) -> list[RelativePath]:
        """Read files and commit what they hold, until it is over; return those that changed meanwhile."""
        again: list[RelativePath] = []
        batches = work.batches(paths, most_bytes, lambda: self._most_files)
        readings = await self._read(work, next(batches, []))
        while readings:
            batch, began = [] if is_over() else next(batches, []), time.monotonic()
            # one thread writes while another reads ahead; if the commit fails, what is read ahead is dropped with it
            ahead, _ = await asyncio.gather(self._read(work, batch), self.committer.commit(readings, work))
            self._note_pace(len(readings), time.monotonic() - began)
            again += [reading.path for reading in readings if reading.status is ReadStatus.AGAIN]
            self.pulse.beat()
            self.reporter.note_read([reading.path for reading in readings if reading.status is not ReadStatus.AGAIN])
            for reading in readings:
                if work.is_forced or not self._rest.get(reading.path):
                    self._rest.pop(reading.path, None)
            readings = ahead
        return again

    async def read_rest(
        self, later: Sequence[RelativePath], work: ScanCycle, *, without: Set[RelativePath], least: float
    ) -> list[RelativePath]:
        """Do the same with `later` and all that is left, `without` some, until there is news.

        At least for the seconds `least`, and for one batch: however often somebody asks, there is an end.
        """
        self._rest = queued(self._rest, later, work)
        for path in without:
            self._rest.pop(path, None)
        self._left, until = work.seen.files, time.monotonic() + least
        again: list[RelativePath] = []
        for is_forced in {*self._rest.values()}:
            cycle = replace(work, held=self.table.view(is_forced=is_forced), came_from={}, is_forced=is_forced)
            paths = [path for path, forced in self._rest.items() if forced is is_forced]
            again += await self.read(
                paths, cycle, is_over=lambda: time.monotonic() >= until and self.triggers.has_news()
            )
        return again

    def _note_pace(self, files: int, seconds: float) -> None:
        in_time = READ_AHEAD_FILES if seconds <= 0 else int(files * BATCH_SECONDS / seconds)
        self._most_files = min(max(in_time, FEWEST_FILES), READ_AHEAD_FILES)

    async def _read(self, work: ScanCycle, batch: Sequence[RelativePath]) -> list[Reading]:
        return await in_thread(self.executor, lambda: read_under_the_rules(work, batch))
