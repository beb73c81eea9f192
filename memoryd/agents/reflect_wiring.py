"""From a workspace and its settings to what reflects over it, when asked and by the clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from memoryd.agents.loops import NamedLoop
from memoryd.agents.reflecting import ReflectSchedule, ReflectUse, SettledBook
from memoryd.agents.workspace_index import Surroundings, WorkspaceIndex
from memoryd.config.resolved import Agent
from memoryd.llm.text_model import TextModel
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.tombstone_store import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm_labels import Labeller
from memoryd.memory.llm_prose import Prose
from memoryd.memory.opinions.opinion_book import OpinionBook
from memoryd.memory.reflect.page_summaries import PageSummaries
from memoryd.memory.reflect.proposal_queue import ProposalQueue
from memoryd.memory.reflect.reflecting import Reflecting, ReflectParts
from memoryd.store.ledger import Ledger
from memoryd.store.opinion_steps import OpinionSteps
from memoryd.store.proposal_rows import ProposalRows
from memoryd.store.reflect_runs import ReflectRuns
from memoryd.wire import Event


@dataclass(frozen=True, slots=True)
class WorkspaceReflect:
    """Reflect over one workspace: what may be asked, and what runs by itself."""

    use: ReflectUse
    schedule: ReflectSchedule

    def loops(self, agent: str) -> list[NamedLoop]:
        """Name the loop of the schedule, after an agent."""
        return [(f"reflect {agent}", self.schedule.run)]


def workspace_reflect(
    agents: Sequence[Agent],
    around: Surroundings,
    *,
    index: WorkspaceIndex,
    ledger: Ledger,
    journal: Journal,
    book: MemoryBook,
    tombstones: TombstoneStore,
    text: TextModel | None,
) -> WorkspaceReflect:
    """Make what reflects over a workspace; the settings of the first of its agents hold."""
    name, memory = str(index.rules.workspace), agents[0].memory
    settled, runs = SettledBook(book=book, index=index), ReflectRuns(ledger, name)
    queue = ProposalQueue(ProposalRows(ledger, name), journal, settled.told)
    reflecting = Reflecting(
        ReflectParts(
            book=settled.now,
            known=lambda: index.indexer.known_paths,
            journal=journal,
            opinions=OpinionBook(OpinionSteps(ledger, name)),
            queue=queue,
            runs=runs,
            tombstones=tombstones,
            core_chars=memory.core.max_chars,
            labeller=None if text is None else Labeller(text),
            summaries=None if text is None else PageSummaries(Prose(text)),
            tell=_telling(agents, around),
        )
    )
    zone = ZoneInfo(memory.timezone) if memory.timezone else None
    return WorkspaceReflect(
        ReflectUse(reflecting=reflecting, proposals=queue, settings=memory.reflect, zone=zone),
        ReflectSchedule(reflecting=reflecting, runs=runs, settings=memory.reflect, zone=zone),
    )


def _telling(agents: Sequence[Agent], around: Surroundings) -> Callable[[str, int], None]:
    """Return what tells all agents of a workspace what a run of reflect does now."""

    def tell(step: str, count: int) -> None:
        for agent in agents:
            around.publish(Event.REFLECT, {"agent": agent.id, "step": step, "count": count})

    return tell
