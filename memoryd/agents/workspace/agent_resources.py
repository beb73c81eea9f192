"""The parts that one agent has for itself, put together: conversations, questions and answers, and its qmd."""

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import Forgetting, MemoriesOfSessions
from memoryd.agents.conversations.listing import ConversationList
from memoryd.agents.conversations.qa import AgentQa
from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.agents.conversations.search import export_settings
from memoryd.agents.conversations.showing import Showing, StoredConversations
from memoryd.agents.workspace.index import WorkspacePath
from memoryd.agents.workspace.parts import WorkspaceResources
from memoryd.agents.workspace.settings import transcript_folders
from memoryd.config.agents import Agent
from memoryd.domain.citations import transcript_path
from memoryd.qmd.agent import AgentQmd, Dependencies
from memoryd.sessions.transcripts.conversations import visible_transcripts
from memoryd.sessions.transcripts.exports import SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFolders
from memoryd.sessions.turn_taking import TurnTaking

TranscriptsNow = Callable[[], AgentTranscripts]


class AgentResources(Struct, frozen=True, kw_only=True):
    """What one agent shares with no other, not even on the same workspace."""

    path: WorkspacePath
    conversations: AgentConversations
    qmd: AgentQmd | None
    """None where the builtin index answers."""
    qa: AgentQa
    taking: TurnTaking | None
    """None unless turns are taken from transcripts."""
    kept: StoredConversations


def agent_resources(agent: Agent, shared: WorkspaceResources) -> AgentResources:
    """Wire what an agent has for itself."""
    qas, ledger, talks = shared.around.qas, shared.around.ledgers.of(agent), shared.conversations[agent.id]
    look = partial(visible_transcripts, agent.id, transcripts_of(agent), talks.withheld)
    qmd = agent_qmd(agent, shared, look)
    qa = AgentQa(agent, qas.get(agent.id), ledger, talks.withheld, talks.near_turns)
    return AgentResources(
        path=WorkspacePath(agent.workspace, shared.index),
        conversations=talks,
        qmd=qmd,
        qa=qa,
        taking=_taking(agent, shared, look, qa),
        kept=_kept(agent, shared, qmd),
    )


def transcripts_of(agent: Agent) -> TranscriptFolders:
    """Return what looks at the folders with transcripts of an agent, whoever wants them."""
    return TranscriptFolders(transcript_path(agent.id, ""), transcript_folders(agent))


def _taking(agent: Agent, shared: WorkspaceResources, look: TranscriptsNow, qa: AgentQa) -> TurnTaking | None:
    store = shared.around.qas.get(agent.id)
    if store is None or not agent.takes_turns:
        return None
    return TurnTaking(agent=agent.id, look=look, store=store, hold=qa.hold)


def _kept(agent: Agent, shared: WorkspaceResources, qmd: AgentQmd | None) -> StoredConversations:
    index, qa = shared.conversations[agent.id], QaSessions(agent.id, shared.around.qas.get(agent.id))
    listing = ConversationList(qa, index, transcripts_of(agent))
    return StoredConversations(
        agent=agent.id,
        index=index,
        qa=qa,
        listing=listing,
        showing=Showing(qa, index, listing, None if qmd is None else qmd.conversations),
        forgetting=Forgetting(
            agent=agent,
            qa=qa,
            index=index,
            listing=listing,
            ledger=shared.around.ledgers.of(agent),
            memories=MemoriesOfSessions(
                book=shared.memories.book,
                forgetting=shared.forgetting,
                follow=lambda: shared.index.settled(shared.index.demand()),
            ),
            qmd=qmd,
        ),
    )


def agent_qmd(agent: Agent, shared: WorkspaceResources, look: TranscriptsNow) -> AgentQmd | None:
    """Return the sidecar of an agent, which follows the index from now on; None where it is not wanted."""
    if agent.memory.backend != "qmd":
        return None
    index = shared.index
    rules, indexer = index.rules, index.indexer
    qmd = AgentQmd(
        agent,
        Dependencies(
            workspace=rules.workspace,
            builtin=index.builtin,
            words=index.words,
            known=lambda: indexer.known_paths - indexer.withdrawn.derived,
            is_excluded=indexer.withdrawn.__contains__,
            changed_since=indexer.read_since,
            ruling=rules.ruling,
            roots=rules.roots,
            max_file_bytes=rules.max_file_bytes,
            exports=SessionExports(export_settings(agent, shared.around.agents), look),
        ),
    )
    index.followers.append(qmd)
    index.purges.append(qmd.drop_remains)
    return qmd
