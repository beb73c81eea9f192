"""From an agent and its parts to its memory: search, recall, retained memories, and the messages of conversations."""

from functools import partial

from memoryd.agents.conversations.search import conversation_arm
from memoryd.agents.conversations.session_memories import SessionMemories, SummingUp
from memoryd.agents.memories import AgentMemory
from memoryd.agents.read import AgentFiles, AgentVerifying
from memoryd.agents.retained.changes import AgentChanges, Retained
from memoryd.agents.retained.core import AgentCore, CoreRights
from memoryd.agents.retained.documents import AgentDocumentEdits, AgentDocuments
from memoryd.agents.retained.entities import AgentEntities
from memoryd.agents.retained.opinions import AgentOpinions
from memoryd.agents.retained.recall import AgentBundles, AgentRecall
from memoryd.agents.retained.replacing import AgentDisagreements, AgentReplacing
from memoryd.agents.retained.retaining import AgentRetaining
from memoryd.agents.retained.transfer import AgentTransfer
from memoryd.agents.search import AgentSearch
from memoryd.agents.status.figures import ConversationCensus
from memoryd.agents.status.states import wanted_parts
from memoryd.agents.status.status import AgentParts
from memoryd.agents.sync import AgentSessions, AgentSync
from memoryd.agents.turns.capture import AgentCapture, TurnCapture
from memoryd.agents.turns.log import TurnLog
from memoryd.agents.turns.turns import AgentTurns, TurnCommands
from memoryd.agents.turns.uses import TurnUses
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.memories import WorkspaceMemories
from memoryd.agents.workspace.own_parts import OwnParts
from memoryd.agents.workspace.parts import WorkspaceParts
from memoryd.agents.workspace.qa import LateMessages
from memoryd.agents.workspace.settings import owners_time, search_settings
from memoryd.config.agents import Agent
from memoryd.domain.memories.scopes import unnamed_scope
from memoryd.files.excerpts import PresentFiles, nowhere
from memoryd.memory.book import ReachedSearch
from memoryd.memory.llm import Prose
from memoryd.memory.recall.eligible import EligibleMemories
from memoryd.memory.recall.engine import RecallEngine
from memoryd.memory.recall.evidence import EvidenceSearch
from memoryd.memory.recall.items import EntityPages, StandingCheck
from memoryd.memory.recall.query import RecallSettings
from memoryd.memory.recall.recaller import Recaller, RecallFreshness
from memoryd.memory.retaining import LineEditing, Retaining
from memoryd.qmd.agent import AgentQmd
from memoryd.search.answer import SearchService
from memoryd.search.combined import MergedSearch
from memoryd.search.file_check import CheckedSearch, FileCheck


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
        parts=_agent_parts(agent, shared, own, memories),
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


def _agent_parts(agent: Agent, shared: WorkspaceParts, own: OwnParts, memories: Retained) -> AgentParts:
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


def agent_recall(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentRecall:
    """Return the recall of an agent."""
    around, memories = shared.around, shared.memories
    eligible = EligibleMemories(database=shared.index.database, executor=around.executor)
    return AgentRecall(
        agent=agent,
        is_alone=shared.is_alone,
        recaller=_recaller(agent, shared, own, eligible),
        eligible=eligible,
        book=memories.book,
        opinions=memories.opinions,
        bundles=AgentBundles(
            agent=agent,
            book=memories.book,
            eligible=eligible,
            files=present_files(shared, None),
            executor=around.executor,
        ),
        limits=around.limits,
        usage=memories.usage,
        clock=owners_time(agent.memory).now,
    )


def _recaller(agent: Agent, shared: WorkspaceParts, own: OwnParts, eligible: EligibleMemories) -> Recaller:
    """Return what holds what is recalled against its file: that of a note, since memories are the builtin index's."""
    files = present_files(shared, None)
    return Recaller(
        engine=_engine(agent, shared, own, eligible),
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


def _engine(agent: Agent, shared: WorkspaceParts, own: OwnParts, eligible: EligibleMemories) -> RecallEngine:
    index = shared.index
    return RecallEngine(
        book=shared.memories.book.now,
        eligible=eligible,
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


def retained(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> Retained:
    """Make what may be asked of the retained memories of an agent."""
    memories, journal = shared.memories, shared.memories.journal
    rights = CoreRights(agent.memory.evolution.to_tiers().promotion.importance_only)
    recall = agent_recall(agent, shared, own)
    retaining = _retaining(agent, memories, rights, recall)
    documents = _documents(agent, shared, recall)
    edits = AgentDocumentEdits(
        documents=documents, retaining=retaining, editing=LineEditing(journal), stated=memories.stated
    )
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
        core=AgentCore(journal=journal, max_chars=agent.memory.core.max_chars, rights=rights),
        entities=_entities(agent, memories),
        changes=AgentChanges(journal=journal, usage=memories.usage, now=owners_time(agent.memory).now),
        reflect=shared.reflect.use,
        recall=recall,
        documents=documents,
        document_edits=edits,
        replacing=AgentReplacing(edits=edits),
        disagreements=AgentDisagreements(documents=documents, editing=edits.editing),
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


def _retaining(agent: Agent, memories: WorkspaceMemories, rights: CoreRights, recall: AgentRecall) -> AgentRetaining:
    return AgentRetaining(
        agent=agent.id,
        rights=rights,
        retaining=Retaining(memories.journal, owners_time(agent.memory).today, memories.stated),
        index=memories.index,
        tombstones=memories.tombstones,
        book=memories.book,
        facts=recall.eligible.facts,
    )


def _entities(agent: Agent, memories: WorkspaceMemories) -> AgentEntities:
    return AgentEntities(
        agent=agent.id,
        book=memories.book,
        opinions=memories.opinions,
        journal=memories.journal,
        index=memories.index,
    )


async def _followed(index: WorkspaceIndex) -> None:
    """Have the index hold what is on disk now."""
    await index.settled(index.demand())


def agent_search(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentSearch:
    """Return the search of an agent."""
    service = SearchService(
        search=_merged_search(agent, shared, own),
        freshness=own.path.freshness,
        on_search=shared.schedule.note_question,
        catch_up=own.path.catch_up,
        fresh_seconds=agent.memory_search.query.fresh_ms / 1000,
    )
    return AgentSearch(agent=agent, service=service, slot=shared.engines.embedding.slot, limits=shared.around.limits)


def reached_search(shared: WorkspaceParts, qmd: AgentQmd | None) -> ReachedSearch:
    """Return the engine of an agent, which tells nobody the lines of others."""
    index = shared.index
    checked = CheckedSearch(
        inner=index.builtin if qmd is None else qmd.search,
        check=file_check(shared, present_files(shared, qmd)),
        look_again=index.look_again,
        gone=lambda: index.indexer.gone,
    )
    return ReachedSearch(inner=checked, book=shared.memories.book.now, database=index.database)


def present_files(shared: WorkspaceParts, qmd: AgentQmd | None) -> PresentFiles:
    """Return the files of notes as they are now; those that only the sidecar knows, too."""
    rules = shared.index.rules
    return PresentFiles(rules=rules.rules, roots=rules.roots, elsewhere=nowhere if qmd is None else qmd.files.location)


def file_check(shared: WorkspaceParts, files: PresentFiles) -> FileCheck:
    """Return what holds hits against these files."""
    return FileCheck(files=files, executor=shared.around.executor, chunker=shared.chunker)


def _merged_search(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> MergedSearch:
    settings, qmd = agent.memory_search, own.qmd
    weights = search_settings(settings, shared.around.limits.max_vector_bytes).weights
    exports = None if qmd is None else qmd.conversations
    return MergedSearch(
        notes=reached_search(shared, qmd),
        conversations=conversation_arm(own.conversations, settings, exports=exports, weights=weights),
        weights=weights,
    )


def agent_turns(agent: Agent, shared: WorkspaceParts, own: OwnParts, retained: Retained) -> AgentTurns:
    """Return what takes the messages of an agent."""
    log = TurnLog(agent.id, own.qa, shared.around.qas.get(agent.id))
    capture = TurnCapture(agent.id, retained.capture, is_alone=shared.is_alone, is_read_only=agent.memory.read_only)
    sessions = _sessions(agent, shared, log, capture)
    return AgentTurns(
        agent=agent,
        log=log,
        commands=TurnCommands(agent.id, retained, sessions, agent.turns.recall_final_k),
        capture=capture,
        sessions=sessions,
        retained=retained,
        uses=TurnUses(retained.recall),
        max_query_bytes=shared.around.limits.max_query_bytes,
        clock=owners_time(agent.memory).now,
        late=LateMessages(log.shared),
    )


def _sessions(agent: Agent, shared: WorkspaceParts, log: TurnLog, capture: TurnCapture) -> SessionMemories:
    memories, time = shared.memories, owners_time(agent.memory)
    return SessionMemories(
        agent=agent.id,
        shared=log.shared,
        journal=memories.journal,
        retaining=Retaining(memories.journal, time.today),
        summing=SummingUp(Prose(memories.text), memories.book, memories.tombstones, memories.stated),
        is_withheld=log.is_withheld,
        scope=capture.scope,
        day=time.day,
        now=time.now,
        in_groups=agent.memory.capture.in_groups,
    )
