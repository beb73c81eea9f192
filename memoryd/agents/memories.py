"""What may be asked of the agents' memories: one method for each use, whoever asks; and an index that follows the disk.

Each takes and returns values. What tells or changes what notes say takes an `Admitted`, which the gate alone gives.
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
from memoryd.agents.conversations.showing import StoredConversations, together
from memoryd.agents.events import EventBus, Subscription
from memoryd.agents.retained.changes import Retained
from memoryd.agents.search import AgentFiles, AgentSearch, SearchOptions
from memoryd.agents.status.figures import Counters, measured
from memoryd.agents.status.status import AgentParts, DegradationsOf, DegradationTracker, MemoryStatus, StatusBoard
from memoryd.agents.turns.told import AgentTold
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
    # who is in no team loads none of it
    from memoryd.agents.team import AgentTeam

_MODEL_HINT = "set memorySearch.provider, or reindex with `force` alone"
DEFAULT_WAIT = timedelta(seconds=30)


class AgentSync(Struct, frozen=True, kw_only=True):
    """The index of one agent as it follows the disk; agents on one workspace share it.

    What waits for a goal returns None once that is reached, else why it never will be; empty: it is merely not so yet.
    """

    agent: str
    settings: SyncSection
    index: WorkspaceIndex
    slot: CurrentEmbedder
    qmd: AgentQmd | None
    conversations: AgentConversations
    """Its own, whoever shares the index."""

    def start_session(self) -> bool:
        """Begin a session; return whether the index looks at the disk now, in the background."""
        if self.settings.on_session_start:
            self.index.demand()
            # the end of the session before is found in this one
            self.conversations.demand()
        return self.settings.on_session_start

    async def wait_for(self, goal: SyncGoal, *, is_asking: bool) -> str | None:
        """Wait for the goal, or find that it will not be reached; `is_asking` for vectors though they are put off."""
        if held := self.index.why_waiting:
            return held
        if goal == "embedded":
            return await self._wait_for_vectors(is_asking=is_asking)
        # words that only qmd indexes, if there is a qmd
        return self._goal_of_qmd(self.qmd is None or await self.qmd.follows_words())

    async def heard(self, tickets: Sequence[int], goal: SyncGoal, *, is_asking: bool) -> str | None:
        """Wait until the conversations have come so far, too, or find that they will not; behind the notes."""
        reason = await self.conversations.settled(tickets)
        if not reason and goal == "embedded" and self.conversations.is_wanted:
            lacking = await self.conversations.embedding_loop.drained(is_asking=is_asking)
            # who chose no vectors was told so by the notes
            is_off = self.slot.state.phase is ModelPhase.OFF
            reason = "" if lacking is None or is_off else f"no vectors: {lacking}"
        return f"conversations: {reason}" if reason else None

    def unsettled(self) -> str:
        """Tell what keeps the index from being written; without a reason it is merely not done yet."""
        trouble = self.index.trouble
        return f"the index does not follow the notes: {trouble}" if trouble else ""

    async def _wait_for_vectors(self, *, is_asking: bool) -> str | None:
        """Wait for the vectors of whoever answers by meaning, or find that none will come."""
        # Three parties work side by side, and are waited for one after the other: the index, whose scan has settled
        # before this is called; qmd, which reads the disk for itself; and the lane. None waits for another, so the
        # order costs no time, save that a lane that rests begins only when it is asked for at the end.
        # Meanwhile the outage loop may pause the lane or wake it, and new notes may be committed: the lane looks at
        # both again and again, so this wait ends with a reason, or when those newer notes have vectors too.
        qmd = self.qmd
        by_qmd = qmd is not None and qmd.has_vectors
        followed = self._goal_of_qmd(qmd is None or await (qmd.follows_meaning() if by_qmd else qmd.follows_words()))
        # asked after the wait, at the start of which it may not have been known whether there is an embedder at all
        if by_qmd and self.slot.state.phase is ModelPhase.OFF:
            return followed
        reason = await self.index.embedding_loop.drained(is_asking=is_asking)
        return followed if reason is None else f"no vectors: {reason}"

    def _goal_of_qmd(self, is_followed: bool) -> str | None:
        if is_followed or self.qmd is None:
            return None
        return f"qmd: {self.qmd.why_behind}"


async def sync(
    agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta = DEFAULT_WAIT, *, is_asking: bool
) -> SyncReply:
    """Scan now, and wait until what was on disk before the call has reached the goal, at most as long as `limit`.

    Vectors that are made only when asked for are made if `is_asking`.
    """
    lacking = await _wait_for(agents, goal, limit, is_asking=is_asking)
    # counted after the wait: what was saved meanwhile is owed though the goal was reached
    owed = await _pending_work(agents)
    return SyncReply(complete=lacking is None, reason=lacking or None, **owed)


async def reindex(agents: Sequence[AgentSync], *, force: bool, embeddings: bool) -> ReindexReply:
    """Look at every file again, or make every vector again, in the background; raises Disabled if none has vectors."""
    if embeddings and all(agent.slot.state.phase is ModelPhase.OFF for agent in agents):
        raise Disabled("there are no vectors to make again: no model is configured that makes them", hint=_MODEL_HINT)
    for agent in agents:
        if embeddings:
            # before the scan is asked for: what that commits wakes the lane, which is to know by then
            agent.index.embedding_loop.start_over()
            agent.conversations.embedding_loop.start_over()
        agent.index.demand(force=force)
        if force:
            await agent.conversations.read_anew()
    return await _pending_work(agents)


async def _wait_for(agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta, *, is_asking: bool) -> str | None:
    # all are asked before the first is waited for, so that they scan side by side
    tickets = [(agent.index, agent.index.demand()) for agent in agents]
    talks = [(agent, agent.conversations.demand()) for agent in agents]
    if goal == "none":
        return None
    # who gives up here stops waiting and nothing else: scan, update and vectors go on for the next one who asks
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            # the index first: a note that qmd finds in the workspace is told only if the index knows it
            await asyncio.gather(*(index.settled(ticket) for index, ticket in tickets))
            told = await asyncio.gather(*(agent.wait_for(goal, is_asking=is_asking) for agent in agents))
            heard = await asyncio.gather(*(agent.heard(asked, goal, is_asking=is_asking) for agent, asked in talks))
            return _join([*agents, *agents], [*told, *heard])
    return _join(agents, [agent.unsettled() for agent in agents])


def _join(agents: Sequence[AgentSync], each: Sequence[str | None]) -> str | None:
    reasons = [f"{agent.agent}: {one}" for agent, one in zip(agents, each, strict=True) if one]
    return "; ".join(reasons) if any(one is not None for one in each) else None


async def _pending_work(agents: Sequence[AgentSync]) -> ReindexReply:
    # each index once, however many agents share it
    indexes = list(dict.fromkeys(agent.index for agent in agents))
    return ReindexReply(
        pendingFiles=sum(index.pending_files for index in indexes),
        pendingEmbeddings=sum([await index.embedding_loop.owed() for index in indexes])
        + sum([await agent.conversations.embedding_loop.owed() for agent in agents]),
        generation=sum(index.indexer.state.generation for index in indexes),
    )


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
            cited = citation_in(path)
            if cited is None or cited.start_line is None:
                raise
            place = LineRange(cited.start_line, cited.line_count, asked.column)
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
        """Read every file, or make every vector, of the named agent or of all again.

        Raises UnknownAgent, and Disabled where vectors are asked for that nobody makes.
        """
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
