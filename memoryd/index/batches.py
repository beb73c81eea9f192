"""Reads files in batches and commits them; files that a round has no time for are left to the next rounds.

The first index of many files takes minutes. Notes saved and queries made during that time do not wait for it: the round
ends between two batches, and the next round begins with the new files.
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
"""How long a batch may take, since a newly saved file waits for its end; on slow machines batches have fewer files."""
MIN_FILES = 8
"""Fewest files in a batch, however slow the machine is: each batch has its own transaction."""


class BatchReader(Struct, kw_only=True):
    """Reads and commits batches for one indexer; `pulse` beats after each batch."""

    executor: Executor
    table: FileTable
    triggers: ScanTriggers
    reporter: SyncReporter
    committer: Committer
    pulse: Pulse
    _rest: dict[RelativePath, bool] = {}
    """Files left to read; True if the file is to be cut again even if unchanged."""
    _left: Mapping[RelativePath, FileStat] = {}
    """The files as seen by the round that left them."""
    _max_files: int = READ_AHEAD_FILES
    """How many files a batch may have to end in time, at the last pace."""

    @property
    def rest(self) -> Set[RelativePath]:
        """Files left to read by earlier rounds."""
        return self._rest.keys()

    @property
    def is_forced(self) -> bool:
        """Whether any of these files is to be cut again even if unchanged."""
        return any(self._rest.values())

    def is_fresh(self, path: RelativePath, work: ScanCycle) -> bool:
        """Return whether a file is new to the backlog, has changed since, or is now to be cut again."""
        if path not in self._rest or (work.is_forced and not self._rest[path]):
            return True
        return self._left.get(path) != work.seen.files[path]

    async def read(
        self,
        paths: Sequence[RelativePath],
        work: ScanCycle,
        max_bytes: int = READ_AHEAD_BYTES,
        *,
        is_over: Callable[[], bool] = lambda: False,
    ) -> list[RelativePath]:
        """Read files and commit them until `is_over`; return those that changed while they were read."""
        again: list[RelativePath] = []
        batches = work.batches(paths, max_bytes, lambda: self._max_files)
        readings = await self._read(work, next(batches, []))
        while readings:
            batch, began = [] if is_over() else next(batches, []), time.monotonic()
            # one thread writes while another reads ahead; if the commit fails, the batch read ahead is dropped, too
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
        self, later: Sequence[RelativePath], work: ScanCycle, *, excluded: Set[RelativePath], min_seconds: float
    ) -> list[RelativePath]:
        """Add `later` to the files left, except those in `excluded`, and read and commit them until there is news.

        Continues for at least `min_seconds` and one batch, so that frequent queries cannot stop progress.
        """
        self._rest = queued(self._rest, later, work)
        for path in excluded:
            self._rest.pop(path, None)
        self._left, until = work.seen.files, time.monotonic() + min_seconds
        again: list[RelativePath] = []
        for is_forced in {*self._rest.values()}:
            cycle = replace(work, known=self.table.view(is_forced=is_forced), old_paths={}, is_forced=is_forced)
            paths = [path for path, forced in self._rest.items() if forced is is_forced]
            again += await self.read(
                paths, cycle, is_over=lambda: time.monotonic() >= until and self.triggers.has_news()
            )
        return again

    def _note_pace(self, files: int, seconds: float) -> None:
        in_time = READ_AHEAD_FILES if seconds <= 0 else int(files * BATCH_SECONDS / seconds)
        self._max_files = min(max(in_time, MIN_FILES), READ_AHEAD_FILES)

    async def _read(self, work: ScanCycle, batch: Sequence[RelativePath]) -> list[Reading]:
        return await in_thread(self.executor, lambda: read_under_the_rules(work, batch))
