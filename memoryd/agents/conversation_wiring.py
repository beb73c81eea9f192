"""What may be asked of one agent's conversations, put together from the parts that keep them."""

import asyncio
from collections.abc import Mapping

from memoryd.agents.conversation_list import ConversationList, FoundTranscript, TranscriptFinder
from memoryd.agents.conversations import AgentConversations
from memoryd.agents.forgetting import Forgetting
from memoryd.agents.forgetting_plan import PlanningForgetting
from memoryd.agents.forgetting_reach import ForgettingReach
from memoryd.agents.forgotten_places import ExportedPlace, ForgettingPlaces, IndexedPlace, NothingExported
from memoryd.agents.kept_conversations import ConversationRooms, KeptConversations
from memoryd.agents.memories_of_sessions import MemoriesOfSessions
from memoryd.agents.part_settings import transcript_folders
from memoryd.agents.qa_sessions import QaSessions
from memoryd.agents.showing import Showing
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.config.agents import Agent
from memoryd.domain.documents import RelativePath
from memoryd.errors import NotFound
from memoryd.qmd.agent import AgentQmd
from memoryd.sessions.transcripts.reading import lines_now
from memoryd.store.ledger.ledger import Ledger


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
            showing=Showing(qa, _TranscriptLines(index, listing)),
            forgetting=Forgetting(agent.id, places, ledger=ledger, withheld=index.withheld, reach=reach),
            reach=reach,
            qa=qa,
            index=index,
            memories=memories,
        ),
    )


class _TranscriptLines:
    """The lines of transcripts, in the index and in their files."""

    def __init__(self, index: AgentConversations, listing: ConversationList) -> None:
        self._index = index
        self._listing = listing

    async def indexed_lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what is indexed of these lines, by number; raises NotFound, StoreError."""
        return (await self._index.lines(path, first, last)).texts

    async def lines_now(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what these lines say in the file; raises NotFound."""
        found = await self._listing.transcript(path)
        try:
            return {} if found is None else await asyncio.to_thread(_said, found, first, last)
        except OSError as exc:
            raise NotFound(f"{path} cannot be read: {exc.strerror or exc}") from exc


def _said(found: FoundTranscript, first: int, last: int) -> Mapping[int, str]:
    return lines_now(found.file, first, last, whose=found.whose)
