"""The assembly of the parts that the agents on one workspace share, and of the parts that each agent has for itself."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import Forgetting
from memoryd.agents.conversations.listing import ConversationList, QaSessions
from memoryd.agents.conversations.qa import AgentQa
from memoryd.agents.conversations.showing import StoredConversations
from memoryd.agents.retained.opinions import ReflectUse
from memoryd.agents.search import export_settings
from memoryd.agents.status.figures import IndexCounter
from memoryd.agents.turns.capture import WorkspaceCapture, workspace_capture
from memoryd.agents.workspace.index import DaemonResources, WorkspaceIndex, WorkspacePath, publish_to_each
from memoryd.agents.workspace.memories import (
    ForgettingIndexes,
    WorkspaceMemories,
    machine_journal,
    memory_forgetting,
    workspace_memories,
)
from memoryd.agents.workspace.settings import (
    ScanSchedule,
    WorkspaceRules,
    index_settings,
    owners_time,
    transcript_folders,
)
from memoryd.config.agents import Agent
from memoryd.domain.documents import is_conflict_copy, transcript_path
from memoryd.embed.choice import media_rules
from memoryd.embed.embedding import Embedding
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.llm import MemoryModel
from memoryd.memory.machines import MachineJournal
from memoryd.memory.reflect.proposals import ProposalQueue
from memoryd.memory.reflect.run import Reflecting
from memoryd.qmd.agent import AgentQmd, QmdDependencies
from memoryd.rerank.reranking import Reranking
from memoryd.sessions.transcripts.conversations import visible_transcripts
from memoryd.sessions.transcripts.exports import SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFolders
from memoryd.sessions.turn_taking import TurnTaking
from memoryd.store.ledger.reflect import ProposalRows, ReflectRuns
from memoryd.wire import Event

TranscriptsNow = Callable[[], AgentTranscripts]


class WorkspaceResources(Struct, frozen=True, kw_only=True):
    """The parts that the agents on one workspace share; the settings of the first agent apply."""

    agents: Sequence[Agent]
    resources: DaemonResources
    embedding: Embedding
    reranking: Reranking | None
    index: WorkspaceIndex
    counter: IndexCounter
    schedule: ScanSchedule
    conversations: Mapping[str, AgentConversations]
    """By agent id. Agents do not see each other's conversations, but a memory is forgotten in all of them."""
    memories: WorkspaceMemories
    forgetting_indexes: ForgettingIndexes
    forgetting: MemoryForgetting
    machines: MachineJournal | None
    """The exchange with other machines on the folder; None without one."""
    reflect: ReflectUse
    capture: WorkspaceCapture

    @property
    def chunker(self) -> str:
        """The fingerprint of the settings by which notes are cut into chunks."""
        return index_settings(self.agents[0].memory_search).chunks.fingerprint

    @property
    def is_alone(self) -> bool:
        """Whether no other agent, of this or another index, has the same workspace."""
        workspace = self.agents[0].workspace
        return sum(agent.workspace == workspace for agent in self.resources.agents) == 1


def workspace_resources(
    agents: Sequence[Agent], embedding: Embedding, reranking: Reranking | None, resources: DaemonResources
) -> WorkspaceResources:
    """Create the parts that these agents share; this opens and starts nothing."""
    media = media_rules(agents[0].memory_search, embedding.plan)
    index = WorkspaceIndex(
        agents=agents,
        embedding=embedding,
        reranking=reranking,
        rules=WorkspaceRules(agents[0], media=media, max_file_bytes=resources.limits.max_file_bytes),
        resources=resources,
    )
    memories, indexes = workspace_memories(agents, index, resources), ForgettingIndexes(index)
    conversations = {
        agent.id: AgentConversations(
            agent,
            embedding=embedding,
            notes=index.embedding_loop,
            pending_files=lambda: index.pending_files,
            resources=resources,
        )
        for agent in agents
    }
    qa = next((resources.qas[agent.id] for agent in agents if agent.id in resources.qas), None)
    reflect = workspace_reflect(agents, memories, resources)
    forgetting = memory_forgetting(
        memories, indexes, qa, list(conversations.values()), embedding, reflect.reflecting.queue
    )
    return WorkspaceResources(
        agents=agents,
        resources=resources,
        embedding=embedding,
        reranking=reranking,
        index=index,
        counter=IndexCounter(database=index.database, embedding_loop=index.embedding_loop, embedding=embedding),
        schedule=ScanSchedule(agents[0].memory_search.sync, index.indexer),
        conversations=conversations,
        memories=memories,
        forgetting_indexes=indexes,
        forgetting=forgetting,
        machines=machine_journal(memories, forgetting),
        reflect=reflect,
        capture=workspace_capture(agents, memories, conversations, qa),
    )


def workspace_reflect(agents: Sequence[Agent], memories: WorkspaceMemories, resources: DaemonResources) -> ReflectUse:
    """Create the reflection of a workspace, on request or by schedule; the settings of its first agent apply."""
    settings, zone = agents[0].memory.reflect, owners_time(agents[0].memory).zone
    publish = publish_to_each(agents, resources.publish)
    name, indexer = str(memories.name), memories.index.indexer
    reflecting = Reflecting(
        book=memories.settled,
        known=lambda: {path for path in indexer.known_paths if not is_conflict_copy(path)},
        is_indexed=indexer.is_known,
        journal=memories.journal,
        opinions=memories.opinions,
        queue=ProposalQueue(ProposalRows(memories.ledger, name), memories.journal, memories.shared_now),
        runs=ReflectRuns(memories.ledger, name),
        tombstones=memories.tombstones,
        core_chars=agents[0].memory.core.max_chars,
        model=None if memories.text is None else MemoryModel(memories.text),
        tell=lambda step, count: publish(Event.REFLECT, {"step": step, "count": count}),
    )
    return ReflectUse(reflecting=reflecting, settings=settings, zone=zone)


class AgentResources(Struct, frozen=True, kw_only=True):
    """The parts of one agent that it shares with no other agent, even on the same workspace."""

    path: WorkspacePath
    conversations: AgentConversations
    qmd: AgentQmd | None
    """None if the builtin index answers."""
    qa: AgentQa
    taking: TurnTaking | None
    """None unless turns are taken from transcripts."""
    stored: StoredConversations


def agent_resources(agent: Agent, shared: WorkspaceResources) -> AgentResources:
    """Create the parts that an agent has for itself."""
    conversations = shared.conversations[agent.id]
    transcripts = partial(visible_transcripts, agent.id, transcripts_of(agent), conversations.withheld)
    qmd = agent_qmd(agent, shared, transcripts)
    store = shared.resources.qas.get(agent.id)
    qa = AgentQa(agent, store, shared.resources.ledgers.of(agent), conversations.withheld, conversations.near_turns)
    taking = None
    if store is not None and agent.takes_turns:
        taking = TurnTaking(agent=agent.id, look=transcripts, store=store, store_answer=qa.hold)
    return AgentResources(
        path=WorkspacePath(agent.workspace, shared.index),
        conversations=conversations,
        qmd=qmd,
        qa=qa,
        taking=taking,
        stored=_stored_conversations(agent, shared, qmd),
    )


def transcripts_of(agent: Agent) -> TranscriptFolders:
    """Return the scanner of all transcript folders of an agent, for any use."""
    return TranscriptFolders(transcript_path(agent.id, ""), transcript_folders(agent))


def _stored_conversations(agent: Agent, shared: WorkspaceResources, qmd: AgentQmd | None) -> StoredConversations:
    index, qa = shared.conversations[agent.id], QaSessions(agent.id, shared.resources.qas.get(agent.id))
    listing = ConversationList(qa, index, transcripts_of(agent))
    return StoredConversations(
        agent=agent.id,
        index=index,
        qa=qa,
        listing=listing,
        exports=None if qmd is None else qmd.conversations,
        forgetting=Forgetting(
            agent=agent,
            qa=qa,
            index=index,
            listing=listing,
            ledgers=shared.resources.ledgers.all_of(agent),
            book=shared.memories.book,
            forgetting=shared.forgetting,
            follow=shared.index.follow,
            qmd=qmd,
        ),
    )


def agent_qmd(agent: Agent, shared: WorkspaceResources, transcripts: TranscriptsNow) -> AgentQmd | None:
    """Return the sidecar of an agent, which follows the index from now on; None if the backend is not qmd."""
    if agent.memory.backend != "qmd":
        return None
    index = shared.index
    rules, indexer = index.rules, index.indexer
    qmd = AgentQmd(
        agent,
        QmdDependencies(
            workspace=rules.workspace,
            builtin=index.builtin,
            words=index.words,
            known=lambda: indexer.known_paths - indexer.withdrawn.derived,
            is_excluded=indexer.withdrawn.__contains__,
            changed_since=indexer.read_since,
            ruling=rules.ruling,
            roots=rules.roots,
            max_file_bytes=rules.max_file_bytes,
            exports=SessionExports(export_settings(agent, shared.resources.agents), transcripts),
        ),
    )
    index.followers.append(qmd)
    index.purges.append(qmd.drop_remains)
    return qmd
