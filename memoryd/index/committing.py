"""From readings to the index: commits, the removal of documents, and the paths that are hidden until they are removed.

Each file is committed whole, and the file table follows the commit. The commit of a large note takes seconds and can be
broken off for small ones. Of what may be private every trace is removed.
"""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import Executor
from pathlib import Path

import structlog
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from memoryd.domain.documents import RelativePath, Source, person_of
from memoryd.domain.media import modality_of
from memoryd.domain.memories.entries import MEDIA_CHUNKER, ChunkEntry, ChunkSettings
from memoryd.domain.memories.line import parsed_line
from memoryd.domain.syncplan import Known, SyncPlan
from memoryd.index.reading import Reader, Reading, ReadStatus, ScanCycle, may_follow, queued, read_under_the_rules
from memoryd.index.state import FileTable, SyncReporter
from memoryd.index.threads import in_thread, with_pauses
from memoryd.index.triggers import ScanTriggers
from memoryd.store.index.database import Database
from memoryd.store.index.documents import Entries, FileContent, FileRow, Rename

log = structlog.get_logger(__name__)

MAX_YIELDS = 3
"""So often the commit of a large note is put off for smaller ones; then they wait for it."""
PUT_OFF_SECONDS = 2.0
"""How long a rewriting, which takes a tenth of a second for 10 MB of notes and more on a busy machine, gives way to
questions."""
REWRITING_SHARE = 10
"""While files wait to be read, rewritings that follow each other take at most one part in so many of the time."""


class Cut(Struct):
    """A large note that is read and cut aside."""

    path: RelativePath
    work: ScanCycle
    readings: "asyncio.Future[list[Reading]]"
    give_up: threading.Event
    yields: int = 0
    """How often its commit was put off."""


class PutOffError(Exception):
    """The commit of a large note was broken off, since smaller ones came."""


class Stoppable(Struct, frozen=True):
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


class LargeNotes(Struct, kw_only=True):
    """The large notes that are to be read, and the one that is being cut.

    `has_newcomers` tells whether small ones are to be read, for which a commit gives way.
    """

    executor: Executor
    triggers: ScanTriggers
    commit: Callable[[Sequence[Reading], ScanCycle], Awaitable[None]]
    has_newcomers: Callable[[], Awaitable[bool]]
    _cut: Cut | None = None
    _queue: dict[RelativePath, bool] = {}
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
        self._queue = queued(self._queue, filter(work.is_large, paths), work)

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
                if not await self.commit_interruptibly(reading, cut):
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
        readings.add_done_callback(lambda _: self.triggers.wake())
        return Cut(path, aside, readings, give_up)

    async def commit_interruptibly(self, reading: Reading, cut: Cut) -> bool:
        """Commit a note that was cut wholly, or, if small ones come before that is done, not at all; tell which."""
        entries, is_over = Stoppable(reading.chunks), asyncio.Event()

        async def commit() -> bool:
            try:
                await self.commit([replace(reading, chunks=entries)], cut.work)
            except PutOffError:
                # raised within the transaction, which is rolled back as a whole
                return False
            finally:
                is_over.set()
                self.triggers.wake()
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
        ticket, has_looked = self.triggers.ticket, False
        try:
            while not is_over.is_set():
                if yields >= MAX_YIELDS:
                    await self.triggers.wait_for_wake()
                elif self.triggers.is_due(ticket):
                    ticket, has_looked = self.triggers.turn_to_newcomers(), True
                    if await self.has_newcomers():
                        return
                    # no sleep before `is_over` is asked: the commit may have ended meanwhile, and woken nobody
                else:
                    await self.triggers.wait_for_hints()
        finally:
            if has_looked:
                # the hints that were taken for heard here are still to be followed by a round
                self.triggers.hint()


class Withdrawn:
    """Paths that are to be removed from the index. The indexer writes it; search, reading and embedding subtract it."""

    def __init__(self) -> None:
        # replaced as a whole, for other threads read it
        self._paths: frozenset[RelativePath] = frozenset()
        self.derived: Set[RelativePath] = frozenset()
        """Pages that still tell what became private; who rewrites them replaces this."""

    def __contains__(self, path: object) -> bool:
        return path in self._paths or path in self.derived

    def __bool__(self) -> bool:
        return bool(self._paths or self.derived)

    @property
    def paths(self) -> Set[RelativePath]:
        return self._paths

    def add(self, paths: Iterable[RelativePath]) -> bool:
        """Withdraw these; tell whether one of them was not."""
        before, self._paths = self._paths, self._paths.union(paths)
        return len(self._paths) > len(before)

    def release(self, paths: Iterable[RelativePath]) -> None:
        """Say that the index holds what it may of these, or nothing."""
        self._paths = self._paths.difference(paths)

    def keep(self, paths: Iterable[RelativePath]) -> None:
        """Release all but these."""
        self._paths = self._paths.intersection(paths)


class Purger(Struct, kw_only=True):
    """Removes documents. `has_patterns` says whether there are names that the rules of the present round hide."""

    database: Database
    executor: Executor
    workspace: Path
    table: FileTable
    withdrawn: Withdrawn
    reporter: SyncReporter
    has_patterns: bool = False
    _owed_since: float | None = None
    _took: float = 0.0
    """How many seconds the last rewriting took."""

    @property
    def is_owing(self) -> bool:
        """Whether words of what is private now may still lie in the file of the index."""
        return self._owed_since is not None

    def owe(self) -> None:
        """Note that they may."""
        if self._owed_since is None:
            self._owed_since = time.monotonic()

    async def remove(self, paths: Sequence[RelativePath], *, hidden: Set[RelativePath]) -> None:
        """Remove these from the index, as far as they are in it, and forget them; raises StoreError.

        `hidden`: those of them that are there, and not for us.
        """
        indexed = [path for path in paths if path in self.table.indexed]
        if indexed:
            # nobody is told of them from here on: between the two lines the index may hold them for seconds, and
            # if it cannot be written, it does so until it can be
            self.withdrawn.add(indexed)
            await self._erase(indexed, hidden)
        self.table.forget(paths)
        if indexed:
            self.withdrawn.release(indexed)
            # last: who hears of it looks at what is known
            self.reporter.note_commit()
            log.debug("files removed", count=len(indexed), first=indexed[0])

    async def withdraw(self, todo: SyncPlan, reader: Reader) -> None:
        """Let nobody be told of what is private now, though the index cannot be written."""
        suspects = [(path, path) for path in todo.read] + list(todo.rename)
        held = [(old, new) for old, new in suspects if old in self.table.indexed]
        private = await in_thread(
            self.executor, lambda: [old for old, new in with_pauses(held) if reader.says_private(new)]
        )
        if self.withdrawn.add([*private, *(path for path in todo.remove if path in self.table.indexed)]):
            self.reporter.note_purge()

    async def drop_remains(self, *, is_asked: bool, has_rest: bool) -> None:
        """Rewrite the keyword index without what was purged, once for all of it, and cut the log that had it.

        Vectors of texts that no note holds any more go too: they may be of an earlier version of what is private now.
        `is_asked`, a question waits for the next round: then it is put off, for a while. Nobody is told of what is
        left, whoever asks. `has_rest`, more is to be read: then it is put off the longer, the longer it takes.
        """
        since, began = self._owed_since, time.monotonic()
        put_off = PUT_OFF_SECONDS if is_asked or has_rest else 0.0
        if since is None or began - since < max(put_off, REWRITING_SHARE * self._took if has_rest else 0.0):
            return
        await self.database.documents.drop_remains()
        self.reporter.note_purge()
        # after the rewriting, which the log holds too; if it fails, all of it is still owed
        await self.database.checkpoint()
        self._owed_since, self._took = None, time.monotonic() - began

    async def _erase(self, indexed: Sequence[RelativePath], hidden: Set[RelativePath]) -> None:
        """Remove files; of what may be private now, not even a vector may stay.

        That is what is hidden, and what is gone while there are places that are kept out: it may have been moved there.
        """
        parsed_line.cache_clear()  # it may hold lines of them
        # the disk is not asked again what is there: what comes back from here on is read by the next round
        moved = await in_thread(self.executor, lambda: [path for path in indexed if self._may_be_moved_away(path)])
        private = {*moved, *(path for path in indexed if path in hidden)}
        gone = [path for path in indexed if path not in private]
        await self.database.documents.remove(gone, purged=list(private))
        if private:
            self.owe()
            # after the removal: what somebody loads anew before it would hold them again
            self.reporter.note_purge()
        else:
            await self.database.checkpoint()

    def _may_be_moved_away(self, path: RelativePath) -> bool:
        # an extra folder that vanished as a whole was unmounted, or is no longer wanted
        if person_of(path):
            # it was taken back
            return True
        is_out_of_sight = path.startswith("../") and not os.path.lexists((self.workspace / path).parent)
        return (self.has_patterns or self.table.has_left_out) and not is_out_of_sight


class Committer(Struct, frozen=True, kw_only=True):
    """Does what readings say; raises StoreError, and what is known then is still what the index holds."""

    database: Database
    table: FileTable
    withdrawn: Withdrawn
    purger: Purger
    reporter: SyncReporter
    chunks: ChunkSettings
    failure_grace: float
    """For so many seconds the index keeps what it has of a file that cannot be read."""

    async def commit(self, readings: Sequence[Reading], work: ScanCycle) -> None:
        """Commit; what is alike is written in one transaction, which costs a third of many."""
        moved = [(work.came_from[reading.path], reading) for reading in readings if work.is_move(reading)]
        if moved:
            await self._rename(moved)
        new_names = {reading.path for _, reading in moved}
        # what goes, goes before anything new comes: a failing disk then keeps less of what is private, not more
        left_out = [reading.path for reading in readings if reading.status is ReadStatus.LEFT_OUT]
        await self.purger.remove(left_out, hidden=set(left_out))
        for reading in readings:
            if reading.path not in new_names:
                await self._note(reading)
        changed = [reading for reading in readings if reading.status is ReadStatus.CHANGED]
        if changed:
            await self._put(changed, is_forced=work.is_forced)

    async def _rename(self, moved: Sequence[tuple[RelativePath, Reading]]) -> None:
        """Give what is held of the old paths to the new ones; what is to be cut anew stays so after a crash."""
        moves = [(old, reading.path, reading.read_as, reading.status is ReadStatus.SAME) for old, reading in moved]
        renames = [
            Rename(old, new, replace(known, is_stale=not is_same))
            for old, new, known, is_same in moves
            if old in self.table.indexed
        ]
        await self.database.documents.rename(renames)
        for old, new, known, is_same in moves:
            self.table.rename(old, new, replace(known, is_stale=not is_same), is_same=is_same)
            log.debug("file renamed", path=old, to=new)
        self.reporter.note_commit()

    async def _note(self, reading: Reading) -> None:
        match reading:
            case Reading(path, ReadStatus.FAILED, _, _, reason):
                await self._fail(path, reason)
            case Reading(path, ReadStatus.HELD, _, _, reason):
                self.table.hold(path, reason)
            case Reading(path, ReadStatus.LEFT_OUT, _, _, reason):
                # its text may have been indexed before, under another name or before it was away for a while
                self.purger.owe()
                self.table.leave_out(path, reading.read_as, reason)
            case Reading(path, ReadStatus.SAME):
                await self._touch(path, reading.read_as)

    async def _touch(self, path: RelativePath, known: Known) -> None:
        if path in self.table.indexed:
            await self.database.documents.touch(path, known)
            self.withdrawn.release([path])
        self.table.touch(path, known)

    async def _fail(self, path: RelativePath, reason: str) -> None:
        """Keep what the index has of an unreadable file for the grace period, then let it go."""
        now = time.monotonic()
        since = self.table.fail(path, reason, now)
        if path in self.table.indexed and now - since >= self.failure_grace:
            await self.purger.remove([path], hidden={path})
            # to remove it was to forget it, but it still cannot be read
            self.table.fail(path, reason, since)

    async def _put(self, changed: Sequence[Reading], *, is_forced: bool) -> None:
        rows = []
        for reading in changed:
            chunker = self.chunks.fingerprint if modality_of(reading.path) is None else MEDIA_CHUNKER
            known, lines = reading.read_as, reading.lines
            rows.append(FileRow(reading.path, Source.MEMORY, known, lines, chunker, reading.flags))
        # a picture's chunk says nothing of its bytes, and must not be taken for one that stays
        anew = [is_forced or row.chunker == MEDIA_CHUNKER for row in rows]
        chunks, pages = [reading.chunks for reading in changed], [reading.page for reading in changed]
        done = await self.database.documents.put(list(map(FileContent, rows, chunks, anew, pages)))
        for row, indexed in zip(rows, done, strict=True):
            self.table.put(row.path, row.known)
            self.withdrawn.release([row.path])
            log.debug("file indexed", path=row.path, **asdict(indexed))
        self.reporter.note_commit()
