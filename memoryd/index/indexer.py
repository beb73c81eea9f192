"""The indexer of one workspace: scans, plans, reads the files that may have changed, and commits file by file.

A single loop does all of it. Hints and demands only set the time of a scan; the work to do follows from the disk.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Executor
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.clock import Debounce, Pulse
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.syncplan import IndexedFile, RoundResult, SyncPlan, WaitTimes, round_result
from memoryd.errors import StoreError
from memoryd.files.roots import ReadMounts, read_mounts
from memoryd.files.scanner import CurrentRules, ScanRules
from memoryd.index.batches import BatchReader
from memoryd.index.committing import Committer, LargeNotes, Purger, Withdrawn
from memoryd.index.reading import (
    LARGE_BYTES,
    QUERY_BATCH_BYTES,
    Reader,
    ScanCycle,
    scan_cycle_of,
)
from memoryd.index.state import FileTable, IndexEvents, Planned, Planner, SyncReporter, SyncState
from memoryd.index.threads import in_thread
from memoryd.index.triggers import NEVER, NOTHING, Changes, Demand, DiskSnapshot, ScanTriggers
from memoryd.store.index.database import Database

MAX_NAMES = 1_000
"""Above this number of named files, all files are scanned instead."""


class IndexSettings(Struct, frozen=True):
    """Settings of the indexer; times in seconds."""

    chunks: ChunkSettings
    debounce: float = 1.5
    max_hold: float = 2.0
    settle: float = 0.2
    grace: WaitTimes = field(default_factory=lambda: WaitTimes(file=2.0, root=60.0))
    reconcile: float = 30.0
    remote_reconcile: float = 10.0
    """Longest time between scans if other machines write to the disk."""
    retry: float = 1.0

    def longest_pause(self, *, is_remote: bool) -> float:
        """Return the longest time between two scans; infinity if there are no timed scans."""
        if not self.reconcile:
            return NEVER
        return min(self.reconcile, self.remote_reconcile) if is_remote else self.reconcile


class Indexer:
    """Keeps the index of one workspace equal to its disk.

    `run` loops until cancelled. Through its `triggers` other parts report that something may have changed, demand a
    scan, and wait until a scan that began after the demand has been indexed, except files under an unreadable root.
    """

    def __init__(
        self,
        *,
        database: Database,
        executor: Executor,
        workspace: Path,
        look: CurrentRules,
        settings: IndexSettings,
        events: IndexEvents,
        mounts: ReadMounts = read_mounts,
    ) -> None:
        self.withdrawn = Withdrawn()
        self.pulse = Pulse()
        """Working during a round; beats after each batch of notes."""
        self._database = database
        self._settings = settings
        self._epoch = 0
        """The opening of the index file that the table was read from."""
        self._table = FileTable()
        self.triggers = ScanTriggers(Debounce(settings.debounce, settings.max_hold))
        self._reporter = SyncReporter(events, self._table, settings.grace)
        self._snapshots = SnapshotThread(
            executor=executor,
            planner=Planner(current_rules=look, mounts=mounts, grace=settings.grace),
            table=self._table,
            triggers=self.triggers,
            reporter=self._reporter,
            longest_pause=settings.longest_pause,
        )
        self._purger = Purger(
            database=database,
            executor=executor,
            workspace=workspace,
            table=self._table,
            withdrawn=self.withdrawn,
            reporter=self._reporter,
        )
        self._committer = Committer(
            database=database,
            table=self._table,
            withdrawn=self.withdrawn,
            purger=self._purger,
            reporter=self._reporter,
            chunks=settings.chunks,
            failure_grace=settings.grace.root,
        )
        self._batches = BatchReader(
            executor=executor,
            table=self._table,
            triggers=self.triggers,
            reporter=self._reporter,
            committer=self._committer,
            pulse=self.pulse,
        )
        self._large = LargeNotes(
            executor=executor,
            triggers=self.triggers,
            commit=self._committer.commit,
            has_other_work=self._snapshots.has_other_work,
        )

    @property
    def state(self) -> SyncState:
        """How closely the index matches the disk."""
        return self._reporter.state

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all files are read, at the pace of the last minute; None while that is unknown."""
        return self._reporter.pace.seconds_left(time.monotonic(), self.state.pending_files)

    @property
    def removed(self) -> Mapping[RelativePath, IndexedFile]:
        """The files removed from the index since the start, as they were; only the latest, none that came back."""
        return self._table.removed

    @property
    def known_paths(self) -> Set[RelativePath]:
        """The paths of the indexed files, except withdrawn ones."""
        indexed = self._table.indexed.keys()
        return indexed - self.withdrawn.paths if self.withdrawn else indexed

    def is_known(self, path: str) -> bool:
        """Return whether a path is in `known_paths`, without a set of all; may be called in a thread."""
        return path in self._table.indexed and path not in self.withdrawn.paths

    @property
    def is_withholding(self) -> bool:
        """Whether texts that must be purged are still in the index, because it cannot be written."""
        return bool(self.withdrawn.paths) and self.state.trouble is not None

    @property
    def has_rest(self) -> bool:
        """Whether a backlog of files is still to be read; files that changed lately are read before it."""
        return bool(self._batches.rest)

    @property
    def is_up_to_date(self) -> bool:
        """Whether the open index matches the last scan."""
        return self._is_current() and self.state.last_sync_at is not None and not self.state.is_dirty

    def read_since(self, paths: Iterable[str], moment: float) -> set[str]:
        """Return which of the documents were read, or got their path, after `moment` (system clock, seconds)."""
        indexed = self._table.indexed
        known = ((path, indexed.get(RelativePath(path))) for path in paths)
        return {path for path, file in known if file is not None and file.read_at_ns >= moment * 1e9}

    @property
    def missing(self) -> Set[RelativePath]:
        """The indexed documents that the last scan did not find; their rows may stay for a grace period."""
        return self._reporter.waiting.missing

    @property
    def differing(self) -> Set[RelativePath]:
        """The documents known to differ from the disk; another scan would find nothing new about them."""
        waiting = self._reporter.waiting
        return waiting.missing | waiting.emptied | self._reporter.unread | self._table.reasons.keys()

    def take_over(self, before: "Indexer") -> None:
        """Continue the work of an earlier indexer of the same notes, which no longer runs."""
        self._reporter.count_from(before.state.generation)
        if before.triggers.next.is_forced or before._large.is_forced or before._batches.is_forced:
            self.triggers.demand(is_forced=True)
        if before._purger.has_remains:
            self._purger.note_remains()

    async def catch_up(self, seconds: float, *, is_watched: bool) -> int:
        """Scan the disk if it changed, and read the small changed notes, within these seconds; with 0 do not scan.

        `is_watched`: events name all changes in the watched folders. Returns how many documents are known to differ
        between the index and the disk at the time of the call. A missing document does not count: it is in `missing`,
        and answers leave it out.
        """
        # the targets of links, and links on the way to them, may be in folders that are not watched
        is_watched = is_watched and not self._reporter.has_links
        if is_watched and not self._needs_scan():
            # the running round may have scanned already, and be reading the files that this query needs
            ticket = self.triggers.ticket
        elif seconds > 0:
            ticket = self.triggers.ask(is_watched=is_watched)
        else:
            return self._count_pending(self.triggers.unseen.changes)
        try:
            # true for most queries, which then cost nothing
            if not self.triggers.has_answered(ticket):
                async with asyncio.timeout(seconds):
                    await self.triggers.answered(ticket)
        except TimeoutError:
            return max(self._count_pending(self.triggers.unseen.changes), int(not is_watched))
        # changes reported after the scan began are newer than the query, unless the round failed before its plan
        return self._count_pending(self.triggers.unseen.changes if self.triggers.has_failed else NOTHING)

    def scan_soon(self, *, is_watched: bool) -> int:
        """Demand that changed files are read soon, as for a query, also those behind links; return the ticket."""
        return self.triggers.ask(is_watched=is_watched and not self._reporter.has_links)

    async def wait_until_indexed(self, paths: Set[RelativePath], seconds: float, *, is_watched: bool) -> bool:
        """Read these documents within these seconds; return whether the index has their current content.

        While a backlog of other files is left, a document that changed during the read, or has not settled, is tried
        again: waiting for the whole backlog would take too long.
        """
        is_indexed = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                may_help = True
                while may_help and not is_indexed:
                    await self.triggers.answered(self.scan_soon(is_watched=is_watched))
                    is_indexed = self._has_read(paths)
                    may_help = self.has_rest and not self.triggers.has_failed and not self._reporter.undecided
        return is_indexed

    def _has_read(self, paths: Set[RelativePath]) -> bool:
        """Return whether the index has these documents as the current or last round found them."""
        waiting, unread = self._reporter.waiting, self._reporter.unread
        is_known = not self.triggers.has_failed and not self._reporter.undecided
        return is_known and paths.isdisjoint(unread | waiting.unsettled | waiting.emptied)

    def _count_pending(self, changes: Changes) -> int:
        waiting, unread = self._reporter.waiting, self._reporter.unread
        names = (waiting.unsettled | waiting.emptied | changes.names) - unread
        count = len(unread) + len(names) + self._reporter.undecided + waiting.out_of_sight
        return max(count, int(changes.is_vague or self._reporter.state.last_sync_at is None))

    def _needs_scan(self) -> bool:
        """Return whether the last or current scan does not suffice for a query."""
        if self.triggers.unseen.is_waiting or self._reporter.has_again or self._reporter.waiting.unsettled:
            return True
        # a scan without a query leaves notes that changed just now for later
        return bool(self.triggers.unseen.changes) and not self.triggers.is_asked

    async def run(self) -> None:
        """Keep the index equal to the disk until cancelled; report errors of the store, and retry the round."""
        try:
            while True:
                self.triggers.begin()
                with self.pulse.work():
                    done = await self._round_or_trouble()
                # also after a failure: queries do not wait for it, but report the documents that differ
                await self.triggers.answer()
                if done.is_settled:
                    await self.triggers.serve()
                longest = self._settings.longest_pause(is_remote=bool(self.state.remote))
                pause = min(NEVER if done.retry_in is None else done.retry_in, longest)
                # the next round commits a large note whose cutting has ended
                await self.triggers.wait(time.monotonic() + pause, unless=lambda: self._large.is_cut)
        finally:
            self._large.drop()

    async def _round_or_trouble(self) -> RoundResult:
        demand = self.triggers.take()
        try:
            return await self._round(demand)
        except asyncio.CancelledError:
            # for an indexer that takes over
            self.triggers.give_back(demand)
            raise
        except StoreError as exc:
            self.triggers.give_back(demand)
            # by the time the index can be written again, it may be a new file
            self._large.drop()
            self._reporter.note_trouble(exc)
            return RoundResult(self._settings.retry, is_settled=False)

    async def _round(self, demand: Demand) -> RoundResult:
        """Scan, plan, and execute the plan; raises StoreError."""
        began, is_new = time.monotonic(), await self._learn()
        self.triggers.unseen.begin()
        # withdrawn paths are released only by a scan of all files
        snapshot = await self._snapshots.take(demand, needs_all=is_new or bool(self.withdrawn.paths))
        # before the plan: a change from here on causes an event only if its folder is watched by then
        self._reporter.note_snapshot(snapshot)
        self.triggers.unseen.note_snapshot(snapshot)
        planned = await self._snapshots.plan(snapshot, demand)
        self.pulse.beat()
        rules, seen, todo = snapshot.rules, snapshot.seen, planned.todo
        reader = Reader(snapshot.roots, rules, self._settings.chunks, seen.files, self._database.path.parent)
        was_withholding = self.is_withholding
        self._note_plan(snapshot, planned)
        try:
            again = await self._execute(
                todo,
                scan_cycle_of(todo, seen, reader, planned.known, is_forced=demand.is_forced),
                # half of the time goes to the backlog, however often queries interrupt it
                0.0 if self._reporter.is_complete else time.monotonic() - began,
            )
        except StoreError:
            await self._purger.withdraw(replace(todo, read=(*{*todo.read, *self._batches.rest},)), reader)
            raise
        self._reporter.note_done(seen, planned, again=again, queued=self._queued, is_complete=not self._batches.rest)
        if was_withholding and not self.is_withholding:
            self._reporter.note_release()
        if not self._is_current():
            # the keeper has replaced the file that was written: the next round must read the table of the new one
            return RoundResult(self._settings.retry, is_settled=False)
        return round_result(
            todo,
            # a demand is not met while words of private notes are left in the index
            again=bool(again) or self._purger.has_remains,
            has_queue=bool(self._queued),
            hold_ends_in=None if rules.hold is None else rules.hold.ends_in,
            settle=self._settings.settle,
        )

    def _note_plan(self, snapshot: DiskSnapshot, planned: Planned) -> None:
        todo = planned.todo
        self._purger.has_patterns = snapshot.rules.has_patterns
        self._table.release()
        self._table.keep_failures(snapshot.seen.files)
        self._reporter.note_rules(snapshot.rules)
        # no await in between: from here on the plan counts the reported changes
        self.triggers.unseen.end()
        self._reporter.note_plan(snapshot, planned, self._queued)
        # a path outside the plan is in the index as it may be, or not at all
        self.withdrawn.keep({*todo.read, *todo.remove, *(old for old, _ in todo.rename), *todo.missing_since})

    @property
    def _queued(self) -> Set[RelativePath]:
        """Files still to be read that the current plan may not name."""
        return self._large.queued | self._batches.rest

    def _is_current(self) -> bool:
        """Return whether the file table still matches the open index, which may have been found damaged or replaced."""
        database = self._database
        return database.is_open and database.damage is None and database.epoch == self._epoch

    async def _learn(self) -> bool:
        """Read the table of indexed files, once for each opening of the index file; return whether it was read.

        If the keeper opens another file during the read, the table belongs to the older epoch, and the next round reads
        it again.
        """
        epoch = self._database.epoch
        is_new = self._epoch != epoch
        if is_new:
            self._table.learn(await self._database.documents.known(self._settings.chunks.fingerprint))
            self.withdrawn.keep(self._table.indexed)
            self._epoch = epoch
        return is_new

    async def _execute(self, todo: SyncPlan, work: ScanCycle, min_seconds: float) -> list[RelativePath]:
        """Execute the plan, then read from the backlog until there is news, for at least `min_seconds`.

        Returns the files that changed while they were read, and those that turned out not to be renamed.
        """
        # renames first: a new name takes over the rows of the old one, which a removal would delete
        again = await self._batches.read(list(work.old_paths), work)
        again += [old for old in work.old_paths.values() if self._table.knows(old)]
        # a file written again since the scan, as by switching branches, is not hidden: purging it would delete the
        # vectors of all texts that no note contains just now
        back, hidden = await self._snapshots.judge(todo.remove, work.reader.rules)
        await self._purger.remove([path for path in todo.remove if path not in back], hidden=hidden)
        self._reporter.note_removed(len(todo.remove))
        again += back
        self._large.queue(todo.read, work)
        small = [path for path in todo.read if path not in self._large.queued]
        soon, later = work.soon_and_later([path for path in small if self._batches.is_fresh(path, work)])
        again += await self._batches.read(soon, work, QUERY_BATCH_BYTES)
        await self.triggers.answer()
        again += await self._batches.read_rest(later, work, excluded=self._large.queued, min_seconds=min_seconds)
        if not self._batches.rest:
            # after the small notes, which are many and needed sooner
            again += await self._large.advance(work)
        await self._purger.drop_remains(has_query=self.triggers.next.is_asked, has_rest=bool(self._batches.rest))
        return again


class SnapshotThread(Struct, frozen=True, kw_only=True):
    """Takes and plans disk snapshots in a thread, one at a time. `longest_pause` is that of the settings."""

    executor: Executor
    planner: Planner
    table: FileTable
    triggers: ScanTriggers
    reporter: SyncReporter
    longest_pause: Callable[..., float]

    async def take(self, demand: Demand, *, needs_all: bool = False) -> DiskSnapshot:
        """Scan only the files with unseen changes if that suffices, else all files."""
        names = self._named() if demand.is_partial and not needs_all else None
        return await in_thread(self.executor, lambda: self.planner.take_snapshot(names))

    async def plan(self, snapshot: DiskSnapshot, demand: Demand) -> Planned:
        """Return what to do to make the index equal to the snapshot."""
        # copies: the commit of a large note may change the table while the thread reads it
        indexed, known = dict(self.table.indexed), self.table.view(is_forced=demand.is_forced)
        unclosed = self.triggers.unseen.unclosed
        return await in_thread(self.executor, lambda: self.planner.plan(snapshot, indexed, known, demand, unclosed))

    async def has_other_work(self) -> bool:
        """Scan, and return whether there is work other than large notes."""
        demand = replace(self.triggers.next, is_forced=False)
        snapshot = await self.take(demand)
        todo = (await self.plan(snapshot, demand)).todo
        has_small = any(snapshot.seen.files[path].size <= LARGE_BYTES for path in todo.read)
        return has_small or bool(todo.rename or todo.remove)

    async def judge(
        self, paths: Sequence[RelativePath], rules: ScanRules
    ) -> tuple[Set[RelativePath], Set[RelativePath]]:
        """Return which of the paths that the last scan missed are listed now, and which are hidden."""
        return await in_thread(self.executor, lambda: self.planner.judge(paths, rules))

    def _named(self) -> Set[RelativePath] | None:
        """Return the files to scan for a query, as named by events; None: scan all files.

        All are scanned if the last round left work open other than waiting files, if changes have no event, and if the
        timed scan of all files is due.
        """
        state, changes = self.reporter.state, self.triggers.unseen.changes
        is_open = self.reporter.has_again or self.table.undecided or state.trouble or state.hold
        if changes.is_vague or len(changes.names) > MAX_NAMES or is_open:
            return None
        longest = self.longest_pause(is_remote=bool(state.remote))
        # with a large backlog, scans of all files would be most of the work
        return None if self.reporter.is_complete and self.planner.seconds_since_all >= longest else changes.names
