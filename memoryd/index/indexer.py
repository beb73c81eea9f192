"""The indexer of one workspace: scans, plans, reads what may have changed, and commits it file by file.

One loop owns all of it. Hints and demands only say when to scan; what to do follows from the disk.
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
from memoryd.domain.syncplan import Grace, Known, RoundResult, SyncPlan, outcome
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
"""More files than this are not looked at one by one."""


class IndexSettings(Struct, frozen=True):
    """Times in seconds."""

    chunks: ChunkSettings
    debounce: float = 1.5
    max_hold: float = 2.0
    settle: float = 0.2
    grace: Grace = field(default_factory=lambda: Grace(file=2.0, root=60.0))
    reconcile: float = 30.0
    remote_reconcile: float = 10.0
    """At most so long between scans where other machines write to the disk."""
    retry: float = 1.0

    def longest_pause(self, *, is_remote: bool) -> float:
        """Return the longest time between two scans, infinity if none is to come by itself."""
        if not self.reconcile:
            return NEVER
        return min(self.reconcile, self.remote_reconcile) if is_remote else self.reconcile


class Indexer:
    """Keeps the index of one workspace equal to its disk.

    `run` loops until cancelled. By its `triggers` others say that something may have changed, ask for a scan now, and
    wait until one that began after the call has been worked off, save what an unreadable root holds back.
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
        """At work during a round; each batch of notes is a sign."""
        self._database = database
        self._settings = settings
        self._epoch = 0
        """Of the opening of the index that the table was read from."""
        self._table = FileTable()
        self.triggers = ScanTriggers(Debounce(settings.debounce, settings.max_hold))
        self._reporter = SyncReporter(events, self._table, settings.grace)
        self._looking = SnapshotThread(
            executor=executor,
            planner=Planner(look=look, mounts=mounts, grace=settings.grace),
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
            has_newcomers=self._looking.has_newcomers,
        )

    @property
    def state(self) -> SyncState:
        """How near the index is to the disk."""
        return self._reporter.state

    @property
    def seconds_left(self) -> float | None:
        """How long until all files are read, at the pace of the last minute; None while that is not known."""
        return self._reporter.pace.seconds_left(time.monotonic(), self.state.pending_files)

    @property
    def removed(self) -> Mapping[RelativePath, Known]:
        """The files that have left the index since the start, as they were; the latest, and none that came back."""
        return self._table.removed

    @property
    def known_paths(self) -> Set[RelativePath]:
        """The paths of the indexed files, save those that nobody may be told of."""
        indexed = self._table.indexed.keys()
        return indexed - self.withdrawn.paths if self.withdrawn else indexed

    @property
    def is_withholding(self) -> bool:
        """Whether texts that are to be purged are still in the index, which cannot be written."""
        return bool(self.withdrawn.paths) and self.state.trouble is not None

    @property
    def has_rest(self) -> bool:
        """Whether more is to be read than anybody waits for; what changed lately is read before it."""
        return bool(self._batches.rest)

    @property
    def is_settled(self) -> bool:
        """Whether the index that is open now holds what the last scan saw."""
        return self._is_current() and self.state.last_sync_at is not None and not self.state.is_dirty

    def read_since(self, paths: Iterable[str], moment: float) -> set[str]:
        """Return those of the documents that were read, or got their path, after `moment` (system clock)."""
        indexed = self._table.indexed
        known = ((path, indexed.get(RelativePath(path))) for path in paths)
        return {path for path, one in known if one is not None and one.read_at_ns >= moment * 1e9}

    @property
    def gone(self) -> Set[RelativePath]:
        """The indexed documents that are not on disk, as of the last look, though their rows may stay for a grace."""
        return self._reporter.waiting.gone

    @property
    def lacking(self) -> Set[RelativePath]:
        """The documents that are known to be otherwise on disk: another look would tell nothing new of them."""
        waiting = self._reporter.waiting
        return waiting.gone | waiting.emptied | self._reporter.unread | self._table.reasons.keys()

    def take_over(self, before: "Indexer") -> None:
        """Go on where an indexer of the same notes, which runs no more, has left off."""
        self._reporter.count_from(before.state.generation)
        if before.triggers.next.is_forced or before._large.is_forced or before._batches.is_forced:
            self.triggers.demand(is_forced=True)
        if before._purger.is_owing:
            self._purger.owe()

    async def catch_up(self, seconds: float, *, is_watched: bool) -> int:
        """Have the disk looked at if it changed, and the small notes among what changed read, within these seconds.

        `is_watched` says that events name all changes in the watched folders. Return how many documents the index does
        not hold as they were on disk at the call, as far as is known; without time, nothing is looked at. A document
        that is gone is none of them: `gone` names it, and no answer tells of it.
        """
        # what links lead to may lie in folders that are not watched, and links on the way, too
        is_watched = is_watched and not self._reporter.has_links
        if is_watched and not self._needs_scan():
            # a round that goes on may have looked already, and reads now what this question wants to find
            ticket = self.triggers.ticket
        elif seconds > 0:
            ticket = self.triggers.ask(is_watched=is_watched)
        else:
            return self._count_pending(self.triggers.unseen.changes)
        try:
            # most questions find it so, and cost nothing
            if not self.triggers.has_answered(ticket):
                async with asyncio.timeout(seconds):
                    await self.triggers.answered(ticket)
        except TimeoutError:
            return max(self._count_pending(self.triggers.unseen.changes), int(not is_watched))
        # what was told since the look began is younger than the question, unless no plan came of it
        return self._count_pending(self.triggers.unseen.changes if self.triggers.has_failed else NOTHING)

    def look_soon(self, *, is_watched: bool) -> int:
        """Have what changed read as for a question, also behind links; return the ticket of that."""
        return self.triggers.ask(is_watched=is_watched and not self._reporter.has_links)

    async def holds(self, paths: Set[RelativePath], seconds: float, *, is_watched: bool) -> bool:
        """Have these documents read within these seconds; tell whether the index has them as they are on disk now.

        While others wait to be read, one that changed meanwhile, or lay not still, is tried again: to wait until all
        is worked off would be in vain.
        """
        is_held = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                may_help = True
                while may_help and not is_held:
                    await self.triggers.answered(self.look_soon(is_watched=is_watched))
                    is_held = self._has_read(paths)
                    may_help = self.has_rest and not self.triggers.has_failed and not self._reporter.held
        return is_held

    def _has_read(self, paths: Set[RelativePath]) -> bool:
        """Tell whether the index has these documents as the round found them that is worked on, or was last."""
        waiting, unread = self._reporter.waiting, self._reporter.unread
        is_known = not self.triggers.has_failed and not self._reporter.held
        return is_known and paths.isdisjoint(unread | waiting.unsettled | waiting.emptied)

    def _count_pending(self, changes: Changes) -> int:
        waiting, unread = self._reporter.waiting, self._reporter.unread
        names = (waiting.unsettled | waiting.emptied | changes.names) - unread
        count = len(unread) + len(names) + self._reporter.held + waiting.out_of_sight
        return max(count, int(changes.is_vague or self._reporter.state.last_sync_at is None))

    def _needs_scan(self) -> bool:
        """Tell whether the look that was taken last, or is taken now, is not enough."""
        if self.triggers.unseen.is_waiting or self._reporter.has_again or self._reporter.waiting.unsettled:
            return True
        # a look that is taken for nobody leaves young notes for later
        return bool(self.triggers.unseen.changes) and not self.triggers.is_asked

    async def run(self) -> None:
        """Follow the disk until cancelled; trouble with the store is noted and tried again."""
        try:
            while True:
                self.triggers.begin()
                with self.pulse.work():
                    done = await self._round_or_trouble()
                # also after a failure: what could not be done is counted, and nobody is kept for it
                await self.triggers.answer()
                if done.is_settled:
                    await self.triggers.serve()
                longest = self._settings.longest_pause(is_remote=bool(self.state.remote))
                pause = min(NEVER if done.retry_in is None else done.retry_in, longest)
                # a large note that was cut meanwhile is committed by the next round
                await self.triggers.wait(time.monotonic() + pause, unless=lambda: self._large.is_cut)
        finally:
            self._large.drop()

    async def _round_or_trouble(self) -> RoundResult:
        demand = self.triggers.take()
        try:
            return await self._round(demand)
        except asyncio.CancelledError:
            # for who takes over
            self.triggers.give_back(demand)
            raise
        except StoreError as exc:
            self.triggers.give_back(demand)
            # what is cut was cut for an index that may be another one when it can be written again
            self._large.drop()
            self._reporter.note_trouble(exc)
            return RoundResult(self._settings.retry, is_settled=False)

    async def _round(self, demand: Demand) -> RoundResult:
        """Look, plan, and do what the plan says; raises StoreError."""
        began, is_new = time.monotonic(), await self._learn()
        self.triggers.unseen.begin()
        # what is withheld is released by what a look at all files finds
        look = await self._looking.look(demand, needs_all=is_new or bool(self.withdrawn.paths))
        # before the plan: what changes from here on is an event only if the folders are watched by then
        self._reporter.note_snapshot(look)
        self.triggers.unseen.note_snapshot(look)
        planned = await self._looking.plan(look, demand)
        self.pulse.beat()
        rules, seen, todo = look.rules, look.seen, planned.todo
        reader = Reader(look.roots, rules, self._settings.chunks, seen.files, self._database.path.parent)
        was_withholding = self.is_withholding
        self._note_plan(look, planned)
        try:
            again = await self._execute(
                todo,
                scan_cycle_of(todo, seen, reader, planned.known, is_forced=demand.is_forced),
                # however often somebody asks, half of the time is for what is left
                0.0 if self._reporter.is_whole else time.monotonic() - began,
            )
        except StoreError:
            await self._purger.withdraw(replace(todo, read=(*{*todo.read, *self._batches.rest},)), reader)
            raise
        self._reporter.note_done(seen, planned, again=again, queued=self._queued, is_whole=not self._batches.rest)
        if was_withholding and not self.is_withholding:
            self._reporter.note_release()
        if not self._is_current():
            # the keeper has put another file in the place of the one that was written: that one is to be learned
            return RoundResult(self._settings.retry, is_settled=False)
        return outcome(
            todo,
            # a round that leaves words of what is private to the next one has not done what was demanded
            again=bool(again) or self._purger.is_owing,
            has_queue=bool(self._queued),
            hold_ends_in=None if rules.hold is None else rules.hold.ends_in,
            settle=self._settings.settle,
        )

    def _note_plan(self, look: DiskSnapshot, planned: Planned) -> None:
        todo = planned.todo
        self._purger.has_patterns = look.rules.has_patterns
        self._table.release()
        self._table.keep_failures(look.seen.files)
        self._reporter.note_rules(look.rules)
        # together: what was told is counted by the plan from here on
        self.triggers.unseen.end()
        self._reporter.note_plan(look, planned, self._queued)
        # what is not in the plan is in the index as it may be, or not at all
        self.withdrawn.keep({*todo.read, *todo.remove, *(old for old, _ in todo.rename), *todo.missing_since})

    @property
    def _queued(self) -> Set[RelativePath]:
        """What is to be read though the present plan may not name it."""
        return self._large.queued | self._batches.rest

    def _is_current(self) -> bool:
        """Tell whether what is known of the index still holds: it may have been found damaged or lost meanwhile."""
        database = self._database
        return database.is_open and database.damage is None and database.epoch == self._epoch

    async def _learn(self) -> bool:
        """Ask the index what it holds, once for each opening of its file; tell whether that was done."""
        # the keeper may open another file while this one answers; what was learned is then of the older epoch, and
        # is learned again by the next round
        epoch = self._database.epoch
        is_new = self._epoch != epoch
        if is_new:
            self._table.learn(await self._database.documents.known(self._settings.chunks.fingerprint))
            self.withdrawn.keep(self._table.indexed)
            self._epoch = epoch
        return is_new

    async def _execute(self, todo: SyncPlan, work: ScanCycle, least: float) -> list[RelativePath]:
        """Do what the plan says, and of what is left as much as there is time for, at least for the seconds `least`.

        Return the files that changed while they were read, or were not renamed after all.
        """
        # renames first: a new name is read under what the old one held, before a removal could take that away
        again = await self._batches.read(list(work.came_from), work)
        again += [old for old in work.came_from.values() if self._table.knows(old)]
        # one that was written anew since the look, as by switching branches, is not hidden: to purge it would cost the
        # vectors of all texts that no note holds just now
        back, hidden = await self._looking.judge(todo.remove, work.reader.rules)
        await self._purger.remove([path for path in todo.remove if path not in back], hidden=hidden)
        self._reporter.note_removed(len(todo.remove))
        again += back
        self._large.queue(todo.read, work)
        small = [path for path in todo.read if path not in self._large.queued]
        soon, later = work.soon_and_later([path for path in small if self._batches.is_fresh(path, work)])
        again += await self._batches.read(soon, work, QUERY_BATCH_BYTES)
        await self.triggers.answer()
        again += await self._batches.read_rest(later, work, without=self._large.queued, least=least)
        if not self._batches.rest:
            # after the small ones, which are many and wanted soon
            again += await self._large.advance(work)
        await self._purger.drop_remains(is_asked=self.triggers.next.is_asked, has_rest=bool(self._batches.rest))
        return again


class SnapshotThread(Struct, frozen=True, kw_only=True):
    """Looks in a thread of the pool, one look at a time. `longest_pause` is the one of the settings."""

    executor: Executor
    planner: Planner
    table: FileTable
    triggers: ScanTriggers
    reporter: SyncReporter
    longest_pause: Callable[..., float]

    async def look(self, demand: Demand, *, needs_all: bool = False) -> DiskSnapshot:
        """Look at what was told of and no look answered, if that is enough, else at all files."""
        names = self._named() if demand.is_partial and not needs_all else None
        return await in_thread(self.executor, lambda: self.planner.look(names))

    async def plan(self, look: DiskSnapshot, demand: Demand) -> Planned:
        """Say what is to be done so that the index equals what was seen."""
        # copies: beside the commit of a large note the table changes, while the thread goes through it
        indexed, known = dict(self.table.indexed), self.table.view(is_forced=demand.is_forced)
        unclosed = self.triggers.unseen.unclosed
        return await in_thread(self.executor, lambda: self.planner.plan(look, indexed, known, demand, unclosed))

    async def has_newcomers(self) -> bool:
        """Tell whether anything but large notes is to be done."""
        demand = replace(self.triggers.next, is_forced=False)
        look = await self.look(demand)
        todo = (await self.plan(look, demand)).todo
        small = [path for path in todo.read if look.seen.files[path].size <= LARGE_BYTES]
        return bool(small or todo.rename or todo.remove)

    async def judge(
        self, paths: Sequence[RelativePath], rules: ScanRules
    ) -> tuple[Set[RelativePath], Set[RelativePath]]:
        """Say of paths that an earlier look missed which are listed now, and which hidden."""
        return await in_thread(self.executor, lambda: self.planner.judge(paths, rules))

    def _named(self) -> Set[RelativePath] | None:
        """Return the files to look at for a question, as events named them; None: all.

        What the last round left open, beyond files that wait, is for a look at all; so is what no event tells, and
        that look comes no later than without questions.
        """
        state, changes = self.reporter.state, self.triggers.unseen.changes
        is_open = self.reporter.has_again or self.table.held or state.trouble or state.hold
        if changes.is_vague or len(changes.names) > MAX_NAMES or is_open:
            return None
        longest = self.longest_pause(is_remote=bool(state.remote))
        # while much is left, a look at all files would be most of the work
        return None if self.reporter.is_whole and self.planner.seconds_since_all >= longest else changes.names
