"""The parts that one agent has for itself, put together: conversations, questions and answers, and its qmd."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import Forgetting, ForgettingReach, MemoriesOfSessions, PlanningForgetting
from memoryd.agents.conversations.forgotten_places import ExportedPlace, ForgettingPlaces, IndexedPlace, NothingExported
from memoryd.agents.conversations.listing import ConversationList, TranscriptFinder
from memoryd.agents.conversations.qa import AgentQa
from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.agents.conversations.search import export_settings
from memoryd.agents.conversations.showing import ConversationRooms, KeptConversations, Showing
from memoryd.agents.workspace.index import WorkspaceIndex, WorkspacePath
from memoryd.agents.workspace.parts import WorkspaceParts
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import transcript_folders
from memoryd.config.agents import Agent
from memoryd.domain.documents import RelativePath
from memoryd.errors import NotFound
from memoryd.qmd.agent import AgentQmd, Dependencies
from memoryd.qmd.conversations import ExportedSearch
from memoryd.sessions.transcripts.conversations import TranscriptListing
from memoryd.sessions.transcripts.exports import SessionExports
from memoryd.sessions.transcripts.reading import lines_now
from memoryd.sessions.turn_taking import TurnTaking
from memoryd.store.ledger.ledger import Ledger


class OwnParts(Struct, frozen=True, kw_only=True):
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
    qmd = agent_qmd(agent, shared, listing)
    qa = AgentQa(agent, qas.get(agent.id), ledger, talks.withheld, talks.near_turns)
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


def kept_conversations(
    agent: Agent,
    index: AgentConversations,
    *,
    shared: WorkspaceQa | None,
    ledger: Ledger,
    memories: MemoriesOfSessions,
    qmd: AgentQmd | None = None,
) -> KeptConversations:
    """Return what may be asked of an agent's conversations."""
    qa = QaSessions(agent.id, shared)
    listing = ConversationList(qa, index, TranscriptFinder(agent.id, transcript_folders(agent)))
    exports = NothingExported() if qmd is None else ExportedPlace(qmd)
    places = ForgettingPlaces(workspace=agent.workspace, qa=qa, index=IndexedPlace(index), exports=exports)
    reach = ForgettingReach(agent.id, places, PlanningForgetting(agent.id, qa, listing), ledger=ledger)
    return KeptConversations(
        agent.id,
        ConversationRooms(
            listing=listing,
            showing=Showing(qa, _TranscriptLines(index, listing, None if qmd is None else qmd.conversations)),
            forgetting=Forgetting(agent.id, places, ledger=ledger, withheld=index.withheld, reach=reach),
            reach=reach,
            qa=qa,
            index=index,
            memories=memories,
        ),
    )


class _TranscriptLines:
    """The lines of transcripts, in the index or else exported for qmd, and in their files."""

    def __init__(self, index: AgentConversations, listing: ConversationList, exports: ExportedSearch | None) -> None:
        self._index = index
        self._listing = listing
        self._exports = exports

    async def indexed_lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what can be found of these lines, by number; raises NotFound, StoreError."""
        try:
            return (await self._index.lines(path, first, last)).texts
        except NotFound:
            if self._exports is None or path in self._index.writer.forgotten:
                raise
            exported = await asyncio.to_thread(self._exports.lines, path, first, last)
            if exported is None:
                raise
            return exported

    async def lines_now(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what these lines say in the file; raises NotFound."""
        found = await self._listing.transcript(path)
        if found is None:
            return {}
        try:
            return await asyncio.to_thread(lines_now, found.file, first, last, whose=found.whose)
        except OSError as exc:
            raise NotFound(f"{path} cannot be read: {exc.strerror or exc}") from exc


def agent_qmd(agent: Agent, shared: WorkspaceParts, listing: TranscriptListing) -> AgentQmd | None:
    """Return the sidecar of an agent, which follows the index from now on; None where it is not wanted."""
    if agent.memory.backend != "qmd":
        return None
    exports = SessionExports(export_settings(agent, shared.around.agents), listing.look)
    qmd = AgentQmd(agent, _dependencies(shared.index, exports))
    shared.index.followers.append(qmd)
    shared.index.purges.append(qmd.drop_remains)
    return qmd


def _dependencies(index: WorkspaceIndex, exports: SessionExports) -> Dependencies:
    rules, indexer = index.rules, index.indexer
    return Dependencies(
        workspace=rules.workspace,
        builtin=index.builtin,
        words=index.words,
        known=lambda: indexer.known_paths - indexer.withdrawn.derived,
        is_withheld=indexer.withdrawn.__contains__,
        changed_since=indexer.read_since,
        ruling=rules.ruling,
        roots=rules.roots,
        max_file_bytes=rules.max_file_bytes,
        exports=exports,
    )
