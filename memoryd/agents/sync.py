"""Making the index follow the disk: now and waited for, and when a session begins."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.memory_search import SyncSection
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.index.indexer import Indexer
from memoryd.qmd.agent import AgentQmd
from memoryd.replies.search import ReindexReply, SyncReply
from memoryd.wire import SyncGoal

DEFAULT_WAIT = timedelta(seconds=30)


class GoalWait(Struct, frozen=True):
    """Whether the wait came to its goal, and why it never will."""

    is_complete: bool
    reason: str = ""


class AgentSync(Struct, frozen=True, kw_only=True):
    """The index of one agent as it follows the disk; agents on one workspace share it."""

    agent: str
    index: WorkspaceIndex
    slot: CurrentEmbedder
    qmd: AgentQmd | None
    conversations: AgentConversations
    """Its own, whoever shares the index."""

    async def wait_for(self, goal: SyncGoal, *, is_asking: bool) -> GoalWait:
        """Wait for the goal, or find that it will not be reached; `is_asking` for vectors though they are put off."""
        if held := self.index.why_waiting:
            return GoalWait(False, held)
        if goal == "embedded":
            return await self._embedded(is_asking=is_asking)
        # words that only qmd indexes, if there is a qmd
        return self._followed(self.qmd is None or await self.qmd.follows_words())

    async def heard(self, tickets: Sequence[int], goal: SyncGoal, *, is_asking: bool) -> GoalWait:
        """Wait until the conversations have come so far, too, or find that they will not; behind the notes."""
        reason = await self.conversations.settled(tickets)
        if not reason and goal == "embedded" and self.conversations.is_wanted:
            lacking = await self.conversations.embedding_loop.drained(is_asking=is_asking)
            # who chose no vectors was told so by the notes
            is_off = self.slot.state.phase is ModelPhase.OFF
            reason = "" if lacking is None or is_off else f"no vectors: {lacking}"
        return GoalWait(not reason, f"conversations: {reason}" if reason else "")

    def unsettled(self) -> GoalWait:
        """Tell what keeps the index from being written; without a reason it is merely not done yet."""
        trouble = self.index.trouble
        return GoalWait(False, f"the index does not follow the notes: {trouble}" if trouble else "")

    async def _embedded(self, *, is_asking: bool) -> GoalWait:
        """Wait for the vectors of whoever answers by meaning, or find that none will come."""
        # Three parties work side by side, and are waited for one after the other: the index, whose scan has settled
        # before this is called; qmd, which reads the disk for itself; and the lane. None waits for another, so the
        # order costs no time, save that a lane that rests begins only when it is asked for at the end.
        # Meanwhile the outage loop may pause the lane or wake it, and new notes may be committed: the lane looks at
        # both again and again, so this wait ends with a reason, or when those newer notes have vectors too.
        qmd = self.qmd
        by_qmd = qmd is not None and qmd.has_vectors
        followed = self._followed(qmd is None or await (qmd.follows_meaning() if by_qmd else qmd.follows_words()))
        # asked after the wait, at the start of which it may not have been known whether there is an embedder at all
        if by_qmd and self.slot.state.phase is ModelPhase.OFF:
            return followed
        reason = await self.index.embedding_loop.drained(is_asking=is_asking)
        return followed if reason is None else GoalWait(False, f"no vectors: {reason}")

    def _followed(self, is_followed: bool) -> GoalWait:
        if is_followed or self.qmd is None:
            return GoalWait(is_followed)
        return GoalWait(False, f"qmd: {self.qmd.why_behind}")


async def sync(
    agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta = DEFAULT_WAIT, *, is_asking: bool
) -> SyncReply:
    """Scan now, and wait until what was on disk before the call has reached the goal, at most as long as `limit`.

    Vectors that are made only when asked for are made if `is_asking`.
    """
    reached = await _wait_for(agents, goal, limit, is_asking=is_asking)
    # counted after the wait: what was saved meanwhile is owed though the goal was reached
    owed = await _pending_work(agents)
    return SyncReply(complete=reached.is_complete, reason=reached.reason or None, **owed)


async def reindex(agents: Sequence[AgentSync], *, force: bool, embeddings: bool) -> ReindexReply:
    """Look at every file again, or make every vector again, in the background."""
    for agent in agents:
        if embeddings:
            # before the scan is asked for: what that commits wakes the lane, which is to know by then
            agent.index.embedding_loop.start_over()
            agent.conversations.embedding_loop.start_over()
        agent.index.demand(force=force)
        if force:
            await agent.conversations.read_anew()
    return await _pending_work(agents)


async def _wait_for(agents: Sequence[AgentSync], goal: SyncGoal, limit: timedelta, *, is_asking: bool) -> GoalWait:
    # all are asked before the first is waited for, so that they scan side by side
    tickets = [(agent.index, agent.index.demand()) for agent in agents]
    talks = [(agent, agent.conversations.demand()) for agent in agents]
    if goal == "none":
        return GoalWait(True)
    # who gives up here stops waiting and nothing else: scan, update and vectors go on for the next one who asks
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            # the index first: a note that qmd finds in the workspace is told only if the index knows it
            await asyncio.gather(*(index.settled(ticket) for index, ticket in tickets))
            told = await asyncio.gather(*(agent.wait_for(goal, is_asking=is_asking) for agent in agents))
            heard = await asyncio.gather(*(agent.heard(asked, goal, is_asking=is_asking) for agent, asked in talks))
            return _join([*agents, *agents], [*told, *heard])
    return _join(agents, [agent.unsettled() for agent in agents])


def _join(agents: Sequence[AgentSync], each: Sequence[GoalWait]) -> GoalWait:
    reasons = [f"{agent.agent}: {one.reason}" for agent, one in zip(agents, each, strict=True) if one.reason]
    return GoalWait(all(one.is_complete for one in each), "; ".join(reasons))


async def _pending_work(agents: Sequence[AgentSync]) -> ReindexReply:
    # each index once, however many agents share it
    indexes = list(dict.fromkeys(agent.index for agent in agents))
    return ReindexReply(
        pendingFiles=sum(index.pending_files for index in indexes),
        pendingEmbeddings=sum([await index.embedding_loop.owed() for index in indexes])
        + sum([await agent.conversations.embedding_loop.owed() for agent in agents]),
        generation=sum(index.indexer.state.generation for index in indexes),
    )


class AgentSessions(Struct, frozen=True):
    """The sessions of one agent."""

    settings: SyncSection
    indexer: Indexer
    read_conversations: Callable[[], object]

    def start(self) -> bool:
        """Begin a session; return whether the index looks at the disk now, in the background."""
        if self.settings.on_session_start:
            self.indexer.demand()
            # the end of the session before is found in this one
            self.read_conversations()
        return self.settings.on_session_start
