"""One index of a workspace: its file, the loops that keep it equal to the notes, and the search over it."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from concurrent.futures import Executor
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.workspace.models import TextModels
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import (
    Journals,
    Ledgers,
    WorkspaceRules,
    embedding_loop_settings,
    index_settings,
    search_settings,
)
from memoryd.config.agents import Agent
from memoryd.config.limits import LimitsSection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import state_dir
from memoryd.domain.clock import Jump
from memoryd.domain.documents import OutsideCount, RelativePath
from memoryd.embed.current import CurrentEmbedder
from memoryd.embed.embedding import Embedding
from memoryd.files.roots import count_outside
from memoryd.files.scanner import Scan, ScanRules, file_identity
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.indexer import Indexer
from memoryd.index.keeper import Keeper
from memoryd.index.pending import EmbeddingLoopLinks, Lookup, Spaces
from memoryd.index.reading import attachments
from memoryd.index.state import IndexEvents, Publish
from memoryd.index.watcher import FileWatcher
from memoryd.rerank.reranking import Reranking
from memoryd.search.arms import RerankArm
from memoryd.search.builtin import BuiltinSearch
from memoryd.search.protocol import Freshness
from memoryd.store.index.database import Database
from memoryd.wire import Event

SHARE = 0.01
"""Of the time may be spent on counting."""
PURGE_PENDING = "private notes are still to be removed from the index, which cannot be written"
ELSEWHERE = "the path of the workspace leads to another folder than when memoryd was started; restart memoryd"


class Surroundings(Struct, frozen=True):
    """What every workspace of the daemon shares."""

    executor: Executor
    limits: LimitsSection
    watcher: FileWatcher | None
    lookup: Lookup
    publish: Publish
    ledgers: Ledgers
    journals: Journals
    text_models: TextModels
    qas: Mapping[str, WorkspaceQa]
    """By the ids of agents; none for those whose questions and answers are off."""
    agents: Sequence[Agent]
    """All there are, on whatever workspace."""


class Follower(Protocol):
    """What is made of the same notes: another engine over them, or the book of their memories."""

    def note_change(self) -> None:
        """Take the news that notes changed."""

    def demand(self) -> None:
        """Take the news that notes became private: follow at once."""


class WorkspaceIndex:
    """The parts of one index, wired together: what one of them notices, the others are told here.

    `agents` are those that share it; the first one's settings hold. `followers` hear of changes, too.
    """

    def __init__(
        self,
        *,
        agents: Sequence[Agent],
        embedding: Embedding,
        reranking: Reranking | None,
        rules: WorkspaceRules,
        around: Surroundings,
    ) -> None:
        settings, around = agents[0].memory_search, replace(around, publish=_to_each_of(agents, around.publish))
        self.followers: list[Follower] = []
        self.purges: list[Callable[[], Awaitable[str]]] = []
        """What rewrites other indexes of the notes without what these say no more; each returns why not, or nothing."""
        self.rules = rules
        self.outside = OutsideCounter(lambda: rules.look()[1], around.executor)
        self.database = Database(path=agents[0].index_path, executor=around.executor)
        self.keeper = Keeper(
            database=self.database,
            is_private=self.database.path.is_relative_to(state_dir()),
            on_new=self._on_new_index,
            is_rebuilt=lambda: self.indexer.is_settled,
        )
        self.watcher = around.watcher
        spaces = Spaces(self.database)
        # the keeper and the lane come before the parts that they speak to, and look these up when they have news
        self.embedding_loop = self._embedding_loop(settings, embedding, spaces, around)
        self.indexer = Indexer(
            database=self.database,
            executor=around.executor,
            workspace=rules.workspace,
            look=rules.look,
            settings=index_settings(settings),
            events=IndexEvents(
                on_scan=self._on_scan, on_commit=self._on_commit, on_purge=self._on_purge, publish=around.publish
            ),
        )
        wanted = settings.query.rerank
        rerank = None
        if reranking is not None:
            seconds = wanted.deadline_ms / 1000
            rerank = RerankArm(reranking=reranking, candidates=wanted.candidates, seconds=seconds)
        self.builtin = self._made_search(settings, embedding.slot, spaces, around, rerank)
        self.words = self._made_search(settings, CurrentEmbedder(lambda _state: None), spaces, around)
        """The same by words alone."""

    def _embedding_loop(
        self,
        settings: MemorySearchSection,
        embedding: Embedding,
        spaces: Spaces,
        around: Surroundings,
    ) -> EmbeddingLoop:
        return EmbeddingLoop(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=embedding_loop_settings(settings, embedding.plan.choice),
            links=EmbeddingLoopLinks(
                lookup=around.lookup,
                publish=around.publish,
                on_removed=lambda: self.builtin.forget_vectors(),
                attach=attachments(around.executor, self.rules.look),
                hold=self.hold,
                obstacle=embedding.obstacle,
            ),
        )

    def _made_search(
        self,
        settings: MemorySearchSection,
        slot: CurrentEmbedder,
        spaces: Spaces,
        around: Surroundings,
        rerank: RerankArm | None = None,
    ) -> BuiltinSearch:
        return BuiltinSearch(
            database=self.database,
            spaces=spaces,
            slot=slot,
            settings=search_settings(settings, around.limits.max_vector_bytes),
            withdrawn=self.indexer.withdrawn,
            rerank=rerank,
        )

    @property
    def is_ready(self) -> bool:
        """Whether the first scan is done."""
        return self.indexer.state.last_sync_at is not None

    @property
    def pending_files(self) -> int:
        """Files that are still to be read, renamed or removed, as of the last scan."""
        return self.indexer.state.pending_files

    @property
    def trouble(self) -> str | None:
        """Why it cannot follow the notes: its file cannot be used, or the last sync could not finish."""
        return self.keeper.trouble or self.indexer.state.trouble

    @property
    def why_waiting(self) -> str:
        """Why files that changed may not be indexed now; empty if they may, or none did."""
        hold = self.indexer.state.hold
        return hold.reason if hold is not None and self.pending_files else ""

    def demand(self, *, force: bool = False) -> int:
        """Ask for a scan now, of every file with `force`; return the ticket that `settled` takes."""
        return self.indexer.triggers.demand(is_forced=force)

    async def settled(self, ticket: int) -> None:
        """Wait until the scan of this ticket has been worked off, save what an unreadable root holds back."""
        await self.indexer.triggers.served(ticket)

    async def follow(self, seconds: float) -> bool:
        """Have what is on disk now be read, no longer than these seconds; return whether it was."""
        try:
            async with asyncio.timeout(seconds):
                await self.settled(self.demand())
        except TimeoutError:
            return False
        return True

    def take_over(self, before: "WorkspaceIndex") -> None:
        """Do what an index over the same file, which is closed, was asked for and has not done."""
        self.indexer.take_over(before.indexer)
        self.embedding_loop.take_over(before.embedding_loop)

    def note_jump(self, jump: Jump) -> None:
        """Take the news that the clocks jumped: look at everything, and after a step back believe no file's times."""
        if jump.was_set_back:
            self.indexer.triggers.distrust_times()
        else:
            self.indexer.triggers.demand()

    async def catch_up(self, seconds: float) -> int:
        """Follow what changed on disk until now, within these seconds; return how many files are lacking then.

        It costs next to nothing where the watcher knows that nothing changed. Without events the disk is looked at.
        """
        return await self.indexer.catch_up(seconds, is_watched=self._hears_all())

    def look_soon(self) -> None:
        """Have what was just written here read at once; nobody waits for it."""
        self.indexer.triggers.ask(is_watched=self._hears_all())

    async def holds(self, paths: Set[RelativePath], seconds: float) -> bool:
        """Have these notes, which were just written here, read within these seconds; return whether they were."""
        return await self.indexer.holds(paths, seconds, is_watched=self._hears_all())

    def _hears_all(self) -> bool:
        """Take what events tell now; tell whether that is all that changed until now."""
        is_watched = self.watcher is not None and self.watcher.hear(str(self.database.path))
        # what other machines change is no event
        return is_watched and not self.indexer.state.remote

    async def rescan(self, paths: Set[RelativePath], seconds: float) -> bool:
        """Have the disk looked at within these seconds, since documents are not what the index has, whatever was told.

        Return whether it was; not so without time, which leaves it to the indexer, or if it knows of all of them.
        """
        if paths <= self.indexer.lacking:
            return False
        if seconds <= 0:
            self.indexer.triggers.hint()
            return False
        # by a hard link, or on a folder that is not watched yet, files change without an event
        await self.indexer.catch_up(seconds, is_watched=False)
        return True

    def freshness(self) -> Freshness:
        """Return what the index still owes the disk."""
        state = self.indexer.state
        return Freshness(
            files=len(self.indexer.known_paths),
            pending_files=state.pending_files if state.last_sync_at else max(1, state.pending_files),
            pending_embeddings=self.embedding_loop.pending,
            is_dirty=state.is_dirty,
            hold=self.hold() if state.pending_files else "",
            outside=self.outside.found,
        )

    def hold(self) -> str:
        """Return why nothing new may be indexed or embedded now; empty if it may."""
        hold = self.indexer.state.hold
        if hold is None and self.indexer.is_withholding:
            return PURGE_PENDING
        return "" if hold is None else hold.reason

    def _on_scan(self, seen: Scan) -> None:
        self.outside.note_scan(seen)
        if self.watcher is not None:
            self.watcher.watch(str(self.database.path), seen.above | seen.folders, self.indexer.triggers.hear)

    def _on_commit(self) -> None:
        self.embedding_loop.wake()
        for follower in self.followers:
            follower.note_change()

    def _on_purge(self) -> None:
        # vectors in memory first: a question that is asked now must not find what was purged
        self.builtin.forget_vectors()
        self.embedding_loop.break_off()
        for follower in self.followers:
            follower.demand()

    def _on_new_index(self) -> None:
        self.indexer.triggers.demand()
        self.embedding_loop.wake()


def _to_each_of(agents: Sequence[Agent], publish: Publish) -> Publish:
    """Return what tells the same news of each agent that shares an index."""

    def tell(event: Event, data: Mapping[str, object]) -> None:
        for agent in agents:
            publish(event, {"agent": agent.id, **data})

    return tell


class OutsideCounter:
    """Counts after each scan; `found` is what the last count found."""

    def __init__(self, rules: Callable[[], ScanRules], executor: Executor) -> None:
        self.found = OutsideCount()
        self._rules = rules
        self._executor = executor
        self._scanned: asyncio.Queue[Scan] = asyncio.Queue(maxsize=1)

    def note_scan(self, seen: Scan) -> None:
        """Take a scan; only the latest one is counted beside."""
        # one that is waiting is older, and nobody has begun with it
        if self._scanned.full():
            self._scanned.get_nowait()
        self._scanned.put_nowait(seen)

    async def run(self, share: float = SHARE) -> None:
        """Count until cancelled, for at most a `share` of the time."""
        while True:
            seen = await self._scanned.get()
            # scans may come faster than this: it must not take the threads that they and the answers need
            began = time.monotonic()
            self.found = await asyncio.get_running_loop().run_in_executor(
                self._executor, lambda seen: count_outside(seen, self._rules()), seen
            )
            await asyncio.sleep((time.monotonic() - began) / share)


LOOK_SECONDS = 2.0
"""After this a disk does not answer."""


class PathState(Struct, frozen=True):
    """Whether there is a folder at a path, and whether it is another than that of the index."""

    has_folder: bool = True
    leads_elsewhere: bool = False


class WorkspacePath(Struct, eq=False):
    """Asks, for one agent, whether its path still leads to the folder that the index is of."""

    configured: Path
    index: WorkspaceIndex
    team: Callable[[], str] = str
    """Says why what the agent's team shares may be older than it is there; empty if it is not."""
    _leads_elsewhere: bool = False
    _seen: PathState = PathState()
    _looking: asyncio.Future[PathState] | None = None

    async def look(self, seconds: float = LOOK_SECONDS) -> PathState:
        """Return where it leads now; where its disk does not answer in time, where it led when last it did."""
        if self._looking is None or self._looking.done():
            # one at a time: a disk that hangs keeps one thread
            self._looking = asyncio.get_running_loop().run_in_executor(None, self._look)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._seen = await asyncio.shield(self._looking)
        return self._seen

    def _look(self) -> PathState:
        return PathState(self.configured.is_dir(), self.leads_elsewhere())

    def leads_elsewhere(self) -> bool:
        """Tell whether it leads to another folder, or to none while that of the index is there. Blocks: two stats."""
        return self._may_lead_elsewhere and file_identity(self.configured) != file_identity(self.index.rules.workspace)

    async def catch_up(self, seconds: float) -> int:
        """Do what `WorkspaceIndex.catch_up` does; what lies elsewhere is at least one file that is lacking."""
        lacking = await self.index.catch_up(seconds)
        if self._may_lead_elsewhere and seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    self._leads_elsewhere = await asyncio.to_thread(self.leads_elsewhere)
            except TimeoutError:
                # its disk does not answer
                return max(1, lacking)
        return max(int(self._leads_elsewhere), lacking)

    def freshness(self) -> Freshness:
        """Return what the index still owes the disk, and why it stays so if the path leads elsewhere."""
        owed = self.index.freshness()
        hold, team = ELSEWHERE if self._leads_elsewhere else owed.hold, self.team()
        return replace(owed, hold=hold, team=team) if self._leads_elsewhere or team else owed

    @property
    def _may_lead_elsewhere(self) -> bool:
        """Whether there were symlinks on the way at the start; through later ones every look goes anyway."""
        return self.configured != self.index.rules.workspace
