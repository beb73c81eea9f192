"""How much there is of an agent's questions and answers, and what is wrong with their files."""

import asyncio
from dataclasses import dataclass

from memoryd.agents.workspace_qa import QaProblems, WorkspaceQa, enabled
from memoryd.domain.sessions.documents import Totals, counted, totals
from memoryd.sessions.retention import QaUsage
from memoryd.sessions.workspace_sessions import QaFootprint, footprint


@dataclass(frozen=True, slots=True)
class QaFigures:
    """What there is of an agent's; the footprint is that of the workspace, which other agents may share."""

    sessions: int
    totals: Totals
    footprint: QaFootprint
    usage: QaUsage
    problems: QaProblems


class QaCensus:
    """Counts the questions and answers of one agent; without `shared` they are off."""

    def __init__(self, agent: str, shared: WorkspaceQa | None) -> None:
        self._agent = agent
        self._shared = shared

    async def now(self, *, names_all: bool = False) -> QaFigures:
        """Count what there is; with `names_all` files are named though nobody knows whose they are.

        Raises Disabled, and NotNow and StoreUnavailable while the files cannot be used.
        """
        shared = enabled(self._shared)
        await shared.read(lambda store: store.sessions.look())
        return await asyncio.to_thread(self._counted, shared, names_all)

    async def known(self) -> QaFigures | None:
        """Count what is known, also while the files cannot be read; None where they are off."""
        return None if self._shared is None else await asyncio.to_thread(self._counted, self._shared, False)

    @property
    def problems(self) -> QaProblems:
        """What is wrong with the files now; nothing where they are off."""
        return QaProblems() if self._shared is None else self._shared.problems(self._agent)

    def _counted(self, shared: WorkspaceQa, names_all: bool) -> QaFigures:
        entries = shared.store.sessions.of(self._agent)
        try:
            measured = footprint(shared.workspace)
        except OSError:
            # the same keeps the store from being read, and `problems` tells of that
            measured = QaFootprint()
        problems = shared.problems(self._agent, names_all=names_all)
        usage = shared.store.archive.usage
        return QaFigures(len(entries), totals(counted(entry) for entry in entries), measured, usage, problems)
