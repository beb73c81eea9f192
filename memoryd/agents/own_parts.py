"""The parts that one agent has for itself, put together."""

from dataclasses import dataclass

from memoryd.agents.conversation_wiring import kept_conversations
from memoryd.agents.conversations import AgentConversations
from memoryd.agents.kept_conversations import KeptConversations
from memoryd.agents.memories_of_sessions import MemoriesOfSessions
from memoryd.agents.part_settings import transcript_folders
from memoryd.agents.qa import AgentQa
from memoryd.agents.qmd_wiring import agent_qmd
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.agents.workspace_path import WorkspacePath
from memoryd.config.agents import Agent
from memoryd.qmd.agent import AgentQmd
from memoryd.sessions.transcripts.conversations import TranscriptListing
from memoryd.sessions.turn_taking import TurnTaking


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnParts:
    """What one agent shares with no other, not even on the same workspace."""

    path: WorkspacePath
    conversations: AgentConversations
    qmd: AgentQmd | None
    """None where the builtin index answers."""
    qa: AgentQa
    taking: TurnTaking | None
    """None unless turns are taken from transcripts."""
    kept: KeptConversations


def own_parts(agent: Agent, shared: WorkspaceParts) -> OwnParts:
    """Wire what an agent has for itself."""
    qas, ledger, talks = shared.around.qas, shared.around.ledgers.of(agent), shared.conversations[agent.id]
    listing = TranscriptListing(agent.id, transcript_folders(agent), talks.withheld)
    qmd, qa = agent_qmd(agent, shared, listing), AgentQa(agent, qas.get(agent.id), ledger, talks.withheld)
    return OwnParts(
        path=WorkspacePath(agent.workspace, shared.index),
        conversations=talks,
        qmd=qmd,
        qa=qa,
        taking=_taking(agent, shared, listing, qa),
        kept=kept_conversations(
            agent, talks, shared=qas.get(agent.id), ledger=ledger, memories=_memories(shared), qmd=qmd
        ),
    )


def _memories(shared: WorkspaceParts) -> MemoriesOfSessions:
    return MemoriesOfSessions(
        book=shared.memories.book,
        forgetting=shared.forgetting,
        follow=lambda: shared.index.settled(shared.index.demand()),
    )


def _taking(agent: Agent, shared: WorkspaceParts, listing: TranscriptListing, qa: AgentQa) -> TurnTaking | None:
    store = shared.around.qas.get(agent.id)
    if store is None or not agent.takes_turns:
        return None
    return TurnTaking(agent=agent.id, look=listing.look, store=store, hold=qa.held_answers.hold)
