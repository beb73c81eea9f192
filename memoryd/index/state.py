"""From one look at the disk to a plan, and what the indexer knows of its files, and shows to status.

To look and to plan is blocking work: 100,000 files take a while.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.clock import rfc3339
from memoryd.domain.counters import RateMeter
from memoryd.domain.documents import FileStat, RelativePath, SkippedFile
from memoryd.domain.syncplan import Grace, Known, Observation, SyncPlan, is_mass_removal, plan
from memoryd.errors import StoreError
from memoryd.files.ignore import Hold
from memoryd.files.roots import ReadMounts, remote_reason, unseen_files, vanished_roots
from memoryd.files.scanner import CurrentRules, RootReport, Scan, ScanRoot, ScanRules, may_be_brought_up, rescan, scan
from memoryd.index.triggers import Demand, DiskSnapshot
from memoryd.replies.status import MassRemovalReply
from memoryd.wire import Event

Value = TypeVar("Value")


class Waiting(Struct, frozen=True):
    """Files of which the index holds something else than the disk, for now."""

    unsettled: Set[RelativePath] = frozenset()
    """Changed ones that do not lie still."""
    emptied: Set[RelativePath] = frozenset()
    """Those that hold nothing any more: perhaps somebody just truncated them."""
    gone: Set[RelativePath] = frozenset()
    """Those that are not on disk; what the index has of them is true no more."""
    out_of_sight: int = 0
    """How many cannot be seen with their folder or disk, or how many folders and files cannot be read."""


class Planned(Struct, frozen=True):
    """A plan, by what was known of the files."""

    todo: SyncPlan
    known: Mapping[RelativePath, Known]
    out_of_sight: int
    """How many of the files that it waits for cannot be seen with their folder or disk."""
    waiting: Waiting


class Planner:
    """Looks at the disk and compares; between two looks it remembers since when files are missing."""

    def __init__(self, *, look: CurrentRules, mounts: ReadMounts, grace: Grace) -> None:
        self._look = look
        self._mounts = mounts
        self._grace = grace
        self._missing_since: Mapping[RelativePath, float] = {}
        self._last: DiskSnapshot | None = None
        self._looked_at_all = 0.0

    @property
    def seconds_since_all(self) -> float:
        """How long ago the last look at all files began."""
        return time.monotonic() - self._looked_at_all

    def look(self, names: Set[RelativePath] | None = None) -> DiskSnapshot:
        """List and stat what is there; of these names alone, if the rest is sure to be as it was."""
        roots, rules = self._look()
        # two looks never run at once
        self._last = self._scan_names(names, roots, rules) or self._scan_all(roots, rules)
        return self._last

    def _scan_all(self, roots: Sequence[ScanRoot], rules: ScanRules) -> DiskSnapshot:
        self._looked_at_all = time.monotonic()
        seen = scan(roots, rules)
        return DiskSnapshot(
            roots, rules, seen, remote_reason([rules.workspace, *(root.path for root in roots)], self._mounts)
        )

    def _scan_names(
        self, names: Set[RelativePath] | None, roots: Sequence[ScanRoot], rules: ScanRules
    ) -> DiskSnapshot | None:
        last = self._last
        if names is None or last is None or not may_be_brought_up(last.seen, roots, rules):
            return None
        # the rules of the last look are asked, and those of now judge: if the former hold, both say the same
        if last.rules.hold is not None or rules.hold is not None or not last.rules.is_current():
            return None
        wanted = names | self._missing_since.keys()
        seen = rescan(last.seen, roots, rules, wanted)
        return None if seen is None else DiskSnapshot(roots, rules, seen, last.remote, wanted)

    def judge(self, paths: Sequence[RelativePath], rules: ScanRules) -> tuple[Set[RelativePath], Set[RelativePath]]:
        """Return of paths that an earlier look missed those listed now, under the rules of now, and those hidden."""
        there = {path for path in paths if os.path.lexists(rules.place(path))}
        if not there:
            return there, there
        # others may be written while this look is made, as by a program that brings back many: of those it says
        # nothing, and they are not asked for again
        listed = self.look().seen.files.keys() & set(paths)
        return listed, there - listed

    def plan(
        self,
        look: DiskSnapshot,
        indexed: Mapping[RelativePath, Known],
        known: Mapping[RelativePath, Known],
        demand: Demand,
        unclosed: Set[RelativePath] = frozenset(),
    ) -> Planned:
        """Compare a look with what is known, the indexed and those that were left out.

        After a look at some files the plan is for these, and for those that wait.
        """
        seen, workspace = look.seen, look.rules.workspace
        disk: Mapping[RelativePath, FileStat] = seen.files
        if look.only is None:
            seen.roots += vanished_roots(seen, indexed, workspace)
        else:
            disk, indexed = _restrict(look.only, disk), _restrict(look.only, indexed)
            known = _restrict(look.only, known)
        lost = unseen_files(seen, indexed, look.rules)
        now, wall_ns = time.monotonic(), time.time_ns()
        observed = Observation(
            disk=disk,
            unreadable=lost,
            missing_since=self._missing_since,
            now=now,
            wall_ns=wall_ns,
            trusts_times=demand.trusts_times,
            is_asked=demand.is_asked,
            unclosed=unclosed,
        )
        todo = plan(observed, known, self._grace)
        # two looks never run at once: the one beside the commit of a large note ends before the next round begins
        self._missing_since = dict(todo.missing_since)
        out_of_sight = len(lost & todo.missing_since.keys())
        return Planned(todo, known, out_of_sight, _waiting(seen, todo, indexed, lost))


def _restrict(paths: Iterable[RelativePath], of: Mapping[RelativePath, Value]) -> dict[RelativePath, Value]:
    return {path: of[path] for path in paths if path in of}


def _waiting(seen: Scan, todo: SyncPlan, indexed: Mapping[RelativePath, Known], lost: Set[RelativePath]) -> Waiting:
    present = [path for path in todo.missing_since if path in seen.files]
    emptied = {path for path in present if not seen.files[path].size}
    return Waiting(
        unsettled=frozenset(present) - emptied,
        emptied=emptied,
        gone=indexed.keys() - seen.files.keys() - lost,
        out_of_sight=max(len(lost & todo.missing_since.keys()), len(seen.unreadable)),
    )


log = structlog.get_logger(__name__)

Publish = Callable[[Event, Mapping[str, object]], None]
"""Hands a piece of news on; never blocks."""


_MAX_REMOVED = 10_000


class FileTable:
    """Files that are indexed, those that were read and left out, and those that could not be read.

    A file is indexed or left out, never both; that it cannot be read now may be true of either. Only the first part
    is in the index too: after a restart the others are read again.
    """

    def __init__(self) -> None:
        self._indexed: dict[RelativePath, Known] = {}
        self._left_out: dict[RelativePath, tuple[Known, str]] = {}
        """As what each was read, and why it is not indexed."""
        self._failed: dict[RelativePath, tuple[float, str]] = {}
        """Since when each cannot be read, and why."""
        self._held: dict[RelativePath, str] = {}
        self.removed: dict[RelativePath, Known] = {}
        """Those that were indexed, as they were; the latest of them."""

    @property
    def indexed(self) -> Mapping[RelativePath, Known]:
        """The files that the index holds; it changes under whoever keeps it."""
        return self._indexed

    @property
    def has_left_out(self) -> bool:
        return bool(self._left_out)

    @property
    def held(self) -> int:
        """How many files wait until somebody can say whether they are private."""
        return len(self._held)

    @property
    def reasons(self) -> Mapping[RelativePath, str]:
        """Why files are not indexed, or not as they are now."""
        reasons = {path: why for path, (_, why) in self._left_out.items()}
        return reasons | {path: why for path, (_, why) in self._failed.items()} | self._held

    def learn(self, indexed: Mapping[RelativePath, Known]) -> None:
        """Begin anew with what an index holds that was just opened."""
        self._indexed = dict(indexed)
        self._left_out, self._failed = {}, {}

    def view(self, *, is_forced: bool) -> dict[RelativePath, Known]:
        """Return all that a file on disk is compared with; if forced, as if all of it were stale."""
        view = self._indexed | {path: known for path, (known, _) in self._left_out.items()}
        return {path: replace(known, is_stale=True) for path, known in view.items()} if is_forced else view

    def knows(self, path: RelativePath) -> bool:
        """Tell whether a file is indexed or left out."""
        return path in self._indexed or path in self._left_out

    def put(self, path: RelativePath, known: Known) -> None:
        """Note that the index holds a file as it is."""
        self._indexed[path] = known
        for part in (self._left_out, self._failed, self.removed):
            part.pop(path, None)

    def leave_out(self, path: RelativePath, known: Known, reason: str) -> None:
        """Note why a file that could be read is not indexed."""
        self._left_out[path] = known, reason

    def touch(self, path: RelativePath, known: Known) -> None:
        """Note that a file was found unchanged."""
        self._failed.pop(path, None)
        if path in self._left_out:
            self._left_out[path] = known, self._left_out[path][1]
        else:
            self._indexed[path] = known

    def rename(self, old: RelativePath, new: RelativePath, known: Known, *, is_same: bool) -> None:
        """Give what is known of a file to its new name; one that was left out and is to be read anew is forgotten."""
        if self._indexed.pop(old, None) is not None:
            self._indexed[new] = known
            self._failed.pop(new, None)
        left_out = self._left_out.pop(old, None)
        if left_out is not None and is_same:
            self._left_out[new] = known, left_out[1]

    def fail(self, path: RelativePath, reason: str, now: float) -> float:
        """Note that a file cannot be read; return since when, by the clock of `now`."""
        since, _ = self._failed.get(path, (now, ""))
        self._failed[path] = since, reason
        return since

    def hold(self, path: RelativePath, reason: str) -> None:
        """Note that a file may be private, and why nobody can say now."""
        self._held[path] = reason

    def release(self) -> None:
        """Forget what was held: the rules of another look say it anew."""
        self._held = {}

    def forget(self, paths: Iterable[RelativePath]) -> None:
        """Note that these are gone, from the index too."""
        for path in paths:
            if (was := self._indexed.get(path)) is not None:
                self.removed.pop(path, None)
                self.removed[path] = was
            for part in (self._indexed, self._left_out, self._failed):
                part.pop(path, None)
        while len(self.removed) > _MAX_REMOVED:
            del self.removed[next(iter(self.removed))]

    def keep_failures(self, paths: Collection[RelativePath]) -> None:
        """Forget that others than these could not be read: they are no longer on disk."""
        self._failed = {path: failure for path, failure in self._failed.items() if path in paths}


class SyncState(Struct, frozen=True):
    """How near the index of one workspace is to its disk."""

    pending_files: int = 0
    is_dirty: bool = True
    generation: int = 0
    """Counts the changes that were committed since the start."""
    last_scan_at: datetime | None = None
    last_sync_at: datetime | None = None
    roots: tuple[RootReport, ...] = ()
    skipped: tuple[SkippedFile, ...] = field(default=())
    remote: str = ""
    """Why scans alone tell what changes: other machines write to the disk. Empty if they do not."""
    mass_removal: MassRemovalReply | None = None
    """The last one since the start."""
    trouble: str | None = None
    """Why the last sync could not finish."""
    hold: Hold | None = None
    """Why nothing new may be indexed or embedded now, since nobody can say what is private."""
    notice: str = ""
    """What the owner is to know of the privacy rules though nothing is held up."""


class IndexEvents(Struct, frozen=True):
    """Whom the indexer tells what. All are called in its event loop, and none of them blocks."""

    on_scan: Callable[[Scan], None]
    """The disk was looked at."""
    on_commit: Callable[[], None]
    """The index holds something else than before."""
    on_purge: Callable[[], None]
    """Texts are to be forgotten: what somebody keeps of the index may be theirs."""
    publish: Publish


class SyncReporter:
    """Holds the `SyncState` of one workspace; whoever reads it has a value that does not change."""

    def __init__(self, events: IndexEvents, table: FileTable, grace: Grace) -> None:
        self.state = SyncState()
        self.waiting = Waiting()
        self.pace = RateMeter()
        self.unread: set[RelativePath] = set()
        """What is still to be read, as of the last look; it changes under whoever keeps it."""
        self.has_again = False
        """Whether some of them are to be read at the next look only."""
        self.is_whole = True
        """Whether the last round left nothing to be read, for something newer, that it could have read."""
        self.has_links = False
        """Whether documents may change without an event, as they lie behind links."""
        self._table = table
        self._events = events
        self._grace = grace
        self._read = 0
        """How many files were read since the last round of which the log tells."""

    def count_from(self, generation: int) -> None:
        """Count the changes that are committed on from those of an indexer before."""
        self.state = replace(self.state, generation=generation)

    @property
    def held(self) -> int:
        """How many files wait until somebody can say whether they are private."""
        return self._table.held

    def note_snapshot(self, look: DiskSnapshot) -> None:
        """Note what was on disk."""
        self.has_links = look.seen.has_links
        self._update(remote=look.remote)
        if look.only is None:
            self._events.on_scan(look.seen)

    def note_rules(self, rules: ScanRules) -> None:
        """Note what the privacy rules say."""
        self._update(notice=rules.notice)
        if rules.hold != self.state.hold:
            self._update(hold=rules.hold)
            # what may be embedded changes with it
            self._events.on_commit()

    def note_plan(self, look: DiskSnapshot, planned: Planned, queued: Set[RelativePath]) -> None:
        """Note what is to be done, beside the files that are `queued`: a plan for some files is none for them."""
        todo = planned.todo
        self.waiting, self.has_again = planned.waiting, False
        still_queued = (queued & look.seen.files.keys()) - {*todo.read}
        self.unread = {*todo.read, *(new for _, new in todo.rename), *still_queued}
        self._update(
            last_scan_at=datetime.now(UTC) if look.only is None else self.state.last_scan_at,
            roots=tuple(look.seen.roots),
            pending_files=len(todo.read) + len(todo.rename) + len(todo.remove) + len(still_queued),
            is_dirty=bool(still_queued) or not todo.is_empty or not todo.is_settled,
        )
        if not todo.is_empty:
            self._events.publish(Event.SYNC, {"state": "started", "pendingFiles": self.state.pending_files})

    def note_removed(self, count: int) -> None:
        """Note that so many files less are to be removed."""
        self._update(pending_files=self.state.pending_files - count)

    def note_read(self, paths: Sequence[RelativePath]) -> None:
        """Note that these files were read; one that was saved while it waited to be cut anew is so twice."""
        read = self.unread.intersection(paths)
        self.unread -= read
        self.pace.note(time.monotonic(), len(read))
        self._read += len(read)
        self._update(pending_files=self.state.pending_files - len(read))

    def note_done(
        self,
        seen: Scan,
        planned: Planned,
        *,
        again: Sequence[RelativePath],
        queued: Set[RelativePath],
        is_whole: bool,
    ) -> None:
        """Note the end of a round that leaves files to be read `again`, and others `queued`.

        One that is not whole made way for something newer.
        """
        todo, files, stay = planned.todo, len(self._table.indexed), f"they stay in the index for {self._grace.root:g} s"
        out_of_sight = f"{planned.out_of_sight} notes are out of sight with their folder or disk; {stay}"
        self.unread, self.has_again, self.is_whole = {*again, *queued}, bool(again), is_whole
        self._update(
            skipped=(*seen.skipped, *(SkippedFile(path, why) for path, why in self._table.reasons.items())),
            pending_files=len(again) + len(queued) + self._table.held,
            is_dirty=bool(again or queued) or not todo.is_settled,
            last_sync_at=datetime.now(UTC) if is_whole else self.state.last_sync_at,
            trouble=out_of_sight if planned.out_of_sight else None,
        )
        removed = len(todo.remove)
        # also of the last round that reads what others left, for which nothing was new
        if not todo.is_empty or (is_whole and self._read):
            # a renamed file is read, too
            read, self._read = max(0, self._read - len(todo.rename)), 0
            log.info("synced", read=read, renamed=len(todo.rename), removed=removed, files=files)
            self._events.publish(Event.SYNC, {"state": "finished", "pendingFiles": self.state.pending_files})
        if is_mass_removal(removed, files):
            log.warning("most notes were deleted", files=removed, left=files)
            self._update(mass_removal=MassRemovalReply(at=rfc3339(datetime.now(UTC)), files=removed, left=files))
            self._events.publish(Event.SYNC, {"state": "mass removal", "files": removed, "left": files})

    def note_commit(self) -> None:
        """Note that the index holds something else than before."""
        self._update(generation=self.state.generation + 1)
        self._events.on_commit()

    def note_release(self) -> None:
        """Note that nothing is withheld any more, since the index could be written: what waited for it may go on."""
        self._events.on_commit()

    def note_purge(self) -> None:
        """Have everybody forget texts that go from the index, or nobody may be told of."""
        self._events.on_purge()

    def note_trouble(self, exc: StoreError) -> None:
        """Note why the index could not be written."""
        if self.state.trouble != str(exc):
            log.warning("index cannot be written", reason=str(exc))
        self._update(trouble=str(exc), is_dirty=True)

    def _update(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)
