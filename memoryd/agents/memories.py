"""What may be asked of the agents' memories: one method for each use, whoever asks by whatever way.

Each takes and returns values. What tells or changes what notes say takes an `Admitted`, which the gate alone gives.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from memoryd.agents.conversations.qa import AgentQa
from memoryd.agents.conversations.showing import StoredConversations, together
from memoryd.agents.events import EventBus, Subscription
from memoryd.agents.read import AgentFiles
from memoryd.agents.retained.changes import Retained
from memoryd.agents.search import AgentSearch, SearchOptions
from memoryd.agents.status.figures import Counters, measured
from memoryd.agents.status.status import AgentParts, DegradationsOf, DegradationTracker, MemoryStatus, StatusBoard
from memoryd.agents.sync import DEFAULT_WAIT, AgentSync, reindex, sync
from memoryd.agents.turns.told import AgentTold
from memoryd.agents.turns.turns import AgentTurns
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted, folded_id
from memoryd.domain.documents import conversation_cited, lines_cited
from memoryd.domain.memories.kinds import Visibility
from memoryd.errors import Disabled, NotFound, UnknownAgent
from memoryd.files.excerpts import LineRange
from memoryd.replies.conversations import SessionSyncReply
from memoryd.replies.search import FileReply, ReindexReply, SyncReply
from memoryd.search.answer import SearchAnswer
from memoryd.wire import SyncGoal

if TYPE_CHECKING:
    # who is in no team loads none of it
    from memoryd.agents.team import AgentTeam


class AgentMemory(Struct, frozen=True):
    """The memory of one agent: an object for each use."""

    agent: Agent
    search: AgentSearch
    files: AgentFiles
    sync: AgentSync
    qa: AgentQa
    conversations: StoredConversations
    retained: Retained
    turns: AgentTurns
    told: AgentTold
    parts: AgentParts
    """Of which status tells."""
    team: "AgentTeam | None" = None
    """Its part in a team; None: it has none."""


class AgentMemories:
    """Finds the agent that is meant, and asks its memory. `outside` is as in `StatusBoard`.

    `degradations` are those of other memories that these take the place of, and `earlier` is what they counted.
    """

    def __init__(
        self,
        memories: Sequence[AgentMemory],
        *,
        bus: EventBus,
        outside: DegradationsOf = lambda _agent: (),
        degradations: DegradationTracker | None = None,
        earlier: Counters | None = None,
    ) -> None:
        self._earlier = earlier
        self._memories = list(memories)
        self._bus = bus
        parts = [memory.parts for memory in self._memories]
        known = degradations or DegradationTracker(bus.publish)
        self.board = StatusBoard(agents=parts, degradations=known, outside=outside)

    async def search(self, admitted: Admitted, text: str, options: SearchOptions) -> SearchAnswer:
        """Answer a question; raises Disabled, UnknownAgent, InvalidRequest."""
        return await self._find_enabled(admitted).search.answer(text, options, admitted)

    async def read(self, admitted: Admitted, path: str, asked: LineRange) -> FileReply:
        """Return lines of a document or a conversation; of a citation, which a name may look like, those that it names.

        Raises Disabled, UnknownAgent, InvalidRequest, NotFound, NotNow.
        """
        memory = self._find_enabled(admitted)
        if (conversation := conversation_cited(path)) is not None:
            return await memory.conversations.read(conversation, asked)
        visibility = Visibility.of(memory.agent.id, admitted)
        try:
            return await memory.files.read(path, asked, visibility)
        except NotFound:
            cited = lines_cited(path)
            if cited is None:
                raise
            place = LineRange(cited.start_line or 1, cited.line_count, asked.column)
            return await memory.files.read(cited.path, place, visibility)

    def qa(self, admitted: Admitted) -> AgentQa:
        """Return the questions and answers that a request may see and add to; raises UnknownAgent."""
        return self._find(admitted.agent).qa

    def conversations(self, admitted: Admitted) -> StoredConversations:
        """Return the conversations that a request may see; raises UnknownAgent."""
        return self._find(admitted.agent).conversations

    def retained(self, admitted: Admitted) -> Retained:
        """Return the retained memories that a request may see and add to; raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).retained

    def turns(self, admitted: Admitted) -> AgentTurns:
        """Return what takes the messages of a conversation; raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).turns

    def team(self, admitted: Admitted) -> "AgentTeam":
        """Return the agent's part in a team; raises Disabled where it has none, UnknownAgent."""
        memory = self._find_enabled(admitted)
        if memory.team is None:
            raise Disabled(
                f"agent {memory.agent.id!r} is in no team",
                hint="memoryctl team init makes one, memoryctl team join joins one",
            )
        return memory.team

    def told(self, admitted: Admitted) -> AgentTold:
        """Return what the agent was told for each question."""
        return self._find_enabled(admitted).told

    async def sync_conversations(self, agent: str | None, *, wait: bool, limit: timedelta | None) -> SessionSyncReply:
        """Read what was said until now, of the named agent or of all; raises UnknownAgent, StoreError, NotNow."""
        rooms = [memory.conversations for memory in self._chosen(agent)]
        within = DEFAULT_WAIT if limit is None else limit
        return together(await asyncio.gather(*(room.sync(wait=wait, limit=within) for room in rooms)))

    def start_session(self, admitted: Admitted) -> bool:
        """Begin a session; return whether the index looks at the disk now. Raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).sync.start_session()

    async def sync(
        self, agent: str | None, goal: SyncGoal, limit: timedelta | None = None, *, is_asking: bool
    ) -> SyncReply:
        """Make the index of the named agent, or of all, follow the disk now; raises UnknownAgent.

        `is_asking` for vectors that are made only when somebody asks. An agent must not: it would spend what its
        owner holds back.
        """
        chosen = [memory.sync for memory in self._chosen(agent)]
        return await sync(chosen, goal, DEFAULT_WAIT if limit is None else limit, is_asking=is_asking)

    async def reindex(self, agent: str | None, *, force: bool, embeddings: bool) -> ReindexReply:
        """Read every file, or make every vector, of the named agent or of all again; raises UnknownAgent."""
        return await reindex([memory.sync for memory in self._chosen(agent)], force=force, embeddings=embeddings)

    async def status(self, agent: str | None) -> list[MemoryStatus]:
        """Describe the memory of the named agent, or of all; raises UnknownAgent."""
        return await self.board.describe([memory.parts for memory in self._chosen(agent)])

    def follow(self, admitted: Admitted) -> AbstractContextManager[Subscription]:
        """Collect what happens from the beginning of the block on, to the agent admitted; to all if it names none.

        Beginning the block raises NotNow when too many follow already, ShuttingDown at the end of the daemon.
        """
        return self._bus.subscribe(admitted.agent)

    def counters(self) -> Counters:
        """Return what was counted over all memories since the start of the daemon."""
        counted = self._count()
        return counted if self._earlier is None else counted.after(self._earlier)

    def _count(self) -> Counters:
        """Count over all memories since their parts were made."""
        parts = [memory.parts for memory in self._memories]
        return measured(
            indexes=list(dict.fromkeys(one.index for one in parts)),
            sidecars=[one.qmd.search.times for one in parts if one.qmd is not None],
            conversations=[one.conversations.conversations for one in parts],
            books=list(dict.fromkeys(memory.retained.book for memory in self._memories)),
        )

    @property
    def is_ready(self) -> bool:
        """Whether the first scan of every workspace is done."""
        return all(memory.sync.index.is_ready for memory in self._memories)

    def _chosen(self, agent_id: str | None) -> list[AgentMemory]:
        return self._memories if agent_id is None else [self._find(agent_id)]

    def _find_enabled(self, admitted: Admitted) -> AgentMemory:
        """Return the memory that a request may see, if its search is on; raises Disabled."""
        memory = self._find(admitted.agent)
        if not memory.agent.memory_search.enabled:
            raise Disabled(
                f"memory search is off for agent {memory.agent.id!r}",
                hint="set agents.defaults.memorySearch.enabled or the agent's own to true",
            )
        return memory

    def _find(self, agent_id: str | None) -> AgentMemory:
        """Return the memory of the named agent, of the default one for None; raises UnknownAgent."""
        for memory in self._memories:
            if memory.agent.is_default if agent_id is None else memory.agent.id == folded_id(agent_id):
                return memory
        known = ", ".join(memory.agent.id for memory in self._memories)
        raise UnknownAgent(f"no agent {agent_id!r}", hint=f"configured agents: {known}")
