"""The indexer's looks at the disk: how much is looked at, and what follows from it."""

from collections.abc import Callable, Sequence, Set
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from memoryd.domain.documents import RelativePath
from memoryd.index.demands import Demand, Demands
from memoryd.index.file_table import FileTable
from memoryd.index.look import Look
from memoryd.index.planning import Absent, Planned, Planner
from memoryd.index.reading import LARGE_BYTES
from memoryd.index.sync_reporter import SyncReporter
from memoryd.index.threads import in_thread

MOST_NAMES = 1_000
"""More files than this are not looked at one by one."""


class Looking:
    """Looks in a thread of the pool, one look at a time. `longest_pause` is the one of the settings."""

    def __init__(
        self,
        *,
        executor: Executor,
        planner: Planner,
        table: FileTable,
        demands: Demands,
        reporter: SyncReporter,
        longest_pause: Callable[..., float],
    ) -> None:
        self._executor = executor
        self._planner = planner
        self._table = table
        self._demands = demands
        self._reporter = reporter
        self._longest_pause = longest_pause

    async def look(self, demand: Demand, *, needs_all: bool = False) -> Look:
        """Look at what was told of and no look answered, if that is enough, else at all files."""
        names = self._named() if demand.is_partial and not needs_all else None
        return await in_thread(self._executor, lambda: self._planner.look(names))

    async def plan(self, look: Look, demand: Demand) -> Planned:
        """Say what is to be done so that the index equals what was seen."""
        # copies: beside the commit of a large note the table changes, while the thread goes through it
        indexed, known = dict(self._table.indexed), self._table.view(is_forced=demand.is_forced)
        unclosed = self._demands.unseen.unclosed
        return await in_thread(self._executor, lambda: self._planner.plan(look, indexed, known, demand, unclosed))

    async def has_newcomers(self) -> bool:
        """Tell whether anything but large notes is to be done."""
        demand = replace(self._demands.next, is_forced=False)
        look = await self.look(demand)
        todo = (await self.plan(look, demand)).todo
        small = [path for path in todo.read if look.seen.files[path].size <= LARGE_BYTES]
        return bool(small or todo.rename or todo.remove)

    async def judge(self, paths: Sequence[RelativePath], workspace: Path) -> Absent:
        """Say of paths that an earlier look missed which are listed now, and which hidden."""
        return await in_thread(self._executor, lambda: self._planner.judge(paths, workspace))

    def _named(self) -> Set[RelativePath] | None:
        """Return the files to look at for a question, as events named them; None: all.

        What the last round left open, beyond files that wait, is for a look at all; so is what no event tells, and
        that look comes no later than without questions.
        """
        state, changes = self._reporter.state, self._demands.unseen.changes
        is_open = self._reporter.has_again or self._table.held or state.trouble or state.hold
        if changes.is_vague or len(changes.names) > MOST_NAMES or is_open or state.last_sync_at is None:
            return None
        longest = self._longest_pause(is_remote=bool(state.remote))
        return None if self._planner.seconds_since_all >= longest else changes.names
