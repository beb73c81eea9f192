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
from memoryd.files.scan_rules import CurrentRules, ScanRoot, ScanRules
from memoryd.files.scanner import Scan, scan


@dataclass(frozen=True, slots=True)
class Look:
    """What was on disk, and by which rules it was looked at."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    seen: Scan
    remote: str
    """Why scans alone tell what changes there; empty if events do."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, by what was known of the files."""

    todo: SyncPlan
    known: Mapping[RelativePath, Known]
    out_of_sight: int
    """How many of the files that it waits for cannot be seen with their folder or disk."""


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
        *,
        trusts_times: bool = True,
    ) -> Planned:
        """Compare a look with what is known, the indexed and those that were left out."""
        seen, workspace = look.seen, look.rules.workspace
        seen.roots += vanished_roots(seen, indexed, workspace)
        lost = unreadable_files(seen, indexed, workspace)
        now, wall_ns = time.monotonic(), time.time_ns()
        observed = Observation(seen.files, lost, self._missing_since, now, wall_ns, trusts_times)
        todo = plan(observed, known, self._grace)
        # two looks never run at once: the one beside the commit of a large note ends before the next round begins
        self._missing_since = dict(todo.missing_since)
        return Planned(todo, known, len(lost & todo.missing_since.keys()))
