"""One workspace at work: its index file, the loops that keep it true, and the agents that share it."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from memoryd.agents.served import Served
from memoryd.config.limits import LimitsSection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.models import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.documents import OutsideCount, SkippedFile
from memoryd.domain.provider_choice import Choice
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.syncplan import Grace
from memoryd.domain.text.entries import ChunkSettings
from memoryd.embed.choice import Embedding, media_rules
from memoryd.embed.slot import EmbedderSlot
from memoryd.errors import StoreError
from memoryd.files.ignore import IgnoreFile, IgnoreTimings, Ruling
from memoryd.files.neighbours import joined, related
from memoryd.files.outside import count_outside
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import Scan, ScanRoot, ScanRules
from memoryd.files.spellings import RealPaths
from memoryd.index.attachments import AttachmentReader
from memoryd.index.indexer import Indexer, IndexSettings
from memoryd.index.keeper import Keeper
from memoryd.index.lane import EmbeddingLane, LaneSettings, Lookup
from memoryd.index.spaces import Spaces
from memoryd.index.watcher import FileWatcher
from memoryd.qmd.agent import AgentQmd, Dependencies
from memoryd.search.builtin import BuiltinSearch, SearchSettings
from memoryd.search.service import Freshness, SearchService
from memoryd.store.chunks import Counts
from memoryd.store.database import Database
from memoryd.store.pending_passages import PendingCost, RejectedPassage
from memoryd.wire import Event

ON_SEARCH_SECONDS = 5.0
"""A question schedules a scan at most this often."""
BATCH_PASSAGES = 1000
"""Of one job of a provider's batch interface."""
OUTAGE_SECONDS = 60.0
"""After so long without qmd the builtin index is given vectors of its own."""
FLAGGED_SHOWN = 50
OUTSIDE_SHARE = 0.01
"""Of the time may be spent on counting what is not indexed."""
PURGE_OWED = "private notes are still to be removed from the index, which cannot be written"
EMPTY = Counts(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every workspace of the daemon shares."""

    executor: Executor
    limits: LimitsSection
    watcher: FileWatcher | None
    lookup: Lookup
    publish: Callable[[Event, Mapping[str, object]], None]


class Workspace:
    """The parts of one index, wired together. `agents` are those that share it; the first one's settings hold."""

    def __init__(
        self,
        *,
        agents: Sequence[Agent],
        embedding: Embedding,
        around: Surroundings,
    ) -> None:
        self.agents = list(agents)
        self.embedding = embedding
        self.slot = embedding.slot
        self.cost: PendingCost | None = None
        self.lacking = 0
        """Passages without a vector."""
        self.unseen: list[SkippedFile] = []
        """Pictures and sounds that are found by their names only, and why."""
        self.flagged: list[tuple[str, str]] = []
        """Path and flags of the first documents that have any."""
        self.outside = OutsideCount()
        self._around = around
        self._settings = agents[0].memory_search
        self._media = media_rules(self._settings, embedding.plan)
        self._path = Path(os.path.realpath(agents[0].workspace))
        self._ignore = _made_ignore(self._path, agents[0])
        self._neighbours: list[tuple[Path, IgnoreFile]] = []
        self._searched_at = 0.0
        self._scanned: asyncio.Queue[Scan] = asyncio.Queue(maxsize=1)
        self.counts = EMPTY
        self.database = Database(
            path=agents[0].index_path,
            executor=around.executor,
            vector_extension=_extension(self._settings),
            loads_vectors=self._settings.store.vector.enabled,
        )
        self.keeper = Keeper(
            database=self.database,
            is_private=self.database.path.is_relative_to(state_dir()),
            on_new=self._on_new_index,
            is_rebuilt=lambda: self.indexer.is_settled,
        )
        self._spaces = Spaces(self.database)
        self.lane = self._made_lane()
        self.indexer = self._made_indexer()
        self.builtin = self._made_search(self.slot)
        given = Dependencies(
            workspace=self._path,
            builtin=self.builtin,
            words=self._made_search(EmbedderSlot(lambda _state: None)),
            known=lambda: self.indexer.known_paths,
            changed_since=self.indexer.read_since,
            ruling=self._ruling,
            roots=self._roots,
            max_file_bytes=around.limits.max_file_bytes,
        )
        self.qmds = {agent.id: AgentQmd(agent, given) for agent in agents if agent.memory.backend == "qmd"}
        self.served = [self._served(agent, embedding) for agent in agents]
        self.lane.pause(bool(self.qmds))

    def _made_lane(self) -> EmbeddingLane:
        return EmbeddingLane(
            database=self.database,
            spaces=self._spaces,
            slot=self.slot,
            settings=_lane_settings(self._settings, self.embedding.plan.choice),
            lookup=self._around.lookup,
            publish=self._publish,
            on_removed=self._on_vectors_removed,
            attach=AttachmentReader(executor=self._around.executor, look=self._look).attach,
            hold=self._hold,
            obstacle=self.embedding.obstacle,
        )

    def _made_indexer(self) -> Indexer:
        return Indexer(
            database=self.database,
            executor=self._around.executor,
            workspace=self._path,
            look=self._look,
            settings=_index_settings(self._settings),
            on_scan=self._on_scan,
            on_commit=self._on_commit,
            on_purge=self._on_purge,
            publish=self._publish,
        )

    def _made_search(self, slot: EmbedderSlot) -> BuiltinSearch:
        return BuiltinSearch(
            database=self.database,
            spaces=self._spaces,
            executor=self._around.executor,
            slot=slot,
            settings=_search_settings(self._settings, self._around.limits.max_vector_bytes),
            withdrawn=self.indexer.withdrawn,
        )

    def _served(self, agent: Agent, embedding: Embedding) -> Served:
        qmd = self.qmds.get(agent.id)
        search = self.builtin if qmd is None else qmd.search
        return Served(
            agent=agent,
            database=self.database,
            keeper=self.keeper,
            indexer=self.indexer,
            lane=self.lane,
            watcher=self._around.watcher,
            slot=self.slot,
            embedding=embedding,
            builtin=self.builtin,
            search=SearchService(search=search, freshness=self._freshness, on_search=self._on_search),
            roots=self._roots,
            qmd=qmd,
        )

    async def refresh_counts(self) -> Counts:
        """Count what the index holds, for status and for the reasons of empty answers."""
        with contextlib.suppress(StoreError):
            self.counts = await self.database.documents.counts()
        return self.counts

    async def refresh_lacking(self) -> None:
        """Ask how many passages have no vector."""
        with contextlib.suppress(StoreError):
            self.lacking = await self.lane.count()

    async def refresh_unseen(self) -> None:
        """Ask what the embedder refused."""
        embedder = self.slot.embedder
        if embedder is None:
            self.unseen = []
            return
        fingerprint = embedder.identity.fingerprint
        with contextlib.suppress(StoreError):
            self.unseen = [_unseen(one) for one in await self.database.vectors.rejected(fingerprint)]

    async def refresh_flagged(self) -> None:
        """Ask which documents were not read as they are, or are copies of a conflict."""
        with contextlib.suppress(StoreError):
            self.flagged = await self.database.documents.flagged(FLAGGED_SHOWN)

    async def refresh_cost(self) -> None:
        """Count what is still to be sent to a remote provider; None if nothing is sent anywhere."""
        if not self.embedding.sends:
            self.cost = None
            return
        embedder = self.slot.embedder
        fingerprint = "" if embedder is None else embedder.identity.fingerprint
        with contextlib.suppress(StoreError):
            self.cost = await self.database.vectors.pending_cost(fingerprint)

    async def run_interval(self) -> None:
        """Ask for a scan every `sync.intervalMinutes`, if that is set."""
        seconds = self._settings.sync.interval_minutes * 60
        while seconds:
            await asyncio.sleep(seconds)
            self.indexer.demand()

    async def run_outside(self, share: float = OUTSIDE_SHARE) -> None:
        """After a scan count the Markdown files where nobody looks, for at most a `share` of the time."""
        while True:
            seen = await self._scanned.get()
            began = time.monotonic()
            self.outside = await asyncio.get_running_loop().run_in_executor(
                self._around.executor, lambda seen: count_outside(seen, self._look()[1]), seen
            )
            await asyncio.sleep((time.monotonic() - began) / share)

    async def run_stand_in(self, outage_seconds: float = OUTAGE_SECONDS, look_seconds: float = 1.0) -> None:
        """Make vectors for the builtin index while qmd is out for longer than a moment, and no more of them after."""
        healthy_at = time.monotonic()
        while self.qmds:
            now = time.monotonic()
            if all(qmd.is_healthy for qmd in self.qmds.values()):
                healthy_at = now
            self.lane.pause(now - healthy_at < outage_seconds)
            await asyncio.sleep(look_seconds)

    def _on_commit(self) -> None:
        self.lane.wake()
        for qmd in self.qmds.values():
            qmd.qmd.upkeep.note_change()

    def _roots(self) -> list[ScanRoot]:
        return workspace_roots(self._path, self._settings.extra_paths)

    def heed(self, others: Iterable["Workspace"]) -> None:
        """Keep the ignore files of other workspaces, too, for what is listed of their folders."""
        settings = self._settings.sync
        timings = IgnoreTimings(settle=settings.settle_ms / 1000, grace=settings.delete_grace_ms / 1000)
        paths = {other._path for other in others} - {self._path}
        self._neighbours = [(path, IgnoreFile(path, timings=timings)) for path in sorted(paths)]

    def _ruling(self) -> Ruling:
        own = self._ignore.look()
        if not self._neighbours:
            return own
        near = related((path for path, _ in self._neighbours), (root.path for root in self._roots()))
        others = [(path, file.look()) for path, file in self._neighbours if path in near]
        return joined(own, RealPaths(self._path, follow_symlinks=self._settings.follow_symlinks), others)

    def _look(self) -> tuple[list[ScanRoot], ScanRules]:
        ruling = self._ruling()
        return self._roots(), ScanRules(
            workspace=self._path,
            is_ignored=ruling.is_ignored,
            has_patterns=ruling.has_rules,
            hold=ruling.hold,
            notice=ruling.notice,
            is_current=ruling.is_current,
            excluded_folder=self.database.path.parent,
            max_file_bytes=self._around.limits.max_file_bytes,
            follow_symlinks=self._settings.follow_symlinks,
            media=self._media,
        )

    def _on_scan(self, seen: Scan) -> None:
        if self._scanned.full():
            self._scanned.get_nowait()
        self._scanned.put_nowait(seen)
        if self._around.watcher is not None:
            self._around.watcher.watch(str(self.database.path), seen.above | seen.folders, self.indexer.hint)

    def _on_search(self) -> None:
        now = time.monotonic()
        if self._settings.sync.on_search and now - self._searched_at > ON_SEARCH_SECONDS:
            self._searched_at = now
            self.indexer.hint()

    def _freshness(self) -> Freshness:
        state = self.indexer.state
        return Freshness(
            files=len(self.indexer.known_paths),
            pending_files=state.pending_files if state.last_sync_at else max(1, state.pending_files),
            pending_embeddings=self.lane.pending,
            is_dirty=state.is_dirty,
            hold=self._hold() if state.pending_files else "",
            outside=self.outside,
        )

    def _hold(self) -> str:
        hold = self.indexer.state.hold
        if hold is None and self.indexer.is_withholding:
            return PURGE_OWED
        return "" if hold is None else hold.reason

    def _on_purge(self) -> None:
        self.builtin.forget_vectors()
        self.lane.recall()
        for qmd in self.qmds.values():
            qmd.qmd.upkeep.demand()

    def _on_vectors_removed(self) -> None:
        self.builtin.forget_vectors()

    def _on_new_index(self) -> None:
        self.indexer.demand()
        self.lane.wake()

    def _publish(self, event: Event, data: Mapping[str, object]) -> None:
        for agent in self.agents:
            self._around.publish(event, {"agent": agent.id, **data})


def _extension(settings: MemorySearchSection) -> Path | None:
    return Path(settings.store.vector.extension_path) if settings.store.vector.extension_path else None


def _made_ignore(workspace: Path, agent: Agent) -> IgnoreFile:
    settings, index = agent.memory_search, agent.index_path
    return IgnoreFile(
        workspace,
        exclude=settings.exclude,
        memory=index.with_name(f"{index.name}-ignore"),
        timings=IgnoreTimings(settle=settings.sync.settle_ms / 1000, grace=settings.sync.delete_grace_ms / 1000),
        follow_symlinks=settings.follow_symlinks,
    )


def _lane_settings(settings: MemorySearchSection, choice: Choice) -> LaneSettings:
    usual = LaneSettings(
        max_unused=settings.cache.max_entries if settings.cache.enabled else 0,
        providers=tuple(filter(None, (choice.provider, choice.fallback))),
        is_paused=settings.sync.paused,
    )
    batch = settings.remote.batch
    if not batch.enabled:
        return usual
    passages = BATCH_PASSAGES * batch.concurrency
    return replace(usual, remote_batch=passages, read_ahead=passages, retry=batch.poll_interval_ms / 1000)


def _index_settings(settings: MemorySearchSection) -> IndexSettings:
    sync = settings.sync
    return IndexSettings(
        chunks=ChunkSettings(settings.chunking.tokens, settings.chunking.overlap),
        debounce=sync.watch_debounce_ms / 1000,
        settle=sync.settle_ms / 1000,
        grace=Grace(file=sync.delete_grace_ms / 1000, root=sync.root_grace_seconds, settle=sync.settle_ms / 1000),
        reconcile=sync.reconcile_seconds,
    )


def _unseen(refused: RejectedPassage) -> SkippedFile:
    if refused.is_file:
        return SkippedFile(refused.path, f"found by its name only: {refused.reason}")
    lines = f"lines {refused.start_line} to {refused.end_line}"
    return SkippedFile(refused.path, f"a passage in {lines} is found by its words only: {refused.reason}")


def _search_settings(settings: MemorySearchSection, vector_bytes: int) -> SearchSettings:
    hybrid = settings.query.hybrid
    return SearchSettings(
        is_hybrid=hybrid.enabled,
        fusion=hybrid.fusion,
        weights=Weights(vector=hybrid.vector_weight, text=hybrid.text_weight),
        multiplier=hybrid.candidate_multiplier,
        half_life_days=hybrid.temporal_decay.half_life_days if hybrid.temporal_decay.enabled else None,
        mmr_lambda=hybrid.mmr.lambda_ if hybrid.mmr.enabled else None,
        vector_bytes=vector_bytes,
    )
