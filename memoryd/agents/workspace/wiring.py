"""The assembly of an agent's memory from its parts: search, recall, retained memories, and messages."""

from typing import TYPE_CHECKING

from memoryd.agents.conversations.session_memories import SessionMemories, SessionSummarizer
from memoryd.agents.memories import AgentMemory, AgentSync
from memoryd.agents.retained.changes import AgentChanges, Retained
from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.retained.entities import AgentEntities
from memoryd.agents.retained.opinions import AgentOpinions
from memoryd.agents.retained.recall import AgentRecall
from memoryd.agents.retained.replacing import AgentEdits
from memoryd.agents.retained.retaining import AgentCore, AgentRetaining, CoreRights
from memoryd.agents.retained.transfer import AgentTransfer
from memoryd.agents.search import AgentFiles, AgentSearch, AgentVerifying, conversation_arm
from memoryd.agents.status.figures import ConversationCounter
from memoryd.agents.status.status import AgentParts
from memoryd.agents.turns.capture import AgentCapture
from memoryd.agents.turns.log import TurnLog
from memoryd.agents.turns.shown import ShownMemories, UnaskedRecall, UndeliveredAnswers
from memoryd.agents.turns.turns import AgentTurns, TurnCommands, TurnUses
from memoryd.agents.workspace.parts import AgentResources, WorkspaceResources
from memoryd.agents.workspace.qa import LateMessages
from memoryd.agents.workspace.settings import owners_time, search_settings
from memoryd.config.agents import Agent
from memoryd.files.excerpts import FileChecker, no_qmd
from memoryd.memory.llm import MemoryModel
from memoryd.memory.recall.answer import EntityPages
from memoryd.memory.recall.eligible import EligibleMemories
from memoryd.memory.recall.recaller import Recaller
from memoryd.memory.retaining import LineEditing, Retaining
from memoryd.qmd.agent import AgentQmd
from memoryd.search.answer import SearchService
from memoryd.search.file_check import FileCheck, NotesSearch
from memoryd.search.protocol import DiskFollower

if TYPE_CHECKING:
    from memoryd.agents.team import AgentTeam


def agent_memory(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> AgentMemory:
    """Assemble the memory of an agent."""
    memories = retained(agent, shared, own)
    team = _team(agent, shared, own, memories)
    return AgentMemory(
        agent=agent,
        search=agent_search(agent, shared, own),
        files=AgentFiles(
            agent=agent,
            index=shared.index,
            qmd=own.qmd,
            book=shared.memories.book.current,
            today=owners_time(agent.memory).today,
        ),
        sync=AgentSync(
            agent=agent.id,
            settings=agent.memory_search.sync,
            index=shared.index,
            slot=shared.embedding.slot,
            qmd=own.qmd,
            conversations=own.conversations,
        ),
        qa=own.qa,
        conversations=own.stored,
        retained=memories,
        turns=agent_turns(agent, shared, own, memories),
        shown=ShownMemories(agent.id, shared.memories.shown, shared.memories.book, own.stored.qa),
        parts=_agent_parts(agent, shared, own, memories, team),
        team=team,
    )


def _team(agent: Agent, shared: WorkspaceResources, own: AgentResources, memories: Retained) -> "AgentTeam | None":
    if agent.team is None:
        return None
    from memoryd.agents.team import agent_team

    team = agent_team(agent.id, agent.team, memories.documents, memories.journal, shared.index)
    shared.forgetting.revoke, memories.journal.revoke_shared = team.forget, team.revoke_shared
    own.path.team = team.sharing.why_outdated
    return team


def _agent_parts(
    agent: Agent, shared: WorkspaceResources, own: AgentResources, memories: Retained, team: "AgentTeam | None"
) -> AgentParts:
    embedding, forgetting, machines = shared.embedding, own.stored.forgetting, shared.machines
    return AgentParts(
        id=agent.id,
        path=own.path,
        settings=agent.memory_search,
        index=shared.index,
        embedding=embedding,
        reranking=shared.reranking,
        text=shared.resources.models.writing(agent),
        qmd=own.qmd,
        qa=own.qa.counter,
        turn_taking=own.taking,
        counter=shared.counter,
        ledger=shared.resources.ledgers.of(agent),
        conversations=ConversationCounter(own.conversations, embedding, unfinished=lambda: forgetting.trouble),
        memories_trouble=lambda: memories.trouble or ("" if machines is None else machines.trouble),
        pending_captures=lambda: memories.capture.capturing.pending,
        team=None if team is None else team.status,
        team_trouble=lambda: "" if team is None else team.trouble,
    )


def agent_recall(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> AgentRecall:
    """Return the recall of an agent. Recalled memories are checked against the files of their notes."""
    resources, memories, index = shared.resources, shared.memories, shared.index
    eligible = EligibleMemories(database=index.database, executor=resources.executor, hidden=memories.book.hidden)
    memories.book.prepares.append(eligible.facts)
    files = present_files(shared, None)
    recaller = Recaller(
        index=index.builtin,
        settings=search_settings(agent.memory_search, resources.limits.max_vector_bytes),
        fusion=agent.memory.recall.fusion,
        book=memories.book.current,
        eligible=eligible,
        usage=memories.usage,
        # instead of the passages of the builtin index, qmd finds passages of its own
        passages=None if own.qmd is None else _notes_search(agent, shared, own),
        check=_file_check(shared, files),
        pages=EntityPages(files=files, executor=resources.executor),
        disk=_disk_follower(agent, shared, own),
    )
    return AgentRecall(
        agent=agent,
        is_alone=shared.is_alone,
        recaller=recaller,
        eligible=eligible,
        book=memories.book,
        opinions=memories.opinions,
        files=files,
        executor=resources.executor,
        usage=memories.usage,
        clock=owners_time(agent.memory).now,
    )


def retained(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> Retained:
    """Assemble the retained memories of an agent."""
    memories, journal = shared.memories, shared.memories.journal
    owner = owners_time(agent.memory)
    rights = CoreRights(agent.memory.evolution.to_tiers().promotion.importance_only)
    recall = agent_recall(agent, shared, own)
    retaining = AgentRetaining(
        agent=agent.id,
        rights=rights,
        retaining=Retaining(journal, owner.today, memories.stated),
        index=memories.index,
        tombstones=memories.tombstones,
        book=memories.book,
        facts=recall.eligible.facts,
    )
    documents = AgentDocuments(recall=recall, index=shared.index, zone=owner.zone)
    edits = AgentEdits(documents=documents, retaining=retaining, editing=LineEditing(journal), stated=memories.stated)
    return Retained(
        agent=agent,
        book=memories.book,
        journal=journal,
        retaining=retaining,
        forgetting=shared.forgetting,
        verifying=AgentVerifying(agent=agent, book=memories.book, journal=journal, index=memories.index),
        opinions=AgentOpinions(agent.id, memories.book, memories.opinions),
        core=AgentCore(journal=journal, max_chars=agent.memory.core.max_chars, rights=rights),
        entities=AgentEntities(
            agent=agent.id,
            book=memories.book,
            opinions=memories.opinions,
            journal=journal,
            index=memories.index,
        ),
        changes=AgentChanges(
            journal=journal,
            usage=memories.usage,
            index=memories.index,
            proposals=shared.reflect.reflecting.queue,
            tombstones=memories.tombstones,
            now=owner.now,
        ),
        reflect=shared.reflect,
        recall=recall,
        documents=documents,
        document_edits=edits,
        transfer=AgentTransfer(documents=documents, retaining=retaining, today=owner.today),
        capture=AgentCapture(
            agent=agent.id,
            is_alone=shared.is_alone,
            is_read_only=agent.memory.read_only,
            capturing=shared.capture.capturing,
            delivered=shared.capture.delivered,
        ),
    )


def agent_search(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> AgentSearch:
    """Return the search of an agent, which hides the lines of other agents."""
    settings, limits = agent.memory_search, shared.resources.limits
    weights = search_settings(settings, limits.max_vector_bytes).weights
    exports = None if own.qmd is None else own.qmd.conversations
    service = SearchService(
        notes=_notes_search(agent, shared, own),
        conversations=conversation_arm(
            own.conversations, is_reading=agent.reads_transcripts, exports=exports, weights=weights
        ),
        weights=weights,
        disk=_disk_follower(agent, shared, own),
    )
    return AgentSearch(agent=agent, service=service, slot=shared.embedding.slot)


def _notes_search(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> NotesSearch:
    return NotesSearch(
        inner=shared.index.builtin if own.qmd is None else own.qmd.search,
        check=_file_check(shared, present_files(shared, own.qmd)),
        disk=_disk_follower(agent, shared, own),
        hidden=shared.memories.book.hidden_chunks,
    )


def _disk_follower(agent: Agent, shared: WorkspaceResources, own: AgentResources) -> DiskFollower:
    return DiskFollower(
        freshness=own.path.freshness,
        on_search=shared.schedule.note_question,
        catch_up=own.path.catch_up,
        rescan=shared.index.rescan,
        missing=lambda: shared.index.indexer.missing,
        seconds=agent.memory_search.query.fresh_ms / 1000,
    )


def present_files(shared: WorkspaceResources, qmd: AgentQmd | None) -> FileChecker:
    """Return the current files of notes, including those that only the sidecar knows."""
    rules = shared.index.rules
    return FileChecker(rules=rules.rules, roots=rules.roots, locate_qmd=no_qmd if qmd is None else qmd.files.location)


def _file_check(shared: WorkspaceResources, files: FileChecker) -> FileCheck:
    return FileCheck(files=files, executor=shared.resources.executor, chunker=shared.chunker)


def agent_turns(agent: Agent, shared: WorkspaceResources, own: AgentResources, retained: Retained) -> AgentTurns:
    """Return the object that takes the messages of an agent."""
    log = TurnLog(own.qa)
    sessions = _sessions(agent, shared, log, retained.capture)
    return AgentTurns(
        agent=agent,
        log=log,
        commands=TurnCommands(agent.id, retained, sessions, agent.turns.recall_final_k),
        capture=retained.capture,
        sessions=sessions,
        retained=retained,
        uses=TurnUses(retained.recall),
        shown_log=shared.memories.shown,
        clock=owners_time(agent.memory).now,
        late=LateMessages(log.shared),
        unasked=UnaskedRecall(agent, retained.recall, UndeliveredAnswers()),
    )


def _sessions(agent: Agent, shared: WorkspaceResources, log: TurnLog, capture: AgentCapture) -> SessionMemories:
    memories, time = shared.memories, owners_time(agent.memory)
    return SessionMemories(
        agent=agent.id,
        shared=log.shared,
        journal=memories.journal,
        retaining=Retaining(memories.journal, time.today),
        summing=SessionSummarizer(MemoryModel(memories.text), memories.book, memories.tombstones, memories.stated),
        is_excluded=log.is_excluded,
        scope=capture.scope,
        day=time.day,
        now=time.now,
        in_groups=agent.memory.capture.in_groups,
    )
