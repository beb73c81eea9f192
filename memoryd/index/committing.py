"""From readings to the index: commits, removal of documents, and paths that are hidden until they are removed.

Each file is committed as a whole, and the file table is updated after the commit. The commit of a large note takes
seconds and can be broken off in favour of small notes. If a note may be private, every trace of it is removed.
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
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, Source, person_of
from memoryd.domain.media import modality_of
from memoryd.domain.memories.entries import MEDIA_CHUNKER, ChunkEntry, ChunkSettings
from memoryd.domain.memories.line import parsed_line
from memoryd.domain.syncplan import IndexedFile, SyncPlan
from memoryd.index.reading import (
    AbandonedError,
    Reader,
    Reading,
    ReadStatus,
    ScanCycle,
    may_follow,
    queued,
    read_under_the_rules,
)
from memoryd.index.state import FileTable, SyncReporter
from memoryd.index.threads import in_thread, with_pauses
from memoryd.index.triggers import ScanTriggers
from memoryd.store.index.database import Database
from memoryd.store.index.documents import Entries, FileContent, FileRow, Rename

log = structlog.get_logger(__name__)

MAX_YIELDS = 3
"""How often the commit of a large note is put off for smaller notes; after that they wait for it."""
PUT_OFF_SECONDS = 2.0
"""How long a rewrite is put off for queries; it takes 0.1 s for 10 MB of notes, and longer on a busy machine."""
REWRITING_SHARE = 10
"""While files wait to be read, repeated rewrites take at most 1/`REWRITING_SHARE` of the time."""


class Cut(Struct):
    """A large note that is read and cut in the background."""

    path: RelativePath
    work: ScanCycle
    readings: "asyncio.Future[list[Reading]]"
    give_up: threading.Event
    yields: int = 0
    """How often the commit was put off."""


class Stoppable(Struct, frozen=True):
    """Entries whose iteration raises AbandonedError once `stop` is set, which breaks off their commit."""

    entries: Entries
    stop: threading.Event = field(default_factory=threading.Event)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[ChunkEntry]:
        for entry in self.entries:
            if self.stop.is_set():
                raise AbandonedError
            yield entry


class LargeNotes(Struct, kw_only=True):
    """The large notes still to be read, and the one being cut.

    `has_other_work` returns whether there is work other than large notes, for which a commit is broken off.
    """

    executor: Executor
    triggers: ScanTriggers
    commit: Callable[[Sequence[Reading], ScanCycle], Awaitable[None]]
    has_other_work: Callable[[], Awaitable[bool]]
    _cut: Cut | None = None
    _queue: dict[RelativePath, bool] = {}
    """Large notes still to be read; True if the note is to be cut again even if unchanged."""

    @property
    def queued(self) -> Set[RelativePath]:
        """The paths of the large notes still to be read."""
        return self._queue.keys()

    @property
    def is_forced(self) -> bool:
        """Whether any of them is to be cut again even if unchanged."""
        return any(self._queue.values())

    @property
    def is_cut(self) -> bool:
        """Whether the cutting of a note has ended, well or not."""
        return self._cut is not None and self._cut.readings.done()

    def queue(self, paths: Iterable[RelativePath], work: ScanCycle) -> None:
        """Add the large notes among the paths to the queue, and drop those that are no longer on disk."""
        self._queue = queued(self._queue, filter(work.is_large, paths), work)

    def drop(self) -> None:
        """Discard the note being cut, and make its cutting end."""
        if self._cut is not None:
            self._cut.give_up.set()
            if self._cut.readings.done():
                self._cut = None

    async def advance(self, work: ScanCycle) -> list[RelativePath]:
        """Begin to cut a note in the background, or commit one that is cut; return it if it changed during the read.

        The indexer's loop goes on during the cutting, so that a small note saved then is indexed within moments.
        """
        cut, again = self._cut, []
        if cut is not None:
            is_wanted = not cut.give_up.is_set() and self._queue.get(cut.path) == cut.work.is_forced
            if not is_wanted:
                cut.give_up.set()
            if not cut.readings.done():
                # wait even for a note no longer wanted: two at once would hold two large notes in memory
                return []
            (reading,) = await cut.readings
            if is_wanted and await in_thread(self.executor, lambda: may_follow(reading, cut.work)):
                if not await self.commit_interruptibly(reading, cut):
                    cut.yields += 1
                    return []
                again = [cut.path] if reading.status is ReadStatus.AGAIN else []
                # keep it queued if it was saved again while it was cut
                if reading.known is None or reading.known.stat == work.seen.files[cut.path]:
                    del self._queue[cut.path]
        self.drop()
        if self._queue:
            self._cut = self._begin_cut(min(self._queue, key=lambda path: work.seen.files[path].size), work)
        return again

    def _begin_cut(self, path: RelativePath, work: ScanCycle) -> Cut:
        """Begin to read and cut a large note in a thread."""
        is_forced, known = self._queue[path], work.known.get(path)
        stored = {path: replace(known, is_stale=known.is_stale or is_forced)} if known is not None else {}
        give_up = threading.Event()
        reader = replace(work.reader, is_abandoned=give_up.is_set)
        aside = replace(work, reader=reader, known=stored, old_paths={}, is_forced=is_forced)
        readings = asyncio.get_running_loop().run_in_executor(
            self.executor, lambda: read_under_the_rules(aside, [path])
        )
        # called in the event loop, so that the woken indexer sees the cutting ended
        readings.add_done_callback(lambda _: self.triggers.wake())
        return Cut(path, aside, readings, give_up)

    async def commit_interruptibly(self, reading: Reading, cut: Cut) -> bool:
        """Commit a cut note, but roll back if other work comes in between; return whether it was committed."""
        entries, is_over = Stoppable(reading.chunks), asyncio.Event()

        async def commit() -> bool:
            try:
                await self.commit([replace(reading, chunks=entries)], cut.work)
            except AbandonedError:
                # raised within the transaction, which is rolled back
                return False
            finally:
                is_over.set()
                self.triggers.wake()
            return True

        async def watch() -> None:
            try:
                await self._wait_for_other_work(cut.yields, is_over)
            finally:
                entries.stop.set()

        # wait for both, also if one fails: else a scan of `watch` could run beside that of the next round
        is_done, watched = await asyncio.gather(commit(), watch(), return_exceptions=True)
        for failure in (is_done, watched):
            if isinstance(failure, BaseException):
                raise failure
        return is_done is True

    async def _wait_for_other_work(self, yields: int, is_over: asyncio.Event) -> None:
        """Return when the commit is over, or when there is other work before that."""
        ticket, has_scanned = self.triggers.ticket, False
        try:
            while not is_over.is_set():
                if yields >= MAX_YIELDS:
                    await self.triggers.wait_for_wake()
                elif self.triggers.is_due(ticket):
                    ticket, has_scanned = self.triggers.clear_hints(), True
                    if await self.has_other_work():
                        return
                    # check `is_over` before any sleep: the commit may have ended during the scan, its wake-up unnoticed
                else:
                    await self.triggers.wait_for_hints()
        finally:
            if has_scanned:
                # the hints that were cleared here still need a round
                self.triggers.hint()


class Withdrawn:
    """Paths that must be removed from the index. The indexer updates it; search, reading and embedding exclude them."""

    def __init__(self) -> None:
        # replaced, never changed in place, since other threads read it
        self._paths: frozenset[RelativePath] = frozenset()
        self.derived: Set[RelativePath] = frozenset()
        """Pages that still contain text of notes that became private; replaced by the code that rewrites the pages."""

    def __contains__(self, path: object) -> bool:
        return path in self._paths or path in self.derived

    def __bool__(self) -> bool:
        return bool(self._paths or self.derived)

    @property
    def paths(self) -> Set[RelativePath]:
        return self._paths

    def add(self, paths: Iterable[RelativePath]) -> bool:
        """Withdraw these paths; return whether any of them is new."""
        before, self._paths = self._paths, self._paths.union(paths)
        return len(self._paths) > len(before)

    def release(self, paths: Iterable[RelativePath]) -> None:
        """Release these paths: by now the index contains only their public content."""
        self._paths = self._paths.difference(paths)

    def keep(self, paths: Iterable[RelativePath]) -> None:
        """Release all paths but these."""
        self._paths = self._paths.intersection(paths)


class Purger(Struct, kw_only=True):
    """Removes documents from the index. `has_patterns`: the rules of the current round hide some names."""

    database: Database
    executor: Executor
    workspace: Path
    table: FileTable
    withdrawn: Withdrawn
    reporter: SyncReporter
    has_patterns: bool = False
    _remains_since: float | None = None
    _last_seconds: float = 0.0
    """How long the last rewrite took."""

    @property
    def has_remains(self) -> bool:
        """Whether the index file may still contain words of notes that are private now."""
        return self._remains_since is not None

    def note_remains(self) -> None:
        """Record that the index file may contain such words."""
        if self._remains_since is None:
            self._remains_since = time.monotonic()

    async def remove(self, paths: Sequence[RelativePath], *, hidden: Set[RelativePath]) -> None:
        """Remove these paths from the index and the file table; raises StoreError.

        `hidden`: those of them that exist, but are excluded by the rules.
        """
        indexed = [path for path in paths if path in self.table.indexed]
        if indexed:
            # withdraw first: the removal may take seconds, and if the index cannot be written, it has to wait until it
            # can be
            self.withdrawn.add(indexed)
            await self._erase(indexed, hidden)
        self.table.forget(paths)
        if indexed:
            self.withdrawn.release(indexed)
            # last: the receivers of this event read the file table
            self.reporter.note_commit()
            log.debug("files removed", count=len(indexed), first=indexed[0])

    async def withdraw(self, todo: SyncPlan, reader: Reader) -> None:
        """Hide the notes that are private now, though the index cannot be written."""
        suspects = [(path, path) for path in todo.read] + list(todo.rename)
        indexed = [(old, new) for old, new in suspects if old in self.table.indexed]
        private = await in_thread(
            self.executor, lambda: [old for old, new in with_pauses(indexed) if reader.is_marked_private(new)]
        )
        if self.withdrawn.add([*private, *(path for path in todo.remove if path in self.table.indexed)]):
            self.reporter.note_purge()

    async def drop_remains(self, *, has_query: bool, has_rest: bool) -> None:
        """Rewrite the keyword index without the purged words, once for all of them, and truncate the log with them.

        Vectors of texts that no note contains any longer are deleted, too: they may be of an earlier version of a note
        that is private now. The rewrite is put off for a while if a query waits for the next round (`has_query`), and
        in proportion to its duration if there are files left to read (`has_rest`). Until then no answer contains the
        purged words.
        """
        since, began = self._remains_since, time.monotonic()
        put_off = PUT_OFF_SECONDS if has_query or has_rest else 0.0
        if since is None or began - since < max(put_off, REWRITING_SHARE * self._last_seconds if has_rest else 0.0):
            return
        await self.database.documents.drop_remains()
        self.reporter.note_purge()
        # after the rewrite, which the log contains, too; if this fails, all of it is done again
        await self.database.checkpoint()
        self._remains_since, self._last_seconds = None, time.monotonic() - began

    async def _erase(self, indexed: Sequence[RelativePath], hidden: Set[RelativePath]) -> None:
        """Remove files from the index; of those that may be private now, remove the vectors, too.

        These are the hidden files, and the missing ones if any place is excluded: they may have been moved there.
        """
        parsed_line.cache_clear()  # it may contain lines of these files
        # files that come back from here on are read by the next round
        moved = await in_thread(self.executor, lambda: [path for path in indexed if self._may_be_moved_away(path)])
        private = {*moved, *(path for path in indexed if path in hidden)}
        deleted = [path for path in indexed if path not in private]
        await self.database.documents.remove(deleted, purged=list(private))
        if private:
            self.note_remains()
            # after the removal: a cache reloaded before it would contain them again
            self.reporter.note_purge()
        else:
            await self.database.checkpoint()

    def _may_be_moved_away(self, path: RelativePath) -> bool:
        if person_of(path):
            # its owner no longer shares it
            return True
        # an extra folder that is missing as a whole was unmounted, or removed from the configuration
        is_out_of_sight = path.startswith("../") and not os.path.lexists((self.workspace / path).parent)
        return (self.has_patterns or self.table.has_left_out) and not is_out_of_sight


class Committer(Struct, frozen=True, kw_only=True):
    """Writes readings to the index. Raises StoreError; the file table then still matches the index."""

    database: Database
    table: FileTable
    withdrawn: Withdrawn
    purger: Purger
    reporter: SyncReporter
    chunks: ChunkSettings
    failure_grace: float
    """For how many seconds the index keeps the content of a file that cannot be read."""

    async def commit(self, readings: Sequence[Reading], work: ScanCycle) -> None:
        """Commit readings; those of one kind share a transaction, which costs a third of separate ones."""
        moved = [(work.old_paths[reading.path], reading) for reading in readings if work.is_move(reading)]
        if moved:
            await self._rename(moved)
        new_names = {reading.path for _, reading in moved}
        # removals before additions: if the disk then fails, less private text is left in the index
        left_out = [reading.path for reading in readings if reading.status is ReadStatus.LEFT_OUT]
        await self.purger.remove(left_out, hidden=set(left_out))
        for reading in readings:
            if reading.path not in new_names:
                await self._note(reading)
        changed = [reading for reading in readings if reading.status is ReadStatus.CHANGED]
        if changed:
            await self._put(changed, is_forced=work.is_forced)

    async def _rename(self, moved: Sequence[tuple[RelativePath, Reading]]) -> None:
        """Give the rows of the old paths to the new ones; a file that must be cut again stays stale after a crash."""
        moves = [
            Rename(old, reading.path, replace(reading.read_as, is_stale=reading.status is not ReadStatus.SAME))
            for old, reading in moved
        ]
        renames = [move for move in moves if move.old in self.table.indexed]
        await self.database.documents.rename(renames)
        for move in moves:
            self.table.rename(move.old, move.new, move.known)
            log.debug("file renamed", path=move.old, to=move.new)
        self.reporter.note_commit()

    async def _note(self, reading: Reading) -> None:
        path, reason = reading.path, reading.reason
        match reading.status:
            case ReadStatus.FAILED:
                await self._fail(path, reason)
            case ReadStatus.UNDECIDED:
                self.table.hold(path, reason)
            case ReadStatus.LEFT_OUT:
                # its text may have been indexed earlier: under another name, or before the file was away for a while
                self.purger.note_remains()
                self.table.leave_out(path, reading.read_as, reason)
            case ReadStatus.SAME:
                await self._touch(path, reading.read_as)

    async def _touch(self, path: RelativePath, known: IndexedFile) -> None:
        if path in self.table.indexed:
            await self.database.documents.touch(path, known)
            self.withdrawn.release([path])
        self.table.touch(path, known)

    async def _fail(self, path: RelativePath, reason: str) -> None:
        """Keep the indexed content of an unreadable file for the grace period, then remove it."""
        now = time.monotonic()
        since = self.table.fail(path, reason, now)
        if path in self.table.indexed and now - since >= self.failure_grace:
            await self.purger.remove([path], hidden={path})
            # the removal has deleted the entry of the failure, too
            self.table.fail(path, reason, since)

    async def _put(self, changed: Sequence[Reading], *, is_forced: bool) -> None:
        contents = []
        for reading in changed:
            is_media = modality_of(reading.path) is not None
            chunker = MEDIA_CHUNKER if is_media else self.chunks.fingerprint
            row = FileRow(reading.path, Source.MEMORY, reading.read_as, reading.lines, chunker, reading.flags)
            # a picture's chunk does not depend on its bytes, so an equal chunk must not count as unchanged
            contents.append(FileContent(row, reading.chunks, is_forced or is_media, reading.page))
        done = await self.database.documents.put(contents)
        for reading, indexed in zip(changed, done, strict=True):
            self.table.put(reading.path, reading.read_as)
            self.withdrawn.release([reading.path])
            log.debug(
                "file indexed", path=reading.path, kept=indexed.unchanged, added=indexed.added, removed=indexed.removed
            )
        self.reporter.note_commit()
