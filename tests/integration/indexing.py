"""One workspace with its real index, indexer, embedding loop and search in this process, and a fake embedder."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.domain.media import MediaRules
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import WaitTimes
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.files.ignore import IgnoreFile, IgnoreTimings
from memoryd.files.roots import read_mounts, workspace_roots
from memoryd.files.scanner import Scan, ScanRoot, ScanRules
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.indexer import Indexer, IndexSettings
from memoryd.index.pending import EmbeddingLoopLinks, EmbeddingLoopSettings, Spaces
from memoryd.index.reading import attachments
from memoryd.index.state import IndexEvents
from memoryd.index.watcher import FileWatcher
from memoryd.search.builtin import BuiltinSearch
from memoryd.search.protocol import Query, SearchResult
from memoryd.search.ranking import SearchSettings
from memoryd.store.index.database import Database
from memoryd.wire import Event
from tests.fakes import FakeEmbedder
from tests.store.consistency import Dump, check_consistency, dump

CHUNKS = ChunkSettings(tokens=60, overlap=15)
QUICK = IndexSettings(
    chunks=CHUNKS, debounce=0.05, max_hold=0.2, settle=0.01, grace=WaitTimes(file=0.1, root=30), reconcile=0, retry=0.05
)


@dataclass
class Stage:
    """The running parts."""

    workspace: Path
    database: Database
    embedder: FakeEmbedder
    slot: CurrentEmbedder
    indexer: Indexer
    embedding_loop: EmbeddingLoop
    search: BuiltinSearch
    events: list[tuple[Event, Mapping[str, object]]] = field(default_factory=list)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    async def sync(self, *, force: bool = False, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            await self.indexer.triggers.served(self.indexer.triggers.demand(is_forced=force))

    async def embed(self, seconds: float = 60) -> None:
        await self.sync()
        async with asyncio.timeout(seconds):
            await self.embedding_loop.wait_until_embedded()

    async def ask(self, text: str, *, filters: Filters | None = None, limit: int = 6) -> SearchResult:
        return await self.search.search(Query(text, limit=limit, filters=filters or Filters()))

    async def found(self, text: str) -> list[str]:
        """Return the notes that contain a word of the text, best first."""
        return list(dict.fromkeys(hit.chunk.path for hit in (await self.ask(text)).hits if hit.is_literal))

    async def dump(self) -> Dump:
        await self.database.write(check_consistency)
        return await self.database.read(dump)

    @property
    def files(self) -> set[str]:
        return set(self.indexer.known_paths)

    @property
    def skipped(self) -> dict[str, str]:
        return {it.path: it.reason for it in self.indexer.state.skipped}


@asynccontextmanager
async def staged(
    workspace: Path,
    state: Path,
    *,
    settings: IndexSettings = QUICK,
    embedder: FakeEmbedder | None = None,
    watcher: FileWatcher | None = None,
    extra: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_file_bytes: int = 1 << 20,
    follow_symlinks: bool = False,
    media: MediaRules | None = None,
    max_unused: int = 50_000,
    lookup: Callable[[str, Sequence[bytes]], Mapping[bytes, Vector]] = lambda _fingerprint, _hashes: {},
    mounts: Callable[[], str] = read_mounts,
    phase: ModelPhase = ModelPhase.READY,
) -> AsyncIterator[Stage]:
    """Run all parts over `workspace` with the index in `state`, and stop them at the end.

    There is an embedder at the start only in the `phase` READY.
    """
    state.mkdir(exist_ok=True)
    workspace.mkdir(exist_ok=True)
    fake = embedder or FakeEmbedder()
    slot = CurrentEmbedder(lambda _state: None)
    await slot.set(phase, embedder=fake if phase is ModelPhase.READY else None)
    events: list[tuple[Event, Mapping[str, object]]] = []

    ignore = IgnoreFile(
        workspace,
        exclude=exclude,
        memory=state / "index.sqlite-ignore",
        timings=IgnoreTimings(settle=settings.settle, grace=settings.grace.file),
        follow_symlinks=follow_symlinks,
    )

    def look() -> tuple[list[ScanRoot], ScanRules]:
        ruling = ignore.read()
        return workspace_roots(workspace, extra), ScanRules(
            workspace=workspace,
            is_ignored=ruling.is_ignored,
            has_patterns=ruling.has_patterns,
            hold=ruling.hold,
            notice=ruling.notice,
            is_current=ruling.is_current,
            max_file_bytes=max_file_bytes,
            follow_symlinks=follow_symlinks,
            media=media,
        )

    def on_scan(seen: Scan) -> None:
        if watcher is not None:
            info = workspace.stat()
            watcher.watch(
                "stage", {**seen.folders, str(workspace): (info.st_dev, info.st_ino)}, indexer.triggers.take_events
            )

    def on_purge() -> None:
        search.forget_vectors()
        embedding_loop.cancel_batch()

    async def found_elsewhere(fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        return dict(lookup(fingerprint, hashes))

    with ThreadPoolExecutor(6) as executor:
        database = Database(path=state / "index.sqlite", executor=executor)
        await database.open()
        spaces = Spaces(database)
        embedding_loop = EmbeddingLoop(
            database=database,
            spaces=spaces,
            slot=slot,
            settings=EmbeddingLoopSettings(
                batch=4, read_ahead=16, retry=0.02, hold=0.05, max_unused=max_unused, providers=("fake", "spare")
            ),
            links=EmbeddingLoopLinks(
                lookup=found_elsewhere,
                publish=lambda event, data: events.append((event, data)),
                on_removed=lambda: search.forget_vectors(),
                attach=attachments(executor, look),
                hold=lambda: (
                    indexer.state.hold.reason if indexer.state.hold else "owed" if indexer.is_withholding else ""
                ),
            ),
        )
        indexer = Indexer(
            database=database,
            executor=executor,
            workspace=workspace,
            look=look,
            settings=settings,
            events=IndexEvents(
                on_scan=on_scan,
                on_commit=embedding_loop.wake,
                on_purge=on_purge,
                publish=lambda event, data: events.append((event, data)),
            ),
            mounts=mounts,
        )
        search = BuiltinSearch(
            database=database,
            spaces=spaces,
            slot=slot,
            settings=SearchSettings(),
            withdrawn=indexer.withdrawn,
        )
        stage = Stage(workspace, database, fake, slot, indexer, embedding_loop, search, events)
        loops = [indexer.run(), embedding_loop.run(), *([watcher.run()] if watcher else [])]
        tasks = [asyncio.create_task(loop) for loop in loops]
        try:
            yield stage
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            await database.close()
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended


async def rebuilt(workspace: Path, state: Path) -> Dump:
    """Return the contents of a new index of the same notes."""
    async with staged(workspace, state) as stage:
        await stage.sync()
        return await stage.dump()
