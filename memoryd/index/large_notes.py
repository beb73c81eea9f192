"""Large notes: read and cut aside, one at a time, and committed between the rounds of the indexer."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Set
from concurrent.futures import Executor

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.index.reading import Reading, ReadStatus, ScanCycle, may_follow, read_under_the_rules
from memoryd.index.threads import in_thread


class Cut(Struct):
    """A large note that is read and cut aside."""

    path: RelativePath
    work: ScanCycle
    readings: "asyncio.Future[list[Reading]]"
    give_up: threading.Event
    yields: int = 0
    """How often its commit was put off."""


class LargeNotes(Struct, kw_only=True):
    """The large notes that are to be read, and the one that is being cut.

    `commit` commits one wholly or not at all and tells which; `on_cut` is called when one is cut.
    """

    executor: Executor
    commit: Callable[[Reading, Cut], Awaitable[bool]]
    on_cut: Callable[[], None]
    _cut: Cut | None = None
    _queue: dict[RelativePath, bool] = field(default_factory=dict)
    """Those that are to be read, and whether they are to be cut anew whatever they hold."""

    @property
    def queued(self) -> Set[RelativePath]:
        """The paths of those that are to be read."""
        return self._queue.keys()

    @property
    def is_forced(self) -> bool:
        """Whether one of them is to be cut anew, whatever it holds."""
        return any(self._queue.values())

    @property
    def is_cut(self) -> bool:
        """Whether one is cut, or its cutting has ended."""
        return self._cut is not None and self._cut.readings.done()

    def queue(self, paths: Iterable[RelativePath], work: ScanCycle) -> None:
        """Have those of the paths that are large read, and forget what is no longer on disk."""
        self._queue = {path: is_forced for path, is_forced in self._queue.items() if path in work.seen.files}
        self._queue |= {path: work.is_forced for path in paths if work.is_large(path) and not self._queue.get(path)}

    def drop(self) -> None:
        """Let go of what is cut, and have the cutting end."""
        if self._cut is not None:
            self._cut.give_up.set()
            if self._cut.readings.done():
                self._cut = None

    async def advance(self, work: ScanCycle) -> list[RelativePath]:
        """Have one note read and cut aside, or commit one that is; return it if it changed while it was read.

        So the loop goes on meanwhile, and a small note that is saved is found within moments.
        """
        cut, again = self._cut, []
        if cut is not None:
            is_wanted = not cut.give_up.is_set() and self._queue.get(cut.path) == cut.work.is_forced
            if not is_wanted:
                cut.give_up.set()
            if not cut.readings.done():
                # also one that nobody wants is waited for: two at once would hold two large notes in memory
                return []
            (reading,) = await cut.readings
            if is_wanted and await in_thread(self.executor, lambda: may_follow(reading, cut.work)):
                if not await self.commit(reading, cut):
                    cut.yields += 1
                    return []
                again = [cut.path] if reading.status is ReadStatus.AGAIN else []
                # it may have been saved again while it was cut
                if reading.known is None or reading.known.stat == work.seen.files[cut.path]:
                    del self._queue[cut.path]
        self.drop()
        if self._queue:
            self._cut = self._begun(min(self._queue, key=lambda path: work.seen.files[path].size), work)
        return again

    def _begun(self, path: RelativePath, work: ScanCycle) -> Cut:
        """Begin to read a large note."""
        is_forced, known = self._queue[path], work.held.get(path)
        held = {path: replace(known, is_stale=known.is_stale or is_forced)} if known is not None else {}
        give_up = threading.Event()
        reader = replace(work.reader, is_given_up=give_up.is_set)
        aside = replace(work, reader=reader, held=held, came_from={}, is_forced=is_forced)
        readings = asyncio.get_running_loop().run_in_executor(
            self.executor, lambda: read_under_the_rules(aside, [path])
        )
        # called in the event loop, so that what is woken finds the cutting ended
        readings.add_done_callback(lambda _: self.on_cut())
        return Cut(path, aside, readings, give_up)
