"""From one look at the disk to a plan. All of it is blocking work: 100,000 files take a while."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeVar

from msgspec import Struct

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.syncplan import Grace, Known, Observation, SyncPlan, plan
from memoryd.files.roots import ReadMounts, remote_reason, unseen_files, vanished_roots
from memoryd.files.scanner import CurrentRules, Scan, ScanRoot, ScanRules, may_be_brought_up, rescan, scan
from memoryd.index.triggers import Demand, DiskSnapshot

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
