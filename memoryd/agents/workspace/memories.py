"""The parts of retained memories that the agents on one workspace share, and the parts that forget memories."""

import asyncio
import time
from collections.abc import Sequence, Set
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.turns.shown import ShownTurns
from memoryd.agents.workspace.index import DaemonResources, WorkspaceIndex
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import owners_time
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.documents import RelativePath, is_turns_path, turns_path
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.memories.reflect.pages import SharedMemories, shared_memories
from memoryd.embed.embedding import Embedding
from memoryd.errors import NotNow
from memoryd.llm.protocol import TextModel
from memoryd.memory.book import MemoryCache, OpinionStore
from memoryd.memory.forgetting.forgetting import MemoryForgetting, PrivateTraces
from memoryd.memory.forgetting.planning import ForgettingPlanner, chunks_with, purge_remains
from memoryd.memory.forgetting.tombstones import KEY_SUFFIX, MachineTombstones, TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.machines import MachineJournal
from memoryd.memory.note_files import RecordDays
from memoryd.memory.reflect.proposals import ProposalQueue
from memoryd.memory.retaining import StatementHashes
from memoryd.memory.usage import LifecycleTime, UsageCache
from memoryd.moving.replacing import replaced_folder
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.schema import delete_set_aside
from memoryd.store.ledger.forgotten import ForgottenRows, MachineRows, TombstoneRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.reflect import OpinionSteps
from memoryd.store.ledger.turns import ShownRows, ShownSpanRows
from memoryd.store.ledger.usage import FirstSeen, RetainedHashes, UsageRows

STRENGTH = 0.02
"""The weight of age and use in the order of recall, measured: see docs/explanation/memory.md."""
FOLLOW_SECONDS = 60.0
TROUBLED_SECONDS = 5.0
"""Seconds that an index which reports a problem may retry before the problem is returned."""
SETTLE_SECONDS = 60.0
"""How long a run of reflect waits until the index has the files on disk."""
_PAGES = "bank/"


class WorkspaceMemories(Struct, frozen=True, kw_only=True):
    """The retained memories of one workspace. `name` is its real path, the key of its rows."""

    name: Path
    index: WorkspaceIndex
    ledger: Ledger
    ledgers: Sequence[Ledger]
    """The ledgers of all agents of the workspace; a memory is forgotten in each of them."""
    book: MemoryCache
    journal: Journal
    text: TextModel | None
    """The model that labels memories and writes prose; None if none is configured."""
    tombstones: TombstoneStore
    """The forgotten memories."""
    opinions: OpinionStore
    stated: StatementHashes
    """The hashes of earlier statements, which may have been taken back since."""
    usage: UsageCache
    """The number of uses of each memory, and its tier."""
    shown: ShownTurns
    """The memories that were shown for each question."""

    async def settled(self) -> Book:
        """Return the book without other people's lines and conflict copies, once the index has the files on disk.

        Raises NotNow if the index is incomplete, StoreError.
        """
        if not await self.index.follow(SETTLE_SECONDS):
            raise NotNow("the notes are still being read", hint="try again in a moment")
        # lines missing from an incomplete index would look like deleted memories
        why = self.index.why_waiting or self.index.trouble
        if why := why or ("" if self.index.is_ready else "it was not read yet"):
            raise NotNow(f"the index does not have all notes: {why}", hint="memoryctl status says more")
        if self.index.pending_files:
            raise NotNow("some notes are still to be read", hint="memoryctl status says more")
        return (await self.book.current()).without_copies

    async def shared_now(self) -> SharedMemories:
        """Return the memories that everyone may see; raises as `settled` does."""
        return await asyncio.to_thread(shared_memories, await self.settled(), {})


def workspace_memories(agents: Sequence[Agent], index: WorkspaceIndex, resources: DaemonResources) -> WorkspaceMemories:
    """Create the parts that these agents share; the settings of the first one apply."""
    name, ledger = index.rules.workspace, resources.ledgers.of(agents[0])
    ledgers = resources.ledgers.of_workspace(name)
    book = _book(agents[0], index, FirstSeen(ledger, name), resources.executor)
    return WorkspaceMemories(
        name=name,
        index=index,
        ledger=ledger,
        ledgers=ledgers,
        book=book,
        journal=_journal(agents[0], index, resources),
        text=resources.models.writing(agents[0]),
        tombstones=_tombstones(agents[0], ledger, ledgers, name),
        opinions=OpinionStore(OpinionSteps(ledger, name)),
        stated=StatementHashes(
            RetainedHashes(ledger, name),
            ShownSpanRows(ledger, name).key,
            [
                StatementHashes(RetainedHashes(other, name), ShownSpanRows(other, name).key_so_far)
                for other in ledgers
                if other is not ledger
            ],
        ),
        usage=_usage(agents[0], index, book, UsageRows(ledger, name)),
        shown=ShownTurns(ShownRows(ledger, name)),
    )


def _book(agent: Agent, index: WorkspaceIndex, first_seen: FirstSeen, executor: Executor) -> MemoryCache:
    local_day = owners_time(agent.memory).day
    book = MemoryCache(
        database=index.database,
        days=RecordDays(first_seen=first_seen, local_day=local_day, clock=time.time),
        withdrawn=lambda: index.indexer.withdrawn.paths,
        executor=executor,
    )
    index.followers.append(book)
    return book


def _usage(agent: Agent, index: WorkspaceIndex, book: MemoryCache, rows: UsageRows) -> UsageCache:
    evolution, owner = agent.memory.evolution, owners_time(agent.memory)
    when = LifecycleTime(local_day=owner.day, end_of_day=owner.end_of)
    usage = UsageCache(rows, book.current, when, tiers=evolution.to_tiers(), strength=STRENGTH)
    index.followers.append(usage)
    return usage


def _journal(agent: Agent, index: WorkspaceIndex, resources: DaemonResources) -> Journal:
    journal = resources.ledgers.journal(agent, index.rules)
    journal.on_written.append(index.scan_soon)
    journal.existed_recently.append(index.indexer.is_known)
    return journal


def _tombstones(agent: Agent, own: Ledger, ledgers: Sequence[Ledger], workspace: Path) -> TombstoneStore:
    """Return the tombstones of a workspace, which are written to the first of its ledgers and read from all."""
    secret = agent.memory.machines.secret
    machines = None if secret is None else MachineTombstones(MachineRows(own, workspace), secret.reveal)
    first, *others = (partial(_stones, ledger, workspace) for ledger in ledgers)
    return first(machines=machines, others=[other() for other in others])


def _stones(ledger: Ledger, workspace: Path, **more: Any) -> TombstoneStore:
    key_file = ledger.path.with_name(ledger.path.name + KEY_SUFFIX)
    return TombstoneStore(rows=TombstoneRows(ledger, workspace), workspace=workspace, key_file=key_file, **more)


class ForgettingIndexes(Struct, eq=False):
    """The indexes of notes. `others` belong to other workspaces, which may contain the same folder or files."""

    own: WorkspaceIndex
    others: list[WorkspaceIndex] = []

    async def follow(self) -> str:
        """Have all of them follow the disk now; return why one cannot, or an empty text."""
        tickets = [(index, index.demand()) for index in self._all]
        for seconds in (TROUBLED_SECONDS, FOLLOW_SECONDS - TROUBLED_SECONDS):
            try:
                async with asyncio.timeout(seconds):
                    for index, ticket in tickets:
                        await index.wait_for_scan(ticket)
                return self._trouble
            except TimeoutError:
                if self._trouble:
                    return self._trouble
        return f"an index did not follow the notes within {FOLLOW_SECONDS:.0f} s"

    @property
    def _trouble(self) -> str:
        return next((f"an index cannot follow the notes: {index.trouble}" for index in self._all if index.trouble), "")

    async def drop_remains(self) -> str:
        """Erase the rows that were only marked as deleted, and truncate the logs; return why not, or an empty text."""
        for index in self._all:
            index.builtin.forget_vectors()
            if why := await purge_remains(index.database):
                return why
            await asyncio.to_thread(delete_set_aside, index.database.path)
            for follower in index.followers:
                follower.demand()
        reasons = await asyncio.gather(*(purge() for index in self._all for purge in index.purges))
        return next(filter(None, reasons), "")

    async def chunks_with(self, words: TextMatcher) -> Sequence[ChunkRow]:
        """Return the chunks of the own index that contain the words. Raises StoreError."""
        return await chunks_with(self.own.database, words)

    def generated_pages(self) -> Sequence[RelativePath]:
        """Return the documents that reflect may have written to."""
        return sorted(path for path in self.own.indexer.known_paths if path.startswith(_PAGES))

    @property
    def _all(self) -> list[WorkspaceIndex]:
        return [self.own, *self.others]


class WorkspaceConversations(Struct, frozen=True):
    """The conversations of the agents of one workspace. Without `shared` no questions and answers are stored."""

    shared: WorkspaceQa | None
    conversations: Sequence[AgentConversations]

    async def find(self, words: TextMatcher) -> tuple[Sequence[str], Sequence[str]]:
        """Return the turns of sessions and the transcripts that contain the words. Raises StoreError, NotNow."""
        turns = [] if self.shared is None else await self.shared.read(lambda store: store.matching_turns(words))
        transcripts: dict[str, None] = {}
        for conversations in self._open:
            rows = await chunks_with(conversations.database, words)
            transcripts |= dict.fromkeys(row.path for row in rows if not is_turns_path(row.path))
        return [address for session in turns for address in session.addresses], list(transcripts)

    async def cut(self, words: TextMatcher) -> Sequence[str]:
        """Remove the words from turns and indexes; return the changed turns. Raises StoreError, Denied, NotNow."""
        cut = [] if self.shared is None else await self.shared.write(lambda store: store.cut(words))
        for conversations in self._open:
            # including what an earlier attempt cut but did not remove from the index
            paths = {row.path for row in await chunks_with(conversations.database, words) if is_turns_path(row.path)}
            paths |= {turns_path(session.session) for session in cut if session.agent == conversations.agent}
            for path in paths:
                await conversations.forget(path)
            conversations.demand()
        return [address for session in cut for address in session.addresses]

    @property
    def _open(self) -> list[AgentConversations]:
        return [index for index in self.conversations if index.is_wanted and index.database.is_open]


def memory_forgetting(
    shared: WorkspaceMemories,
    indexes: ForgettingIndexes,
    qa: WorkspaceQa | None,
    conversations: Sequence[AgentConversations],
    embedding: Embedding,
    proposals: ProposalQueue,
) -> MemoryForgetting:
    """Return the object that forgets memories of a workspace, and follows the notes to see what became private."""
    others = [ForgottenRows(ledger, shared.name) for ledger in shared.ledgers if ledger is not shared.ledger]
    rows, indexer = ForgottenRows(shared.ledger, shared.name, others), shared.index.indexer

    def withhold(pages: Set[RelativePath]) -> None:
        indexer.withdrawn.derived = pages

    private = PrivateTraces(
        journal=shared.journal,
        rows=rows,
        indexes=indexes,
        known=lambda: indexer.known_paths,
        removed=lambda: indexer.removed,
        withhold=withhold,
        withdraw_proposals=proposals.withdraw,
    )
    shared.index.followers.append(private)
    planner = ForgettingPlanner(
        book=shared.book,
        journal=shared.journal,
        indexes=indexes,
        conversations=WorkspaceConversations(qa, conversations),
        workspace=shared.name,
        sent_to=lambda: [embedding.remote.settings.destination] if embedding.remote is not None else [],
        set_aside=lambda: shared.ledger.set_aside,
        replaced=lambda: replaced_folder(state_dir()),
    )
    return MemoryForgetting(
        tombstones=shared.tombstones,
        rows=rows,
        usage=shared.usage,
        stated=shared.stated,
        private=private,
        planner=planner,
    )


def machine_journal(shared: WorkspaceMemories, forgetting: MemoryForgetting) -> MachineJournal | None:
    """Return the exchange with other machines on the same folder, which follows its notes; None without a secret."""
    if shared.tombstones.machines is None:
        return None
    steps = OpinionSteps(shared.ledger, shared.name)
    journal = MachineJournal(
        workspace=shared.name, machines=shared.tombstones.machines, forgetting=forgetting, steps=steps
    )
    shared.index.followers.append(journal)
    return journal
