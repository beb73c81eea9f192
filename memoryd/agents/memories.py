"""The memories of all agents: one method for each use, and an index that follows the disk.

The methods take and return plain values. A method that reads or changes the content of notes takes an `Admitted`,
which only the access gate creates.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.qa import AgentQa
from memoryd.agents.conversations.showing import StoredConversations, combined_sync
from memoryd.agents.events import EventBus, Subscription
from memoryd.agents.retained.changes import Retained
from memoryd.agents.search import AgentFiles, AgentSearch, SearchOptions
from memoryd.agents.status.figures import Counters, sum_counters
from memoryd.agents.status.status import AgentParts, DegradationsOf, DegradationTracker, MemoryStatus, StatusBoard
from memoryd.agents.turns.shown import ShownMemories
from memoryd.agents.turns.turns import AgentTurns
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.config.memory_search import SyncSection
from memoryd.domain.access import Admitted, folded_id
from memoryd.domain.documents import citation_in, conversation_cited
from memoryd.domain.memories.kinds import Visibility
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.errors import Disabled, NotFound, UnknownAgent
from memoryd.files.excerpts import LineRange
from memoryd.qmd.agent import AgentQmd
from memoryd.replies.conversations import SessionSyncReply
from memoryd.replies.search import FileReply, ReindexReply, SyncReply
from memoryd.search.answer import SearchAnswer
from memoryd.wire import SyncGoal

if TYPE_CHECKING:
    # an agent without a team does not load this module
    from memoryd.agents.team import AgentTeam

_MODEL_HINT = "set memorySearch.provider, or reindex with `force` alone"
DEFAULT_WAIT = timedelta(seconds=30)


class AgentSync(Struct, frozen=True, kw_only=True):
    """The index of one agent as it follows the disk; agents with the same workspace share it.

    A method that waits for a goal returns None once the goal is reached, else the reason why it never will be. An empty
    reason means that it is only not reached yet.
    """

    agent: str
    settings: SyncSection
    index: WorkspaceIndex
    slot: CurrentEmbedder
    qmd: AgentQmd | None
    conversations: AgentConversations
    """The agent's own conversations, even if the index is shared."""

    def start_session(self) -> bool:
        """Begin a session; return whether the index now scans the disk in the background."""
        if self.settings.on_session_start:
            self.index.demand()
            # the end of the previous session is indexed in this one
            self.conversations.demand()
        return self.settings.on_session_start

    async def wait_for(self, goal: SyncGoal, *, is_asking: bool) -> str | None:
        """Wait for the goal or for the reason it is not reached.

        `is_asking` requests vectors that are otherwise deferred.
        """
        if reason := self.index.why_waiting:
            return reason
        if goal == "embedded":
            return await self._wait_for_vectors(is_asking=is_asking)
        # if there is a qmd, only qmd indexes words
        return self._goal_of_qmd(self.qmd is None or await self.qmd.follows_words())

    async def wait_for_conversations(self, tickets: Sequence[int], goal: SyncGoal, *, is_asking: bool) -> str | None:
        """Wait until the conversations have reached the goal too, or return why they will not.

        Call it after `wait_for`.
        """
        reason = await self.conversations.wait_for_scan(tickets)
        if not reason and goal == "embedded" and self.conversations.is_wanted:
            lacking = await self.conversations.embedding_loop.wait_until_embedded(is_asking=is_asking)
            # if vectors are switched off, the reason of the notes already says so
            is_off = self.slot.state.phase is ModelPhase.OFF
            reason = "" if lacking is None or is_off else f"no vectors: {lacking}"
        return f"conversations: {reason}" if reason else None

    def why_unsettled(self) -> str:
        """Return what keeps the index from being written, or an empty text if it is only not done yet."""
        trouble = self.index.trouble
        return f"the index does not follow the notes: {trouble}" if trouble else ""

    async def _wait_for_vectors(self, *, is_asking: bool) -> str | None:
        """Wait for the vectors of the engine that searches by meaning, or return why none will come."""
        # Three workers run concurrently and are awaited in turn: the index, whose scan has settled before this call;
        # qmd, which reads the disk itself; and the embedding loop. None depends on another, so the order costs no time,
        # except that an idle embedding loop starts only when it is asked at the end. While this waits, the outage loop
        # may pause or wake the embedding loop, and new notes may be committed. The embedding loop checks both
        # repeatedly, so this wait ends with a reason, or when the newer notes have vectors too.
        qmd = self.qmd
        by_qmd = qmd is not None and qmd.has_vectors
        followed = self._goal_of_qmd(qmd is None or await (qmd.follows_meaning() if by_qmd else qmd.follows_words()))
        # checked after the wait: before it, the existence of an embedder may not have been known
        if by_qmd and self.slot.state.phase is ModelPhase.OFF:
            return followed
        reason = await self.index.embedding_loop.wait_until_embedded(is_asking=is_asking)
        return followed if reason is None else f"no vectors: {reason}"

    def _goal_of_qmd(self, is_followed: bool) -> str | None:
        if is_followed or self.qmd is None:
            return None
        return f"qmd: {self.qmd.why_behind}"


async def sync(
    agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta = DEFAULT_WAIT, *, is_asking: bool
) -> SyncReply:
    """Scan now and wait up to `limit` until everything that was on disk before the call has reached the goal.

    Vectors that are made only on request are made if `is_asking`.
    """
    lacking = await _wait_for(agents, goal, limit, is_asking=is_asking)
    # counted after the wait: files saved during it are pending although the goal was reached
    pending = await _pending_work(agents)
    return SyncReply(complete=lacking is None, reason=lacking or None, **pending)


async def reindex(agents: Sequence[AgentSync], *, force: bool, embeddings: bool) -> ReindexReply:
    """Read every file or make every vector again in the background. Raises Disabled if no agent makes vectors."""
    if embeddings and all(agent.slot.state.phase is ModelPhase.OFF for agent in agents):
        raise Disabled("there are no vectors to make again: no model is configured that makes them", hint=_MODEL_HINT)
    for agent in agents:
        if embeddings:
            # before the scan is requested: its commits wake the embedding loop, which must know by then
            agent.index.embedding_loop.start_over()
            agent.conversations.embedding_loop.start_over()
        agent.index.demand(force=force)
        if force:
            await agent.conversations.read_anew()
    return await _pending_work(agents)


async def _wait_for(agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta, *, is_asking: bool) -> str | None:
    # all scans are requested before the first wait, so that they run concurrently
    tickets = [(agent.index, agent.index.demand()) for agent in agents]
    requested = [(agent, agent.conversations.demand()) for agent in agents]
    if goal == "none":
        return None
    # a timeout ends only this wait: scan, update and vectors continue for the next caller
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            # the index first: a note that qmd finds in the workspace is returned only if the index knows it
            await asyncio.gather(*(index.wait_for_scan(ticket) for index, ticket in tickets))
            note_reasons = await asyncio.gather(*(agent.wait_for(goal, is_asking=is_asking) for agent in agents))
            conversation_reasons = await asyncio.gather(
                *(agent.wait_for_conversations(numbers, goal, is_asking=is_asking) for agent, numbers in requested)
            )
            return _join([*agents, *agents], [*note_reasons, *conversation_reasons])
    return _join(agents, [agent.why_unsettled() for agent in agents])


def _join(agents: Sequence[AgentSync], reasons: Sequence[str | None]) -> str | None:
    if all(reason is None for reason in reasons):
        return None
    return "; ".join(f"{agent.agent}: {reason}" for agent, reason in zip(agents, reasons, strict=True) if reason)


async def _pending_work(agents: Sequence[AgentSync]) -> ReindexReply:
    # each index once, even if several agents share it
    indexes = list(dict.fromkeys(agent.index for agent in agents))
    return ReindexReply(
        pendingFiles=sum(index.pending_files for index in indexes),
        pendingEmbeddings=sum([await index.embedding_loop.count_pending() for index in indexes])
        + sum([await agent.conversations.embedding_loop.count_pending() for agent in agents]),
        generation=sum(index.indexer.state.generation for index in indexes),
    )


class AgentMemory(Struct, frozen=True):
    """The memory of one agent, with an object for each use."""

    agent: Agent
    search: AgentSearch
    files: AgentFiles
    sync: AgentSync
    qa: AgentQa
    conversations: StoredConversations
    retained: Retained
    turns: AgentTurns
    shown: ShownMemories
    parts: AgentParts
    """The parts that status reports on."""
    team: "AgentTeam | None" = None
    """The agent's part in a team; None without a team."""


class AgentMemories:
    """Finds the addressed agent and calls its memory. `outside` is as in `StatusBoard`.

    `degradations` and `earlier` are the degradations and the counters of the memories that these replace.
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
        """Answer a question. Raises Disabled, UnknownAgent, InvalidRequest."""
        return await self._find_enabled(admitted).search.answer(text, options, admitted)

    async def read(self, admitted: Admitted, path: str, requested: LineRange) -> FileReply:
        """Return lines of a document or a conversation.

        `path` may be a citation; then the lines that it names are returned. A document whose name looks like a citation
        takes precedence. Raises Disabled, UnknownAgent, InvalidRequest, NotFound, NotNow.
        """
        memory = self._find_enabled(admitted)
        if (conversation := conversation_cited(path)) is not None:
            return await memory.conversations.read(conversation, requested)
        visibility = Visibility.of(memory.agent.id, admitted)
        try:
            return await memory.files.read(path, requested, visibility)
        except NotFound:
            cited = citation_in(path)
            if cited is None or cited.start_line is None:
                raise
            place = LineRange(cited.start_line, cited.line_count, requested.column)
            return await memory.files.read(cited.path, place, visibility)

    def qa(self, admitted: Admitted) -> AgentQa:
        """Return the questions and answers that a request may see and add to. Raises UnknownAgent."""
        return self._find(admitted.agent).qa

    def conversations(self, admitted: Admitted) -> StoredConversations:
        """Return the conversations that a request may see. Raises UnknownAgent."""
        return self._find(admitted.agent).conversations

    def retained(self, admitted: Admitted) -> Retained:
        """Return the retained memories that a request may see and add to. Raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).retained

    def turns(self, admitted: Admitted) -> AgentTurns:
        """Return the object that takes the messages of a conversation. Raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).turns

    def team(self, admitted: Admitted) -> "AgentTeam":
        """Return the agent's part in a team. Raises UnknownAgent, and Disabled if the agent has no team."""
        memory = self._find_enabled(admitted)
        if memory.team is None:
            raise Disabled(
                f"agent {memory.agent.id!r} is in no team",
                hint="memoryctl team init makes one, memoryctl team join joins one",
            )
        return memory.team

    def shown(self, admitted: Admitted) -> ShownMemories:
        """Return the record of the memories that the agent was shown for each question."""
        return self._find_enabled(admitted).shown

    async def sync_conversations(self, agent: str | None, *, wait: bool, limit: timedelta | None) -> SessionSyncReply:
        """Read the conversations of the named agent, or of all, up to now. Raises UnknownAgent, StoreError, NotNow."""
        stores = [memory.conversations for memory in self._select(agent)]
        within = DEFAULT_WAIT if limit is None else limit
        return combined_sync(await asyncio.gather(*(stored.sync(wait=wait, limit=within) for stored in stores)))

    def start_session(self, admitted: Admitted) -> bool:
        """Begin a session; return whether the index now scans the disk. Raises Disabled, UnknownAgent."""
        return self._find_enabled(admitted).sync.start_session()

    async def sync(
        self, agent: str | None, goal: SyncGoal, limit: timedelta | None = None, *, is_asking: bool
    ) -> SyncReply:
        """Make the index of the named agent, or of all, follow the disk now. Raises UnknownAgent.

        `is_asking` also makes the vectors that are made only on request. Requests of agents must not set it: they would
        spend what the owner holds back.
        """
        selected = [memory.sync for memory in self._select(agent)]
        return await sync(selected, goal, DEFAULT_WAIT if limit is None else limit, is_asking=is_asking)

    async def reindex(self, agent: str | None, *, force: bool, embeddings: bool) -> ReindexReply:
        """Read every file, or make every vector, of the named agent or of all again.

        Raises UnknownAgent, and Disabled if vectors are requested but no agent makes any.
        """
        return await reindex([memory.sync for memory in self._select(agent)], force=force, embeddings=embeddings)

    async def status(self, agent: str | None) -> list[MemoryStatus]:
        """Describe the memory of the named agent, or of all. Raises UnknownAgent."""
        return await self.board.describe([memory.parts for memory in self._select(agent)])

    def follow(self, admitted: Admitted) -> AbstractContextManager[Subscription]:
        """Collect events from the start of the `with` block: of the admitted agent, or of all if none is named.

        Entering the block raises NotNow if there are too many subscribers, and ShuttingDown when the daemon stops.
        """
        return self._bus.subscribe(admitted.agent)

    def counters(self) -> Counters:
        """Return the counters of all memories since the daemon started."""
        parts = [memory.parts for memory in self._memories]
        counted = sum_counters(
            indexes=list(dict.fromkeys(part.index for part in parts)),
            sidecars=[part.qmd.search.times for part in parts if part.qmd is not None],
            conversations=[part.conversations.conversations for part in parts],
            books=list(dict.fromkeys(memory.retained.book for memory in self._memories)),
        )
        return counted if self._earlier is None else counted.after(self._earlier)

    @property
    def is_ready(self) -> bool:
        """Whether the first scan of every workspace is done."""
        return all(memory.sync.index.is_ready for memory in self._memories)

    def _select(self, agent_id: str | None) -> list[AgentMemory]:
        return self._memories if agent_id is None else [self._find(agent_id)]

    def _find_enabled(self, admitted: Admitted) -> AgentMemory:
        """Return the memory that a request may see. Raises Disabled if its search is off."""
        memory = self._find(admitted.agent)
        if not memory.agent.memory_search.enabled:
            raise Disabled(
                f"memory search is off for agent {memory.agent.id!r}",
                hint="set agents.defaults.memorySearch.enabled or the agent's own to true",
            )
        return memory

    def _find(self, agent_id: str | None) -> AgentMemory:
        """Return the memory of the named agent, or of the default agent for None. Raises UnknownAgent."""
        for memory in self._memories:
            if memory.agent.is_default if agent_id is None else memory.agent.id == folded_id(agent_id):
                return memory
        known = ", ".join(memory.agent.id for memory in self._memories)
        raise UnknownAgent(f"no agent {agent_id!r}", hint=f"configured agents: {known}")
