"""From an agent and its parts to what may be asked of its retained memories."""

from functools import partial

from memoryd.agents.capture import AgentCapture
from memoryd.agents.changes import AgentChanges
from memoryd.agents.core_editing import AgentCore
from memoryd.agents.core_rights import CoreRights
from memoryd.agents.document_edits import AgentDocumentEdits
from memoryd.agents.documents import AgentDocuments
from memoryd.agents.entities import AgentEntities
from memoryd.agents.opinions import AgentOpinions
from memoryd.agents.own_parts import OwnParts
from memoryd.agents.owners_time import owners_time
from memoryd.agents.recall import AgentRecall
from memoryd.agents.recall_wiring import agent_recall
from memoryd.agents.retained import Retained
from memoryd.agents.retaining import AgentRetaining
from memoryd.agents.transfer import AgentTransfer
from memoryd.agents.verifying import AgentVerifying
from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.agents.workspace_memories import WorkspaceMemories
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent
from memoryd.domain.memories.scopes import unnamed_scope
from memoryd.memory.core import CoreMemory
from memoryd.memory.entities import MergingEntities
from memoryd.memory.retaining import LineEditing, Retaining


def retained(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> Retained:
    """Make what may be asked of the retained memories of an agent."""
    memories, journal = shared.memories, shared.memories.journal
    rights = CoreRights(agent.memory.evolution.to_tiers().promotion.importance_only)
    retaining, recall = _retaining(agent, memories, rights), agent_recall(agent, shared, own)
    documents = _documents(agent, shared, recall)
    return Retained(
        agent=agent,
        book=memories.book,
        journal=journal,
        retaining=retaining,
        forgetting=shared.forgetting,
        verifying=AgentVerifying(
            agent=agent, book=memories.book, journal=journal, follow=partial(_followed, memories.index)
        ),
        opinions=AgentOpinions(agent.id, memories.book, memories.opinions),
        core=AgentCore(memory=CoreMemory(journal, agent.memory.core.max_chars), rights=rights),
        entities=_entities(agent, memories),
        changes=AgentChanges(journal=journal, now=owners_time(agent.memory).now),
        reflect=shared.reflect.use,
        recall=recall,
        documents=documents,
        document_edits=AgentDocumentEdits(
            documents=documents, retaining=retaining, editing=LineEditing(journal), stated=memories.stated
        ),
        transfer=AgentTransfer(documents=documents, retaining=retaining, today=owners_time(agent.memory).today),
        capture=AgentCapture(
            agent=agent.id,
            scope=unnamed_scope(agent.id, is_alone=shared.is_alone),
            capturing=shared.capture.capturing,
            delivered=shared.capture.delivered,
        ),
    )


def _documents(agent: Agent, shared: WorkspaceParts, recall: AgentRecall) -> AgentDocuments:
    memories = shared.memories
    return AgentDocuments(
        agent=agent,
        is_alone=shared.is_alone,
        book=memories.book,
        recall=recall,
        index=memories.index,
        usage=memories.usage,
        zone=owners_time(agent.memory).zone,
    )


def _retaining(agent: Agent, memories: WorkspaceMemories, rights: CoreRights) -> AgentRetaining:
    return AgentRetaining(
        agent=agent.id,
        rights=rights,
        retaining=Retaining(memories.journal, owners_time(agent.memory).today, memories.stated),
        index=memories.index,
        tombstones=memories.tombstones,
    )


def _entities(agent: Agent, memories: WorkspaceMemories) -> AgentEntities:
    return AgentEntities(
        agent=agent.id,
        book=memories.book,
        opinions=memories.opinions,
        merging=MergingEntities(memories.journal),
        index=memories.index,
    )


async def _followed(index: WorkspaceIndex) -> None:
    """Have the index hold what is on disk now."""
    await index.settled(index.demand())
