"""From an agent and its workspace to what may be asked of its retained memories."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from memoryd.agents.changes import AgentChanges
from memoryd.agents.core_editing import AgentCore
from memoryd.agents.entities import AgentEntities
from memoryd.agents.opinions import AgentOpinions
from memoryd.agents.recall_wiring import RecallParts, agent_recall
from memoryd.agents.reflect_wiring import WorkspaceReflect, workspace_reflect
from memoryd.agents.retained import Retained
from memoryd.agents.retaining import AgentRetaining
from memoryd.agents.verifying import AgentVerifying
from memoryd.agents.workspace_index import Surroundings, WorkspaceIndex
from memoryd.config.resolved import Agent
from memoryd.llm.text_model import TextModel
from memoryd.memory.book import MemoryBook
from memoryd.memory.core import CoreMemory
from memoryd.memory.entities import MergingEntities
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.tombstone_store import KEY_SUFFIX, TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.opinions.opinion_book import OpinionBook
from memoryd.memory.record_days import RecordDays
from memoryd.memory.retaining import Retaining
from memoryd.store.first_seen import FirstSeen
from memoryd.store.ledger import Ledger
from memoryd.store.opinion_steps import OpinionSteps
from memoryd.store.tombstone_rows import TombstoneRows


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceMemories:
    """What the agents on one workspace share of its retained memories. `name` is its real path, the key of rows."""

    name: Path
    index: WorkspaceIndex
    ledger: Ledger
    book: MemoryBook
    journal: Journal
    text: TextModel | None
    """Who labels and writes prose; None where nobody is configured."""
    tombstones: TombstoneStore
    """What is forgotten."""
    opinions: OpinionBook
    reflect: WorkspaceReflect


def workspace_memories(agents: Sequence[Agent], index: WorkspaceIndex, around: Surroundings) -> WorkspaceMemories:
    """Make what these agents share; the first one's settings hold."""
    name, ledger = index.rules.workspace, around.ledgers.of(agents[0])
    journal = around.journals.of(agents[0], index.rules)
    journal.on_written.append(index.demand)
    journal.knows.append(lambda path: path in index.indexer.known_paths)
    book = _book(agents[0], index, FirstSeen(ledger, name), around.executor)
    index.followers.append(book)
    text = around.text_models.of(agents[0])
    tombstones = TombstoneStore(
        rows=TombstoneRows(ledger, str(name)),
        workspace=name,
        key_file=ledger.path.with_name(ledger.path.name + KEY_SUFFIX),
    )
    reflect = workspace_reflect(
        agents, around, index=index, ledger=ledger, journal=journal, book=book, tombstones=tombstones, text=text
    )
    return WorkspaceMemories(
        name=name,
        index=index,
        ledger=ledger,
        book=book,
        journal=journal,
        text=text,
        tombstones=tombstones,
        opinions=OpinionBook(OpinionSteps(ledger, str(name))),
        reflect=reflect,
    )


def retained(agent: Agent, shared: WorkspaceMemories, forgetting: MemoryForgetting, parts: RecallParts) -> Retained:
    """Make what may be asked of the retained memories of an agent."""
    return Retained(
        agent=agent,
        book=shared.book,
        journal=shared.journal,
        retaining=AgentRetaining(
            agent=agent.id,
            retaining=Retaining(shared.journal, partial(_today, agent)),
            index=shared.index,
            tombstones=shared.tombstones,
        ),
        forgetting=forgetting,
        verifying=AgentVerifying(
            agent=agent, book=shared.book, journal=shared.journal, follow=partial(_followed, shared.index)
        ),
        opinions=AgentOpinions(agent.id, shared.book, shared.opinions),
        core=AgentCore(memory=CoreMemory(shared.journal, agent.memory.core.max_chars)),
        entities=AgentEntities(
            agent=agent.id,
            book=shared.book,
            opinions=shared.opinions,
            merging=MergingEntities(shared.journal),
            index=shared.index,
        ),
        changes=AgentChanges(journal=shared.journal, now=partial(_now, agent)),
        reflect=shared.reflect.use,
        recall=agent_recall(agent, shared.index, shared.book, shared.opinions, parts),
    )


def _now(agent: Agent) -> datetime:
    """Return the time of the owner, by whatever zone the machine is in now."""
    return datetime.now(UTC).astimezone(ZoneInfo(agent.memory.timezone) if agent.memory.timezone else None)


async def _followed(index: WorkspaceIndex) -> None:
    """Have the index hold what is on disk now."""
    await index.settled(index.demand())


def _today(agent: Agent) -> date:
    return _now(agent).date()


def _book(agent: Agent, index: WorkspaceIndex, first_seen: FirstSeen, executor: Executor) -> MemoryBook:
    zone = agent.memory.timezone
    return MemoryBook(
        database=index.database,
        days=RecordDays(first_seen=first_seen, local_day=_local_day(ZoneInfo(zone) if zone else None), clock=time.time),
        withdrawn=lambda: index.indexer.withdrawn.paths,
        executor=executor,
    )


def _local_day(zone: tzinfo | None) -> Callable[[float], date]:
    """Return what gives the day of a Unix time in a zone, None: in that of the machine as it is then."""
    return lambda at: datetime.fromtimestamp(at, UTC).astimezone(zone).date()
