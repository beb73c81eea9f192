"""From a workspace to what forgets its memories."""

from collections.abc import Sequence

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.forgetting_indexes import ForgettingIndexes, SaidToAgents
from memoryd.agents.workspace_memories import WorkspaceMemories
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.config.paths import state_dir
from memoryd.embed.embedding import Embedding
from memoryd.memory.forgetting.forgetting import ForgettingParts, MemoryForgetting
from memoryd.memory.forgetting.planning import ForgettingPlanner
from memoryd.moving.replacing import kept_folder
from memoryd.store.ledger.forgotten import ForgottenRows


def memory_forgetting(
    shared: WorkspaceMemories,
    indexes: ForgettingIndexes,
    qa: WorkspaceQa | None,
    conversations: Sequence[AgentConversations],
    embedding: Embedding,
) -> MemoryForgetting:
    """Return what forgets the memories of a workspace."""
    said = SaidToAgents(qa, conversations)
    planner = ForgettingPlanner(
        book=shared.book,
        journal=shared.journal,
        indexes=indexes,
        said=said,
        workspace=shared.name,
        sent_to=lambda: _told(embedding),
        set_aside=lambda: shared.ledger.set_aside,
        replaced=lambda: kept_folder(state_dir()),
    )
    parts = ForgettingParts(
        book=shared.book,
        journal=shared.journal,
        tombstones=shared.tombstones,
        rows=ForgottenRows(shared.ledger, str(shared.name)),
        indexes=indexes,
        said=said,
        usage=shared.usage,
        stated=shared.stated,
    )
    return MemoryForgetting(parts, planner)


def _told(embedding: Embedding) -> list[str]:
    """Name whoever was sent the text of notes to embed."""
    return [embedding.remote.settings.destination] if embedding.remote is not None else []
