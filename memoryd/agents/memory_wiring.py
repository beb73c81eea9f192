"""From an agent and its parts to what may be asked of its memory."""

from memoryd.agents.conversation_figures import ConversationCensus
from memoryd.agents.memories import AgentMemory
from memoryd.agents.own_parts import OwnParts
from memoryd.agents.read import AgentFiles
from memoryd.agents.retained import Retained
from memoryd.agents.retained_wiring import retained
from memoryd.agents.search_wiring import agent_search
from memoryd.agents.sessions import AgentSessions
from memoryd.agents.states import wanted_parts
from memoryd.agents.status import AgentParts
from memoryd.agents.sync import AgentSync
from memoryd.agents.turns_wiring import agent_turns
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent


def agent_memory(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentMemory:
    """Make what may be asked of the memory of an agent."""
    memories = retained(agent, shared, own)
    return AgentMemory(
        agent=agent,
        search=agent_search(agent, shared, own),
        files=_files(agent, shared, own),
        sync=AgentSync(
            agent=agent.id,
            index=shared.index,
            slot=shared.engines.embedding.slot,
            qmd=own.qmd,
            conversations=own.conversations,
        ),
        sessions=AgentSessions(agent.memory_search.sync, shared.index.indexer, own.conversations.demand),
        qa=own.qa,
        conversations=own.kept,
        retained=memories,
        turns=agent_turns(agent, shared, own, memories),
        parts=_parts(agent, shared, own, memories),
    )


def _files(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentFiles:
    index = shared.index
    return AgentFiles(
        agent=agent,
        workspace=index.rules.workspace,
        database=index.database,
        withdrawn=index.indexer.withdrawn,
        roots=index.rules.roots,
        rules=index.rules.rules,
        max_file_bytes=shared.around.limits.max_file_bytes,
        qmd=own.qmd,
        book=shared.memories.book.now,
    )


def _parts(agent: Agent, shared: WorkspaceParts, own: OwnParts, memories: Retained) -> AgentParts:
    embedding, kept = shared.engines.embedding, own.kept
    return AgentParts(
        id=agent.id,
        path=own.path,
        wanted=wanted_parts(agent.memory_search),
        index=shared.index,
        embedding=embedding,
        reranking=shared.engines.reranking,
        text=shared.around.text_models.of(agent),
        qmd=own.qmd,
        qa=own.qa.census,
        taking=own.taking,
        census=shared.census,
        ledger=shared.around.ledgers.of(agent),
        conversations=ConversationCensus(own.conversations, embedding, owed=lambda: kept.forgetting.trouble),
        memories_trouble=lambda: memories.trouble,
        pending_captures=lambda: memories.capture.capturing.pending,
    )
