"""From a snapshot of the disk to a plan; the indexer's table of files, and the state that it reports.

Taking a snapshot and planning are blocking work: 100,000 files take a while.
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
from memoryd.domain.syncplan import IndexedFile, Observation, SyncPlan, WaitTimes, is_mass_removal, plan
from memoryd.errors import StoreError
from memoryd.files.ignore import Hold
from memoryd.files.roots import ReadMounts, remote_reason, unseen_files, vanished_roots
from memoryd.files.scanner import CurrentRules, RootReport, Scan, ScanRoot, ScanRules, can_rescan, rescan, scan
from memoryd.index.triggers import Demand, DiskSnapshot
from memoryd.replies.status import MassRemovalReply
from memoryd.wire import Event

Value = TypeVar("Value")


class Waiting(Struct, frozen=True):
    """Files that differ between index and disk for now."""

    unsettled: Set[RelativePath] = frozenset()
    """Changed files that have not settled."""
    emptied: Set[RelativePath] = frozenset()
    """Files that are empty now: perhaps they were just truncated to be written."""
    missing: Set[RelativePath] = frozenset()
    """Indexed files that are not on disk; what the index has of them is outdated."""
    out_of_sight: int = 0
    """How many files are away with their folder or disk, or how many folders and files cannot be read, if more."""


class Planned(Struct, frozen=True):
    """A plan, and the known files that it is based on."""

    todo: SyncPlan
    known: Mapping[RelativePath, IndexedFile]
    out_of_sight: int
    """How many of the missing files are away with their folder or disk."""
    waiting: Waiting


class Planner:
    """Takes snapshots of the disk and plans; remembers between snapshots since when files are missing."""

    def __init__(self, *, current_rules: CurrentRules, mounts: ReadMounts, grace: WaitTimes) -> None:
        self._current_rules = current_rules
        self._mounts = mounts
        self._grace = grace
        self._missing_since: Mapping[RelativePath, float] = {}
        self._last: DiskSnapshot | None = None
        self._full_scan_at = 0.0

    @property
    def seconds_since_all(self) -> float:
        """How long ago the last scan of all files began."""
        return time.monotonic() - self._full_scan_at

    def take_snapshot(self, names: Set[RelativePath] | None = None) -> DiskSnapshot:
        """Scan the disk; only these names if all other files are certain to be unchanged."""
        roots, rules = self._current_rules()
        # two scans never run at once
        self._last = self._scan_names(names, roots, rules) or self._scan_all(roots, rules)
        return self._last

    def _scan_all(self, roots: Sequence[ScanRoot], rules: ScanRules) -> DiskSnapshot:
        self._full_scan_at = time.monotonic()
        seen = scan(roots, rules)
        return DiskSnapshot(
            roots, rules, seen, remote_reason([rules.workspace, *(root.path for root in roots)], self._mounts)
        )

    def _scan_names(
        self, names: Set[RelativePath] | None, roots: Sequence[ScanRoot], rules: ScanRules
    ) -> DiskSnapshot | None:
        last = self._last
        if names is None or last is None or not can_rescan(last.seen, roots, rules):
            return None
        # the last rules must still be current: then they are the same as `rules`, which the rescan applies
        if last.rules.hold is not None or rules.hold is not None or not last.rules.is_current():
            return None
        wanted = names | self._missing_since.keys()
        seen = rescan(last.seen, roots, rules, wanted)
        return None if seen is None else DiskSnapshot(roots, rules, seen, last.remote, wanted)

    def judge(self, paths: Sequence[RelativePath], rules: ScanRules) -> tuple[Set[RelativePath], Set[RelativePath]]:
        """Return which of the paths that an earlier scan missed are listed now, and which are hidden by the rules."""
        present = {path for path in paths if os.path.lexists(rules.place(path))}
        if not present:
            return present, present
        # files written during this scan, as by a program that restores many, may be in neither set; they are not
        # checked again
        listed = self.take_snapshot().seen.files.keys() & set(paths)
        return listed, present - listed

    def plan(
        self,
        snapshot: DiskSnapshot,
        indexed: Mapping[RelativePath, IndexedFile],
        known: Mapping[RelativePath, IndexedFile],
        demand: Demand,
        unclosed: Set[RelativePath] = frozenset(),
    ) -> Planned:
        """Compare a snapshot with the `known` files: the `indexed` ones and those left out.

        If only some files were scanned, the plan is for these, and for the missing files that wait.
        """
        seen, workspace = snapshot.seen, snapshot.rules.workspace
        disk: Mapping[RelativePath, FileStat] = seen.files
        if snapshot.only is None:
            seen.roots += vanished_roots(seen, indexed, workspace)
        else:
            disk, indexed = _restrict(snapshot.only, disk), _restrict(snapshot.only, indexed)
            known = _restrict(snapshot.only, known)
        unseen = unseen_files(seen, indexed, snapshot.rules)
        now, wall_ns = time.monotonic(), time.time_ns()
        observed = Observation(
            disk=disk,
            unreadable=unseen,
            missing_since=self._missing_since,
            now=now,
            wall_ns=wall_ns,
            trusts_times=demand.trusts_times,
            is_requested=demand.is_asked,
            unclosed=unclosed,
        )
        todo = plan(observed, known, self._grace)
        # two scans never run at once: a scan beside the commit of a large note ends before the next round begins
        self._missing_since = dict(todo.missing_since)
        out_of_sight = len(unseen & todo.missing_since.keys())
        return Planned(todo, known, out_of_sight, _waiting(seen, todo, indexed, unseen, out_of_sight))


def _restrict(paths: Iterable[RelativePath], of: Mapping[RelativePath, Value]) -> dict[RelativePath, Value]:
    return {path: of[path] for path in paths if path in of}


def _waiting(
    seen: Scan,
    todo: SyncPlan,
    indexed: Mapping[RelativePath, IndexedFile],
    unseen: Set[RelativePath],
    out_of_sight: int,
) -> Waiting:
    present = [path for path in todo.missing_since if path in seen.files]
    emptied = {path for path in present if not seen.files[path].size}
    return Waiting(
        unsettled=frozenset(present) - emptied,
        emptied=emptied,
        missing=indexed.keys() - seen.files.keys() - unseen,
        out_of_sight=max(out_of_sight, len(seen.unreadable)),
    )


log = structlog.get_logger(__name__)

Publish = Callable[[Event, Mapping[str, object]], None]
"""Publishes an event; never blocks."""

_MAX_REMOVED = 10_000


class FileTable:
    """The indexed files, those read and left out, those that cannot be read, and those whose privacy is undecided.

    A file is indexed or left out, never both; either may be unreadable now. Only the indexed files are stored: after a
    restart the others are read again.
    """

    def __init__(self) -> None:
        self._indexed: dict[RelativePath, IndexedFile] = {}
        self._left_out: dict[RelativePath, tuple[IndexedFile, str]] = {}
        """For each file left out: what was read, and why it is not indexed."""
        self._failed: dict[RelativePath, tuple[float, str]] = {}
        """For each unreadable file: since when (monotonic), and why."""
        self._undecided: dict[RelativePath, str] = {}
        self.removed: dict[RelativePath, IndexedFile] = {}
        """The files removed from the index most recently, as they were."""

    @property
    def indexed(self) -> Mapping[RelativePath, IndexedFile]:
        """The files in the index, as a live view."""
        return self._indexed

    @property
    def has_left_out(self) -> bool:
        return bool(self._left_out)

    @property
    def undecided(self) -> int:
        """How many files wait until it is known whether they are private."""
        return len(self._undecided)

    @property
    def reasons(self) -> Mapping[RelativePath, str]:
        """Why files are not indexed, or not in their current state."""
        reasons = {path: why for path, (_, why) in self._left_out.items()}
        return reasons | {path: why for path, (_, why) in self._failed.items()} | self._undecided

    def learn(self, indexed: Mapping[RelativePath, IndexedFile]) -> None:
        """Replace the table by the files of an index that was just opened."""
        self._indexed = dict(indexed)
        self._left_out, self._failed = {}, {}

    def view(self, *, is_forced: bool) -> dict[RelativePath, IndexedFile]:
        """Return all files indexed or left out, which the disk is compared with; all marked stale if `is_forced`."""
        view = self._indexed | {path: known for path, (known, _) in self._left_out.items()}
        return {path: replace(known, is_stale=True) for path, known in view.items()} if is_forced else view

    def knows(self, path: RelativePath) -> bool:
        """Return whether a file is indexed or left out."""
        return path in self._indexed or path in self._left_out

    def put(self, path: RelativePath, known: IndexedFile) -> None:
        """Record that a file was indexed."""
        self._indexed[path] = known
        for part in (self._left_out, self._failed, self.removed):
            part.pop(path, None)

    def leave_out(self, path: RelativePath, known: IndexedFile, reason: str) -> None:
        """Record why a readable file is not indexed."""
        self._left_out[path] = known, reason

    def touch(self, path: RelativePath, known: IndexedFile) -> None:
        """Record that a file is unchanged."""
        self._failed.pop(path, None)
        if path in self._left_out:
            self._left_out[path] = known, self._left_out[path][1]
        else:
            self._indexed[path] = known

    def rename(self, old: RelativePath, new: RelativePath, known: IndexedFile) -> None:
        """Move a file to its new name. A file that was left out is forgotten if `known` is stale: it is read again."""
        if self._indexed.pop(old, None) is not None:
            self._indexed[new] = known
            self._failed.pop(new, None)
        left_out = self._left_out.pop(old, None)
        if left_out is not None and not known.is_stale:
            self._left_out[new] = known, left_out[1]

    def fail(self, path: RelativePath, reason: str, now: float) -> float:
        """Record that a file cannot be read; return since when, by the clock of `now`."""
        since, _ = self._failed.get(path, (now, ""))
        self._failed[path] = since, reason
        return since

    def hold(self, path: RelativePath, reason: str) -> None:
        """Record that a file may be private, and why that is undecided."""
        self._undecided[path] = reason

    def release(self) -> None:
        """Forget the undecided files: the next scan decides on them again."""
        self._undecided = {}

    def forget(self, paths: Iterable[RelativePath]) -> None:
        """Record that these files were removed from the index."""
        for path in paths:
            if (known := self._indexed.get(path)) is not None:
                # removed first, so that it becomes the latest
                self.removed.pop(path, None)
                self.removed[path] = known
            for part in (self._indexed, self._left_out, self._failed):
                part.pop(path, None)
        while len(self.removed) > _MAX_REMOVED:
            del self.removed[next(iter(self.removed))]

    def keep_failures(self, paths: Collection[RelativePath]) -> None:
        """Forget the failures of all files but these: the others are no longer on disk."""
        self._failed = {path: failure for path, failure in self._failed.items() if path in paths}


class SyncState(Struct, frozen=True):
    """How closely the index of one workspace matches its disk."""

    pending_files: int = 0
    is_dirty: bool = True
    generation: int = 0
    """Number of changes committed since the start."""
    last_scan_at: datetime | None = None
    last_sync_at: datetime | None = None
    roots: tuple[RootReport, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    remote: str = ""
    """Why only scans detect all changes: other machines write to the disk. Empty if none do."""
    mass_removal: MassRemovalReply | None = None
    """The last mass removal since the start."""
    trouble: str | None = None
    """Why the last sync could not finish."""
    hold: Hold | None = None
    """Why nothing new may be indexed or embedded now: it is undecided what is private."""
    notice: str = ""
    """A message for the owner about the privacy rules that does not stop indexing."""


class IndexEvents(Struct, frozen=True):
    """Callbacks of the indexer. All are called in its event loop, and must not block."""

    on_scan: Callable[[Scan], None]
    """All files were scanned."""
    on_commit: Callable[[], None]
    """The content of the index has changed."""
    on_purge: Callable[[], None]
    """Texts were purged: caches of the index may contain them, and must be dropped."""
    publish: Publish


class SyncReporter(Struct, eq=False):
    """Keeps the `SyncState` of one workspace up to date; each state is an immutable value."""

    _events: IndexEvents
    _table: FileTable
    _grace: WaitTimes
    state: SyncState = SyncState()
    waiting: Waiting = Waiting()
    pace: RateMeter = field(default_factory=RateMeter)
    unread: set[RelativePath] = set()
    """Files still to be read since the last snapshot; a live set."""
    has_again: bool = False
    """Whether some of them must be read in the next round, since they changed during the read."""
    is_complete: bool = True
    """Whether the last round read all it could; False if it left files unread to make way for newer work."""
    has_links: bool = False
    """Whether documents may change without an event, since they are behind links."""
    _read: int = 0
    """How many files were read since the last logged round."""

    def count_from(self, generation: int) -> None:
        """Continue the generation count of an earlier indexer."""
        self.state = replace(self.state, generation=generation)

    @property
    def undecided(self) -> int:
        """How many files wait until it is known whether they are private."""
        return self._table.undecided

    def note_snapshot(self, snapshot: DiskSnapshot) -> None:
        """Record a snapshot of the disk."""
        self.has_links = snapshot.seen.has_links
        self._update(remote=snapshot.remote)
        if snapshot.only is None:
            self._events.on_scan(snapshot.seen)

    def note_rules(self, rules: ScanRules) -> None:
        """Record the state of the privacy rules."""
        self._update(notice=rules.notice)
        if rules.hold != self.state.hold:
            self._update(hold=rules.hold)
            # which passages may be embedded depends on it
            self._events.on_commit()

    def note_plan(self, snapshot: DiskSnapshot, planned: Planned, queued: Set[RelativePath]) -> None:
        """Record the work to do: the plan, and the `queued` files, which a plan for some files may not name."""
        todo = planned.todo
        self.waiting, self.has_again = planned.waiting, False
        still_queued = (queued & snapshot.seen.files.keys()) - {*todo.read}
        self.unread = {*todo.read, *(new for _, new in todo.rename), *still_queued}
        self._update(
            last_scan_at=datetime.now(UTC) if snapshot.only is None else self.state.last_scan_at,
            roots=tuple(snapshot.seen.roots),
            pending_files=len(todo.read) + len(todo.rename) + len(todo.remove) + len(still_queued),
            is_dirty=bool(still_queued) or not todo.is_empty or not todo.is_settled,
        )
        if not todo.is_empty:
            self._events.publish(Event.SYNC, {"state": "started", "pendingFiles": self.state.pending_files})

    def note_removed(self, count: int) -> None:
        """Record that `count` files were removed."""
        self._update(pending_files=self.state.pending_files - count)

    def note_read(self, paths: Sequence[RelativePath]) -> None:
        """Record that these files were read; a file that is read twice, since it was saved in between, counts once."""
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
        is_complete: bool,
    ) -> None:
        """Record the end of a round that leaves files to be read `again`, and others `queued`.

        A round that is not complete made way for newer work.
        """
        todo, files, stay = planned.todo, len(self._table.indexed), f"they stay in the index for {self._grace.root:g} s"
        out_of_sight = f"{planned.out_of_sight} notes are out of sight with their folder or disk; {stay}"
        self.unread, self.has_again, self.is_complete = {*again, *queued}, bool(again), is_complete
        self._update(
            skipped=(*seen.skipped, *(SkippedFile(path, why) for path, why in self._table.reasons.items())),
            pending_files=len(again) + len(queued) + self._table.undecided,
            is_dirty=bool(again or queued) or not todo.is_settled,
            last_sync_at=datetime.now(UTC) if is_complete else self.state.last_sync_at,
            trouble=out_of_sight if planned.out_of_sight else None,
        )
        removed = len(todo.remove)
        # also log the last round that reads a backlog, though its own plan is empty
        if not todo.is_empty or (is_complete and self._read):
            # renamed files were read, too
            read, self._read = max(0, self._read - len(todo.rename)), 0
            log.info("synced", read=read, renamed=len(todo.rename), removed=removed, files=files)
            self._events.publish(Event.SYNC, {"state": "finished", "pendingFiles": self.state.pending_files})
        if is_mass_removal(removed, files):
            log.warning("most notes were deleted", files=removed, left=files)
            self._update(mass_removal=MassRemovalReply(at=rfc3339(datetime.now(UTC)), files=removed, left=files))
            self._events.publish(Event.SYNC, {"state": "mass removal", "files": removed, "left": files})

    def note_commit(self) -> None:
        """Record that the content of the index has changed."""
        self._update(generation=self.state.generation + 1)
        self._events.on_commit()

    def note_release(self) -> None:
        """Report that nothing is withheld any longer, since the index could be written; waiting work may go on."""
        self._events.on_commit()

    def note_purge(self) -> None:
        """Report that texts were purged or withdrawn, so that caches drop them."""
        self._events.on_purge()

    def note_trouble(self, exc: StoreError) -> None:
        """Record why the index could not be written."""
        if self.state.trouble != str(exc):
            log.warning("index cannot be written", reason=str(exc))
        self._update(trouble=str(exc), is_dirty=True)

    def _update(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)
