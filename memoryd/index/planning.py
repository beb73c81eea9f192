"""From one look at the disk to a plan. All of it is blocking work: 100,000 files take a while."""

import os
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from memoryd.domain.documents import RelativePath
from memoryd.domain.syncplan import Grace, Known, Observation, SyncPlan, plan
from memoryd.files.mount_table import ReadMounts, remote_reason
from memoryd.files.roots import unreadable_files, vanished_roots
from memoryd.files.scan_rules import CurrentRules
from memoryd.files.scanner import Scan, scan
from memoryd.index.demands import Demand
from memoryd.index.look import Look


@dataclass(frozen=True, slots=True)
class Waiting:
    """Files of which the index holds something else than the disk, for now."""

    unsettled: Set[RelativePath] = frozenset()
    """Changed ones that do not lie still."""
    emptied: Set[RelativePath] = frozenset()
    """Those that hold nothing any more: perhaps somebody just truncated them."""
    gone: Set[RelativePath] = frozenset()
    """Those that are not on disk; what the index has of them is true no more."""
    out_of_sight: int = 0
    """How many cannot be seen with their folder or disk, or how many folders and files cannot be read."""


@dataclass(frozen=True, slots=True)
class Planned:
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

    def look(self) -> Look:
        """List and stat what is there."""
        roots, rules = self._look()
        seen = scan(roots, rules)
        return Look(roots, rules, seen, remote_reason([rules.workspace, *(root.path for root in roots)], self._mounts))

    def came_back(self, paths: Sequence[RelativePath], workspace: Path) -> Set[RelativePath]:
        """Return those of the paths that an earlier look missed, and that are listed now, under the rules of now."""
        if not any(os.path.lexists(workspace / path) for path in paths):
            return set()
        return self.look().seen.files.keys() & set(paths)

    def plan(
        self,
        look: Look,
        indexed: Mapping[RelativePath, Known],
        known: Mapping[RelativePath, Known],
        demand: Demand,
        unclosed: Set[RelativePath] = frozenset(),
    ) -> Planned:
        """Compare a look with what is known, the indexed and those that were left out."""
        seen, workspace = look.seen, look.rules.workspace
        seen.roots += vanished_roots(seen, indexed, workspace)
        lost = unreadable_files(seen, indexed, workspace)
        now, wall_ns = time.monotonic(), time.time_ns()
        observed = Observation(
            disk=seen.files,
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


def _waiting(seen: Scan, todo: SyncPlan, indexed: Mapping[RelativePath, Known], lost: Set[RelativePath]) -> Waiting:
    present = [path for path in todo.missing_since if path in seen.files]
    emptied = {path for path in present if not seen.files[path].size}
    return Waiting(
        unsettled=frozenset(present) - emptied,
        emptied=emptied,
        gone=indexed.keys() - seen.files.keys() - lost,
        out_of_sight=max(len(lost & todo.missing_since.keys()), len(seen.unreadable)),
    )
