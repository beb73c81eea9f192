"""The index of one workspace: its file, the loops that keep it equal to the notes, and the search over it."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import (
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
"""The share of the time that may be spent on counting."""
ELSEWHERE = "the path of the workspace leads to another folder than when memoryd was started; restart memoryd"


class DaemonResources(Struct, frozen=True):
    """The resources that all workspaces of the daemon share."""

    executor: Executor
    limits: LimitsSection
    watcher: FileWatcher | None
    lookup: Lookup
    publish: Publish
    ledgers: Ledgers
    models: ModelParts
    qas: Mapping[str, WorkspaceQa]
    """By agent id; agents whose questions and answers are off are missing."""
    agents: Sequence[Agent]
    """All agents, on all workspaces."""


class ChangeFollower(Protocol):
    """A component derived from the same notes: another engine over them, or the cache of their memories."""

    def note_change(self) -> None:
        """Report that notes changed."""

    def demand(self) -> None:
        """Report that notes became private: the follower must update at once."""


class WorkspaceIndex:
    """The parts of one index, wired together: it passes the events of each part to the others.

    `agents` share the index; the settings of the first one apply. `followers` are also notified of changes.
    """

    def __init__(
        self,
        *,
        agents: Sequence[Agent],
        embedding: Embedding,
        reranking: Reranking | None,
        rules: WorkspaceRules,
        resources: DaemonResources,
    ) -> None:
        settings, resources = (
            agents[0].memory_search,
            replace(resources, publish=publish_to_each(agents, resources.publish)),
        )
        self.followers: list[ChangeFollower] = []
        self.purges: list[Callable[[], Awaitable[str]]] = []
        """Functions that rewrite other indexes of the notes without their deleted content.

        Each returns why not, or "".
        """
        self.rules = rules
        self.has_folder = True
        self.outside = OutsideCounter(lambda: rules.read()[1], resources.executor)
        self.database = Database(path=agents[0].index_path, executor=resources.executor)
        self.keeper = Keeper(
            database=self.database,
            is_private=self.database.path.is_relative_to(state_dir()),
            on_new=self._on_new_index,
            is_rebuilt=lambda: self.indexer.is_up_to_date,
        )
        self.watcher = resources.watcher
        spaces = Spaces(self.database)
        # the keeper and the embedding loop are created before the parts that they notify, and look these up on use
        self.embedding_loop = self._embedding_loop(settings, embedding, spaces, resources)
        self.indexer = Indexer(
            database=self.database,
            executor=resources.executor,
            workspace=rules.workspace,
            look=rules.read,
            settings=index_settings(settings),
            events=IndexEvents(
                on_scan=self._on_scan, on_commit=self._on_commit, on_purge=self._on_purge, publish=resources.publish
            ),
        )
        rerank, rerank_settings = None, settings.query.rerank
        if reranking is not None:
            seconds = rerank_settings.deadline_ms / 1000
            rerank = RerankArm(reranking=reranking, candidates=rerank_settings.candidates, seconds=seconds)
        new_search = partial(
            BuiltinSearch,
            database=self.database,
            spaces=spaces,
            settings=search_settings(settings, resources.limits.max_vector_bytes),
            withdrawn=self.indexer.withdrawn,
        )
        self.builtin = new_search(slot=embedding.slot, rerank=rerank)
        self.words = new_search(slot=CurrentEmbedder(lambda _state: None))
        """A search by words alone."""

    def _embedding_loop(
        self,
        settings: MemorySearchSection,
        embedding: Embedding,
        spaces: Spaces,
        resources: DaemonResources,
    ) -> EmbeddingLoop:
        return EmbeddingLoop(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=embedding_loop_settings(settings, embedding.plan.choice),
            links=EmbeddingLoopLinks(
                lookup=resources.lookup,
                publish=resources.publish,
                on_removed=lambda: self.builtin.forget_vectors(),
                attach=attachments(resources.executor, self.rules.read),
                hold=self.hold,
                obstacle=embedding.obstacle,
            ),
        )

    @property
    def is_ready(self) -> bool:
        """Whether the first scan is done."""
        return self.indexer.state.last_sync_at is not None

    @property
    def pending_files(self) -> int:
        """The number of files that were still to be read, renamed or removed at the last scan."""
        return self.indexer.state.pending_files

    @property
    def trouble(self) -> str | None:
        """Why the index cannot follow the notes: its file cannot be used, or the last sync did not finish."""
        return self.keeper.trouble or self.indexer.state.trouble

    @property
    def why_waiting(self) -> str:
        """Why changed files must not be indexed now; empty if they may, or if none changed."""
        hold = self.indexer.state.hold
        return hold.reason if hold is not None and self.pending_files else ""

    def demand(self, *, force: bool = False) -> int:
        """Request a scan now, of every file with `force`; return the ticket that `wait_for_scan` takes."""
        return self.indexer.triggers.demand(is_forced=force)

    async def wait_for_scan(self, ticket: int) -> None:
        """Wait until the scan of this ticket is processed, except for files of an unreadable root."""
        await self.indexer.triggers.served(ticket)

    async def follow(self, seconds: float) -> bool:
        """Read what is on disk now, for at most `seconds`; return whether all was read."""
        try:
            async with asyncio.timeout(seconds):
                await self.wait_for_scan(self.demand())
        except TimeoutError:
            return False
        return True

    def take_over(self, before: "WorkspaceIndex") -> None:
        """Take over the unfinished requests of `before`, a closed index over the same file."""
        self.indexer.take_over(before.indexer)
        self.embedding_loop.take_over(before.embedding_loop)

    def note_jump(self, jump: Jump) -> None:
        """Handle a clock jump: scan everything, and after a step back do not trust modification times."""
        if jump.was_set_back:
            self.indexer.triggers.distrust_times()
        else:
            self.indexer.triggers.demand()

    async def catch_up(self, seconds: float) -> int:
        """Follow the changes on disk until now, for at most `seconds`; return how many files are still lacking.

        This is cheap if the watcher knows that nothing changed. Without events the disk is scanned.
        """
        return await self.indexer.catch_up(seconds, is_watched=self._is_watched())

    def scan_soon(self) -> None:
        """Read in the background what was just written here."""
        self.indexer.scan_soon(is_watched=self._is_watched())

    async def wait_until_indexed(self, paths: Set[RelativePath], seconds: float) -> bool:
        """Read these just written notes for at most `seconds`; return whether all were read."""
        return await self.indexer.wait_until_indexed(paths, seconds, is_watched=self._is_watched())

    def _is_watched(self) -> bool:
        """Process the events so far; return whether they cover all changes until now."""
        is_watched = self.watcher is not None and self.watcher.report_events(str(self.database.path))
        # changes by other machines cause no event
        return is_watched and not self.indexer.state.remote

    async def rescan(self, paths: Set[RelativePath], seconds: float) -> bool:
        """Scan the disk regardless of events for at most `seconds`, since documents differ from the index.

        Return whether it was scanned. It is not if the indexer already knows of all `paths`, or without time; then the
        indexer scans later.
        """
        if paths <= self.indexer.differing:
            return False
        if seconds <= 0:
            self.indexer.triggers.hint()
            return False
        # through a hard link, or in a folder that is not watched yet, files change without an event
        await self.indexer.catch_up(seconds, is_watched=False)
        return True

    def freshness(self) -> Freshness:
        """Return how far the index lags behind the disk."""
        state = self.indexer.state
        return Freshness(
            files=len(self.indexer.known_paths),
            pending_files=state.pending_files if state.last_sync_at else max(1, state.pending_files),
            pending_embeddings=self.embedding_loop.pending,
            is_dirty=state.is_dirty,
            hold=self.hold() if state.pending_files else "",
            outside=self.outside.latest,
            has_folder=self.has_folder,
        )

    def hold(self) -> str:
        """Return why nothing new may be indexed or embedded now; empty if it may."""
        hold = self.indexer.state.hold
        if hold is None and self.indexer.is_withholding:
            return "private notes are still to be removed from the index, which cannot be written"
        return "" if hold is None else hold.reason

    def _on_scan(self, seen: Scan) -> None:
        self.has_folder = seen.workspace_device is not None
        self.outside.note_scan(seen)
        if self.watcher is not None:
            self.watcher.watch(str(self.database.path), seen.above | seen.folders, self.indexer.triggers.take_events)

    def _on_commit(self) -> None:
        self.embedding_loop.wake()
        for follower in self.followers:
            follower.note_change()

    def _on_purge(self) -> None:
        # vectors in memory first: a concurrent question must not find what was purged
        self.builtin.forget_vectors()
        self.embedding_loop.cancel_batch()
        for follower in self.followers:
            follower.demand()

    def _on_new_index(self) -> None:
        self.indexer.triggers.demand()
        self.embedding_loop.wake()


def publish_to_each(agents: Sequence[Agent], publish: Publish) -> Publish:
    """Return a function that publishes an event for each of the agents."""

    def publish_all(event: Event, data: Mapping[str, object]) -> None:
        for agent in agents:
            publish(event, {"agent": agent.id, **data})

    return publish_all


class OutsideCounter:
    """Counts the Markdown files outside the scanned folders after each scan; `latest` is the last result."""

    def __init__(self, rules: Callable[[], ScanRules], executor: Executor) -> None:
        self.latest = OutsideCount()
        self._rules = rules
        self._executor = executor
        self._scanned: asyncio.Queue[Scan] = asyncio.Queue(maxsize=1)

    def note_scan(self, seen: Scan) -> None:
        """Queue a scan to be counted in the background; only the latest one is counted."""
        # a queued scan is older, and its count has not begun
        if self._scanned.full():
            self._scanned.get_nowait()
        self._scanned.put_nowait(seen)

    async def run(self, share: float = SHARE) -> None:
        """Count until cancelled, for at most `share` of the time."""
        while True:
            seen = await self._scanned.get()
            # scans may come faster than counts: counting must not occupy the threads that scans and answers need
            began = time.monotonic()
            self.latest = await asyncio.get_running_loop().run_in_executor(
                self._executor, lambda seen: count_outside(seen, self._rules()), seen
            )
            await asyncio.sleep((time.monotonic() - began) / share)


CHECK_SECONDS = 2.0
"""Seconds after which a disk counts as unresponsive."""


class PathState(Struct, frozen=True):
    """Whether a path is a folder, and whether it is another folder than the indexed one."""

    has_folder: bool = True
    leads_elsewhere: bool = False


class WorkspacePath(Struct, eq=False):
    """Checks, for one agent, whether its path still leads to the indexed folder."""

    configured: Path
    index: WorkspaceIndex
    team: Callable[[], str] = str
    """Returns why the notes shared by the team may be outdated here; empty if they are current."""
    _leads_elsewhere: bool = False
    _last: PathState = PathState()
    _checking: asyncio.Future[PathState] | None = None

    async def check(self, seconds: float = CHECK_SECONDS) -> PathState:
        """Return the current state of the path, or the last known state if its disk does not answer in time."""
        if self._checking is None or self._checking.done():
            # one at a time: an unresponsive disk blocks one thread only
            self._checking = asyncio.get_running_loop().run_in_executor(
                None, lambda: PathState(self.configured.is_dir(), self.leads_elsewhere())
            )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._last = await asyncio.shield(self._checking)
        return self._last

    def leads_elsewhere(self) -> bool:
        """Return whether it leads to another folder, or to none while the indexed one exists. Blocks: two stats."""
        return self._may_lead_elsewhere and file_identity(self.configured) != file_identity(self.index.rules.workspace)

    async def catch_up(self, seconds: float) -> int:
        """Do what `WorkspaceIndex.catch_up` does; a path that leads elsewhere counts as at least one lacking file."""
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
        """Return how far the index lags behind the disk, with the reason for it if the path leads elsewhere."""
        freshness = self.index.freshness()
        hold, team = ELSEWHERE if self._leads_elsewhere else freshness.hold, self.team()
        return replace(freshness, hold=hold, team=team) if self._leads_elsewhere or team else freshness

    @property
    def _may_lead_elsewhere(self) -> bool:
        """Whether the path had symlinks at the start; symlinks made later are followed by every scan."""
        return self.configured != self.index.rules.workspace
