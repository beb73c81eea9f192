"""From an agent and its parts to its recall."""

from memoryd.agents.bundling import AgentBundles
from memoryd.agents.own_parts import OwnParts
from memoryd.agents.owners_time import owners_time
from memoryd.agents.part_settings import search_settings
from memoryd.agents.recall import AgentRecall
from memoryd.agents.search_wiring import file_check, present_files, reached_search
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent
from memoryd.memory.recall.eligible import EligibleMemories
from memoryd.memory.recall.engine import RecallEngine
from memoryd.memory.recall.evidence import EvidenceSearch
from memoryd.memory.recall.items import EntityPages, StandingCheck
from memoryd.memory.recall.query import RecallSettings
from memoryd.memory.recall.recaller import Recaller, RecallFreshness


def agent_recall(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentRecall:
    """Return the recall of an agent."""
    around, memories = shared.around, shared.memories
    return AgentRecall(
        agent=agent,
        is_alone=shared.is_alone,
        recaller=_recaller(agent, shared, own),
        book=memories.book,
        opinions=memories.opinions,
        bundles=AgentBundles(
            agent=agent, book=memories.book, files=present_files(shared, None), executor=around.executor
        ),
        limits=around.limits,
        usage=memories.usage,
        clock=owners_time(agent.memory).now,
    )


def _recaller(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> Recaller:
    """Return what holds what is recalled against its file: that of a note, since memories are the builtin index's."""
    files = present_files(shared, None)
    return Recaller(
        engine=_engine(agent, shared, own),
        standing=StandingCheck(database=shared.index.database, check=file_check(shared, files)),
        pages=EntityPages(files=files, executor=shared.around.executor),
        times=shared.index.builtin.times,
        fresh=RecallFreshness(
            owed=own.path.freshness,
            on_search=shared.schedule.note_question,
            catch_up=own.path.catch_up,
            look_again=shared.index.look_again,
            seconds=agent.memory_search.query.fresh_ms / 1000,
        ),
    )


def _engine(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> RecallEngine:
    index = shared.index
    return RecallEngine(
        book=shared.memories.book.now,
        eligible=EligibleMemories(database=index.database, executor=shared.around.executor),
        evidence=_evidence(agent, shared),
        database=index.database,
        withdrawn=index.indexer.withdrawn,
        # qmd finds passages of its own in the stead of the builtin index
        passages=None if own.qmd is None else reached_search(shared, own.qmd),
        usage=shared.memories.usage,
    )


def _evidence(agent: Agent, shared: WorkspaceParts) -> EvidenceSearch:
    index, limits = shared.index, shared.around.limits
    settings = RecallSettings(
        search=search_settings(agent.memory_search, limits.max_vector_bytes), fusion=agent.memory.recall.fusion
    )
    return EvidenceSearch(
        database=index.database,
        vector_arm=index.builtin.vector_arm,
        settings=settings,
        withdrawn=index.indexer.withdrawn,
        times=index.builtin.times,
    )
