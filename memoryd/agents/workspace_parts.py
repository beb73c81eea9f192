"""The parts of a workspace that the agents on it share, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoryd.agents.capture_wiring import WorkspaceCapture, workspace_capture
from memoryd.agents.conversations import AgentConversations, NotesAhead
from memoryd.agents.figures import Census
from memoryd.agents.forgetting_indexes import ForgettingIndexes
from memoryd.agents.part_settings import index_settings
from memoryd.agents.reflect_wiring import WorkspaceReflect, workspace_reflect
from memoryd.agents.retained_forgetting import memory_forgetting
from memoryd.agents.rules import WorkspaceRules
from memoryd.agents.schedule import ScanSchedule
from memoryd.agents.workspace_index import Surroundings, WorkspaceIndex
from memoryd.agents.workspace_memories import WorkspaceMemories, workspace_memories
from memoryd.config.agents import Agent
from memoryd.embed.choice import media_rules
from memoryd.embed.embedding import Embedding
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.rerank.reranking import Reranking


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceEngines:
    """Who embeds the passages of a workspace, and who puts answers in order."""

    embedding: Embedding
    reranking: Reranking | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceParts:
    """What the agents on one workspace share; the settings of the first of them hold."""

    agents: Sequence[Agent]
    around: Surroundings
    engines: WorkspaceEngines
    index: WorkspaceIndex
    census: Census
    schedule: ScanSchedule
    conversations: Mapping[str, AgentConversations]
    """By the ids of the agents: what is told to one is not told to another, but a memory is forgotten in all."""
    memories: WorkspaceMemories
    forgetting_indexes: ForgettingIndexes
    forgetting: MemoryForgetting
    reflect: WorkspaceReflect
    capture: WorkspaceCapture

    @property
    def chunker(self) -> str:
        """The fingerprint of how notes are cut."""
        return index_settings(self.agents[0].memory_search).chunks.fingerprint

    @property
    def is_alone(self) -> bool:
        """Whether no agent of another index has this workspace, nor a second one of this."""
        workspace = self.agents[0].workspace
        return sum(agent.workspace == workspace for agent in self.around.agents) == 1


def workspace_parts(agents: Sequence[Agent], engines: WorkspaceEngines, around: Surroundings) -> WorkspaceParts:
    """Wire what these agents share; nothing is opened, and nothing runs."""
    index = _index(agents, engines, around)
    memories, indexes = workspace_memories(agents, index, around), ForgettingIndexes(index)
    conversations = _conversations(agents, index, engines, around)
    qa = next((around.qas[agent.id] for agent in agents if agent.id in around.qas), None)
    return WorkspaceParts(
        agents=agents,
        around=around,
        engines=engines,
        index=index,
        census=Census(database=index.database, lane=index.lane, embedding=engines.embedding),
        schedule=ScanSchedule(agents[0].memory_search.sync, index.indexer),
        conversations=conversations,
        memories=memories,
        forgetting_indexes=indexes,
        forgetting=memory_forgetting(memories, indexes, qa, list(conversations.values()), engines.embedding),
        reflect=workspace_reflect(agents, memories, around),
        capture=workspace_capture(agents, memories, conversations, qa),
    )


def _index(agents: Sequence[Agent], engines: WorkspaceEngines, around: Surroundings) -> WorkspaceIndex:
    media = media_rules(agents[0].memory_search, engines.embedding.plan)
    return WorkspaceIndex(
        agents=agents,
        embedding=engines.embedding,
        reranking=engines.reranking,
        rules=WorkspaceRules(agents[0], media=media, max_file_bytes=around.limits.max_file_bytes),
        around=around,
    )


def _conversations(
    agents: Sequence[Agent], index: WorkspaceIndex, engines: WorkspaceEngines, around: Surroundings
) -> dict[str, AgentConversations]:
    ahead = NotesAhead(index.lane, lambda: index.pending_files)
    return {
        agent.id: AgentConversations(agent, embedding=engines.embedding, notes=ahead, around=around) for agent in agents
    }
