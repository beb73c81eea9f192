"""From an agent, its workspace and its search to its recall."""

from concurrent.futures import Executor
from dataclasses import dataclass

from memoryd.agents.bundling import AgentBundles
from memoryd.agents.part_settings import search_settings
from memoryd.agents.recall import AgentRecall, owners_clock
from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.config.limits import LimitsSection
from memoryd.config.resolved import Agent
from memoryd.files.present import PresentFiles
from memoryd.memory.book import MemoryBook
from memoryd.memory.opinions.opinion_book import OpinionBook
from memoryd.memory.recall.eligible import EligibleMemories
from memoryd.memory.recall.evidence_search import EvidenceSearch
from memoryd.memory.recall.page_items import EntityPages
from memoryd.memory.recall.recall_engine import RecallEngine
from memoryd.memory.recall.recall_query import RecallSettings
from memoryd.memory.recall.recaller import Recaller, RecallFreshness
from memoryd.memory.recall.standing_items import StandingCheck
from memoryd.search.backend import SearchBackend
from memoryd.search.file_check import FileCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallParts:
    """What recall shares with the search of an agent. `passages` finds passages in the stead of the builtin index."""

    files: PresentFiles
    check: FileCheck
    fresh: RecallFreshness
    executor: Executor
    limits: LimitsSection
    passages: SearchBackend | None
    is_alone: bool


def agent_recall(
    agent: Agent, index: WorkspaceIndex, book: MemoryBook, opinions: OpinionBook, parts: RecallParts
) -> AgentRecall:
    """Return the recall of an agent."""
    settings = RecallSettings(
        search=search_settings(agent.memory_search, parts.limits.max_vector_bytes), fusion=agent.memory.recall.fusion
    )
    engine = RecallEngine(
        book=book.now,
        eligible=EligibleMemories(database=index.database, executor=parts.executor),
        evidence=EvidenceSearch(
            database=index.database,
            vector_arm=index.builtin.vector_arm,
            settings=settings,
            withdrawn=index.indexer.withdrawn,
        ),
        database=index.database,
        withdrawn=index.indexer.withdrawn,
        passages=parts.passages,
    )
    return AgentRecall(
        agent=agent,
        is_alone=parts.is_alone,
        recaller=Recaller(
            engine=engine,
            standing=StandingCheck(database=index.database, check=parts.check),
            pages=EntityPages(files=parts.files, executor=parts.executor),
            fresh=parts.fresh,
        ),
        book=book,
        opinions=opinions,
        bundles=AgentBundles(agent=agent, book=book, files=parts.files, executor=parts.executor),
        limits=parts.limits,
        clock=owners_clock(agent),
    )
