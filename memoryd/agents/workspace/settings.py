"""Parts made directly from the configuration: roots, rules, the owner's time, scan schedules, ledgers and journals."""

import asyncio
import math
import os
import time as system_time
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import asdict, replace

from memoryd.agents.events import NamedLoop
from memoryd.config.agents import Agent
from memoryd.config.memory import MemorySection
from memoryd.config.memory_search import MemorySearchSection, SyncSection
from memoryd.config.paths import openclaw_sessions, state_dir
from memoryd.domain.clock import WRITER_SECONDS, MonitoredPart
from memoryd.domain.embedding import Choice
from memoryd.domain.media import MediaRules
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.syncplan import WaitTimes
from memoryd.files.ignore import (
    IgnoreFile,
    IgnoreState,
    IgnoreTimings,
    RealPaths,
    combined_rules,
    overlapping_workspaces,
)
from memoryd.files.roots import folders_by_prefix, team_roots, workspace_roots
from memoryd.files.scanner import ScanRoot, ScanRules
from memoryd.index.indexer import Indexer, IndexSettings
from memoryd.index.pending import EmbeddingLoopSettings
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.search.ranking import SearchSettings
from memoryd.sessions.conversation_index import FeedSettings
from memoryd.sessions.transcripts.folders import TranscriptFolder
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger


class OwnersTime(Struct, frozen=True):
    """The clock of an owner. A `zone` of None means the current time zone of the machine."""

    zone: ZoneInfo | None

    def now(self) -> datetime:
        """Return the current time, with its zone."""
        return datetime.now(UTC).astimezone(self.zone)

    def today(self) -> date:
        """Return the current date."""
        return self.now().date()

    def day(self, at: float) -> date:
        """Return the date of a Unix time."""
        return datetime.fromtimestamp(at, UTC).astimezone(self.zone).date()

    def end_of(self, day: date) -> float:
        """Return the Unix time of the end of a day; infinity if it is out of range."""
        try:
            midnight = datetime.combine(day, time.min, tzinfo=self.zone) + timedelta(days=1)
            return midnight.timestamp()
        except (OverflowError, ValueError, OSError):
            return math.inf


def owners_time(memory: MemorySection) -> OwnersTime:
    """Return the clock of the owner of an agent with these settings."""
    return OwnersTime(ZoneInfo(memory.timezone) if memory.timezone else None)


BATCH_PASSAGES = 1000
"""The number of passages in one job of a provider's batch interface."""


def embedding_loop_settings(settings: MemorySearchSection, choice: Choice) -> EmbeddingLoopSettings:
    """Return the settings of the embedding loop; with a batch interface it takes as many passages as the jobs hold."""
    default = EmbeddingLoopSettings(
        max_unused=settings.cache.capacity,
        providers=tuple(filter(None, (choice.provider, choice.fallback))),
        is_paused=settings.sync.paused,
    )
    batch = settings.remote.batch
    if not batch.enabled:
        return default
    passages = BATCH_PASSAGES * batch.concurrency
    return replace(default, remote_batch=passages, read_ahead=passages, retry=batch.poll_interval_ms / 1000)


def index_settings(settings: MemorySearchSection) -> IndexSettings:
    """Return how notes are cut into chunks and when the disk is scanned, in seconds."""
    sync = settings.sync
    return IndexSettings(
        chunks=ChunkSettings(settings.chunking.tokens, settings.chunking.overlap),
        debounce=sync.watch_debounce_ms / 1000,
        settle=sync.settle_ms / 1000,
        grace=WaitTimes(file=sync.delete_grace_ms / 1000, root=sync.root_grace_seconds, settle=sync.settle_ms / 1000),
        reconcile=sync.reconcile_seconds,
    )


def feed_settings(settings: MemorySearchSection) -> FeedSettings:
    """Return when folders of transcripts are scanned, in seconds."""
    sync = settings.sync
    return FeedSettings(debounce=sync.watch_debounce_ms / 1000, hold=5.0, reconcile=sync.reconcile_seconds)


def indexed_folders(agent: Agent) -> list[TranscriptFolder]:
    """Return the transcript folders that an agent's index reads; none unless its owner enabled that."""
    return transcript_folders(agent) if agent.reads_transcripts else []


def transcript_folders(agent: Agent) -> list[TranscriptFolder]:
    """Return the folders with transcripts of an agent.

    Each use of them is enabled by a configuration key of its own.
    """
    own = [
        TranscriptFolder(Path(folder.path), folder.transcript_format)
        for folder in agent.memory.sessions.folders
        if folder.agent == agent.id
    ]
    default = openclaw_sessions(agent.id)
    # a folder that is named twice is read once
    named = {folder.path: folder for folder in [TranscriptFolder(default, is_optional=True), *own]}
    return list(named.values())


def search_settings(settings: MemorySearchSection, vector_bytes: int) -> SearchSettings:
    """Return how words and vectors are searched and merged; `vector_bytes` limits the memory of the vectors."""
    return SearchSettings(hybrid=settings.query.hybrid, vector_bytes=vector_bytes)


class WorkspaceRules:
    """The folders of one workspace and its privacy rules, read from disk on each call."""

    def __init__(self, agent: Agent, *, media: MediaRules | None, max_file_bytes: int) -> None:
        settings, index = agent.memory_search, agent.index_path
        self.workspace = Path(os.path.realpath(agent.workspace))
        self.max_file_bytes = max_file_bytes
        self._settings = settings
        self._media = media
        self._team = agent.team
        self._index_folder = index.parent
        self._timings = IgnoreTimings(settle=settings.sync.settle_ms / 1000, grace=settings.sync.delete_grace_ms / 1000)
        self._ignore = IgnoreFile(
            self.workspace,
            exclude=settings.exclude,
            memory=index.with_name(f"{index.name}-ignore"),
            timings=self._timings,
            follow_symlinks=settings.follow_symlinks,
        )
        self._neighbours: list[tuple[Path, IgnoreFile]] = []

    def add_neighbours(self, others: Iterable["WorkspaceRules"]) -> None:
        """Also apply the ignore files of other workspaces to the files that are inside their folders."""
        paths = {other.workspace for other in others} - {self.workspace}
        self._neighbours = [(path, IgnoreFile(path, timings=self._timings)) for path in sorted(paths)]

    def roots(self) -> list[ScanRoot]:
        """Return the folders to scan. Blocks: the extra paths may be globs."""
        return workspace_roots(self.workspace, self._settings.extra_paths, self._team)

    def ruling(self) -> IgnoreState:
        """Return what is private now. Blocks: reads the ignore files."""
        own = self._ignore.read()
        if not self._neighbours:
            return own
        near = overlapping_workspaces((path for path, _ in self._neighbours), (root.path for root in self.roots()))
        others = [(path, file.read()) for path, file in self._neighbours if path in near]
        return combined_rules(own, RealPaths(self.workspace, follow_symlinks=self._settings.follow_symlinks), others)

    def read(self) -> tuple[list[ScanRoot], ScanRules]:
        """Return the folders and the rules for one scan. Blocks."""
        rules = self.rules()
        return self.roots(), rules

    def rules(self) -> ScanRules:
        """Return the rules for a scan. Blocks: reads the ignore files."""
        return ScanRules(
            **asdict(self.ruling()),
            workspace=self.workspace,
            folders_by_prefix=folders_by_prefix(() if self._team is None else team_roots(self._team)),
            excluded_folder=self._index_folder,
            max_file_bytes=self.max_file_bytes,
            follow_symlinks=self._settings.follow_symlinks,
            media=self._media,
        )


ON_SEARCH_SECONDS = 5.0
"""The minimum number of seconds between two scans caused by questions."""


class ScanSchedule(Struct, eq=False):
    """Requests scans of one indexer, as configured in `memorySearch.sync`."""

    settings: SyncSection
    indexer: Indexer
    _searched_at: float = 0.0

    async def run(self) -> None:
        """Request a scan every `sync.intervalMinutes`; return at once if that is 0."""
        seconds = self.settings.interval_minutes * 60
        while seconds:
            await asyncio.sleep(seconds)
            self.indexer.triggers.demand()

    def note_question(self) -> None:
        """Report a question, which may cause a scan."""
        now = system_time.monotonic()
        if self.settings.on_search and now - self._searched_at > ON_SEARCH_SECONDS:
            self._searched_at = now
            self.indexer.triggers.hint()


class Ledgers:
    """The ledger of each agent and the journal of each workspace; they are opened and created on first use."""

    def __init__(self, agents: Sequence[Agent], executor: Executor) -> None:
        workspaces = [Path(os.path.realpath(agent.workspace)) for agent in agents]
        self._ledgers: dict[Path, tuple[str, Ledger]] = {}
        """Each ledger with the name of the first agent that has it."""
        self._of_workspace: dict[Path, dict[Ledger, None]] = {}
        self._journals: dict[Path, tuple[str, Journal]] = {}
        """By workspace, each with the first agent that requested it."""
        self._executor = executor
        for agent, own in zip(agents, workspaces, strict=True):
            for name, owner in ((agent.id, agent), (f"{agent.id} before", agent.with_other_ledger)):
                place = _place(owner)
                if place not in self._ledgers:
                    if owner is not agent and not owner.ledger_path.is_file():
                        continue
                    is_inside = any(place.is_relative_to(workspace) for workspace in workspaces)
                    ledger = Ledger(
                        owner.ledger_path,
                        executor,
                        is_private=owner.ledger_path.is_relative_to(state_dir()),
                        is_read_only=is_inside and agent.memory.read_only,
                    )
                    self._ledgers[place] = name, ledger
                self._of_workspace.setdefault(own, {})[self._ledgers[place][1]] = None

    def of_workspace(self, workspace: Path) -> Sequence[Ledger]:
        """Return the ledgers of the agents of a workspace, given by its real path.

        The first one records its changes.
        """
        return list(self._of_workspace[workspace])

    def of(self, agent: Agent) -> Ledger:
        """Return the ledger of an agent. Agents may share a ledger; their rows have different keys."""
        return self._ledgers[_place(agent)][1]

    def before(self, agent: Agent) -> Ledger | None:
        """Return the previous ledger of an agent, which may be shared; None without one."""
        _, ledger = self._ledgers.get(_place(agent.with_other_ledger), ("", None))
        return ledger

    def all_of(self, agent: Agent) -> Sequence[Ledger]:
        """Return the ledger of an agent, and its previous one if there is one."""
        return [self.of(agent), *filter(None, [self.before(agent)])]

    def journal(self, agent: Agent, rules: WorkspaceRules) -> Journal:
        """Return the journal that writes to the workspace of these rules.

        The first agent that requests it configures it.
        """
        place = rules.workspace
        if place not in self._journals:
            journal = Journal(
                files=NoteFiles(place, rules.rules, configured=agent.workspace),
                changes=ChangeLog(self.of(agent), str(place)),
                executor=self._executor,
                is_read_only=agent.memory.read_only,
            )
            self._journals[place] = agent.id, journal
        return self._journals[place][1]

    def loops(self) -> list[NamedLoop]:
        """Return the loops that delete expired rows, and those that repair what a kill interrupted."""
        expiring: list[NamedLoop] = [(f"ledger {name}", ledger.run) for name, ledger in self._ledgers.values()]
        return [*expiring, *((f"changes {name}", journal.run) for name, journal in self._journals.values())]

    def watched_parts(self) -> list[MonitoredPart]:
        """Return the writers of the ledgers, to be watched for hangs."""
        return [
            MonitoredPart(f"writer of ledger {name}", ledger.pulse, WRITER_SECONDS)
            for name, ledger in self._ledgers.values()
        ]

    async def close(self) -> None:
        """Close all ledgers."""
        async with AsyncExitStack() as stack:
            for _, ledger in self._ledgers.values():
                stack.push_async_callback(ledger.close)


def _place(agent: Agent) -> Path:
    """Return the real path of an agent's ledger, with symlinks of its folder resolved."""
    path = agent.ledger_path
    return Path(os.path.realpath(path.parent)) / path.name
