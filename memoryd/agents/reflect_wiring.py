"""From a workspace and its settings to what reflects over it, when asked and by the clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoryd.agents.loops import NamedLoop
from memoryd.agents.owners_time import owners_time
from memoryd.agents.reflecting import ReflectSchedule, ReflectUse, SettledBook
from memoryd.agents.workspace_index import Surroundings
from memoryd.agents.workspace_memories import WorkspaceMemories
from memoryd.config.agents import Agent
from memoryd.memory.llm import Labeller, Prose
from memoryd.memory.reflect.pages import PageSummaries
from memoryd.memory.reflect.proposals import ProposalQueue
from memoryd.memory.reflect.run import Reflecting, ReflectParts
from memoryd.store.ledger.reflect import ProposalRows, ReflectRuns
from memoryd.wire import Event


@dataclass(frozen=True, slots=True)
class WorkspaceReflect:
    """Reflect over one workspace: what may be asked, and what runs by itself."""

    use: ReflectUse
    schedule: ReflectSchedule

    def loops(self, agent: str) -> list[NamedLoop]:
        """Name the loop of the schedule, after an agent."""
        return [(f"reflect {agent}", self.schedule.run)]


def workspace_reflect(agents: Sequence[Agent], memories: WorkspaceMemories, around: Surroundings) -> WorkspaceReflect:
    """Make what reflects over a workspace; the settings of the first of its agents hold."""
    settings, zone = agents[0].memory.reflect, owners_time(agents[0].memory).zone
    settled, name = SettledBook(book=memories.book, index=memories.index), str(memories.name)
    runs, rows = ReflectRuns(memories.ledger, name), ProposalRows(memories.ledger, name)
    queue = ProposalQueue(rows, memories.journal, settled.told)
    parts = _parts(memories, settled, queue, runs, agents[0].memory.core.max_chars, _telling(agents, around))
    reflecting = Reflecting(parts)
    return WorkspaceReflect(
        ReflectUse(reflecting=reflecting, proposals=queue, settings=settings, zone=zone),
        ReflectSchedule(reflecting=reflecting, runs=runs, settings=settings, zone=zone),
    )


def _parts(
    memories: WorkspaceMemories,
    settled: SettledBook,
    queue: ProposalQueue,
    runs: ReflectRuns,
    core: int,
    tell: Callable[[str, int], None],
) -> ReflectParts:
    return ReflectParts(
        book=settled.now,
        known=lambda: memories.index.indexer.known_paths,
        journal=memories.journal,
        opinions=memories.opinions,
        queue=queue,
        runs=runs,
        tombstones=memories.tombstones,
        core_chars=core,
        labeller=None if memories.text is None else Labeller(memories.text),
        summaries=None if memories.text is None else PageSummaries(Prose(memories.text)),
        tell=tell,
    )


def _telling(agents: Sequence[Agent], around: Surroundings) -> Callable[[str, int], None]:
    """Return what tells all agents of a workspace what a run of reflect does now."""

    def tell(step: str, count: int) -> None:
        for agent in agents:
            around.publish(Event.REFLECT, {"agent": agent.id, "step": step, "count": count})

    return tell
