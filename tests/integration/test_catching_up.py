"""Questions wait for pending changes, with the real watcher and indexer in this process."""

import asyncio
import itertools
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.index.file_events import InotifyEvents
from memoryd.index.reading import Spool
from memoryd.index.watcher import FileWatcher
from tests.integration.indexing import QUICK, Stage, staged
from tests.waiting import eventually_async

PATIENT = replace(QUICK, debounce=60, max_hold=60, settle=5, grace=replace(QUICK.grace, file=60, settle=5))
"""Nothing is scanned without a question."""


class WatchedStage:
    """A stage whose questions wait like those of the daemon."""

    def __init__(self, stage: Stage, watcher: FileWatcher) -> None:
        self.stage = stage
        self.watcher = watcher

    @property
    def is_watched(self) -> bool:
        return self.watcher.report_events("stage")

    async def catch_up(self, seconds: float = 20) -> int:
        return await self.stage.indexer.catch_up(seconds, is_watched=self.is_watched)

    async def found(self, text: str) -> tuple[list[str], int]:
        """Return the notes that contain a word, and the number of pending files."""
        pending = await self.catch_up()
        return await self.stage.found(text), pending


@asynccontextmanager
async def watched_stage(
    tmp_path: Path, workspace: Path, *, follow_symlinks: bool = False
) -> AsyncIterator[WatchedStage]:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(
        workspace, tmp_path / "state", settings=PATIENT, watcher=watcher, follow_symlinks=follow_symlinks
    ) as stage:
        await stage.sync()
        found = WatchedStage(stage, watcher)
        await eventually_async(lambda: found.is_watched)
        await found.catch_up()
        yield found


@pytest.fixture
async def watched(tmp_path: Path, workspace: Path) -> AsyncIterator[WatchedStage]:
    async with watched_stage(tmp_path, workspace) as found:
        yield found


async def test_only_changed_files_are_scanned(watched: WatchedStage) -> None:
    stage = watched.stage
    before = stage.indexer.state.last_scan_at
    for number in range(3):
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        assert await watched.found(f"quetzal{number}") == (["memory/new.md"], 0)
    (stage.workspace / "memory" / "new.md").rename(stage.workspace / "memory" / "newer.md")
    assert await watched.found("quetzal2") == (["memory/newer.md"], 0)
    stage.write("MEMORY.md", "The ibex.\n")
    assert await watched.found("ibex") == (["MEMORY.md"], 0)
    assert stage.indexer.state.last_scan_at == before
    # the next demand scans all files
    await stage.sync()
    assert stage.indexer.state.last_scan_at != before


async def test_changed_ignore_file_scans_all_files(watched: WatchedStage) -> None:
    stage = watched.stage
    stage.write("memory/mine.md", "The quetzal.\n")
    assert await watched.found("quetzal") == (["memory/mine.md"], 0)
    before = stage.indexer.state.last_scan_at
    stage.write(".memoryignore", "mine.md\n")
    await watched.catch_up()
    assert stage.indexer.state.last_scan_at != before
    stage.write("memory/mine.md", "The quetzal and the ibex.\n")
    # while the rules are unsettled, old notes stay and nothing new is added
    assert (await watched.found("ibex"))[0] == []


async def test_remains_of_private_note_are_erased_despite_questions(watched: WatchedStage, tmp_path: Path) -> None:
    stage = watched.stage
    stage.write("memory/mine.md", "The quetzal sleeps.\n")
    assert await watched.found("quetzal") == (["memory/mine.md"], 0)

    def holds_it() -> bool:
        return any(b"quetzal" in path.read_bytes().lower() for path in (tmp_path / "state").glob("index.sqlite*"))

    async def ask_and_edit() -> None:
        for number in itertools.count():
            stage.write("memory/other.md", f"The ibex {number}.\n")
            assert (await watched.found("quetzal"))[0] == []

    assert holds_it()
    stage.write("memory/mine.md", "---\nmemory: false\n---\nThe quetzal sleeps.\n")
    async with asyncio.TaskGroup() as group:
        askers = [group.create_task(ask_and_edit()) for _ in range(4)]
        await eventually_async(lambda: not holds_it())
        for asker in askers:
            asker.cancel()


async def test_demand_ends_only_when_remains_are_erased(watched: WatchedStage, tmp_path: Path) -> None:
    stage = watched.stage
    stage.write("memory/mine.md", "The quetzal sleeps.\n")
    assert await watched.found("quetzal") == (["memory/mine.md"], 0)
    stage.write("memory/mine.md", "---\nmemory: false\n---\nThe quetzal sleeps.\n")
    demanded = asyncio.create_task(stage.sync())
    while not demanded.done():
        stage.write("memory/other.md", "The ibex.\n")
        await watched.catch_up()
    await demanded
    files = (tmp_path / "state").glob("index.sqlite*")
    assert not any(b"quetzal" in path.read_bytes().lower() for path in files)


async def test_without_changes_nothing_is_scanned(watched: WatchedStage) -> None:
    generation, scanned = watched.stage.indexer.state.generation, watched.stage.indexer.state.last_scan_at
    for _ in range(10):
        assert await watched.catch_up(0.000_1) == 0
    assert watched.stage.indexer.state.generation == generation
    assert watched.stage.indexer.state.last_scan_at == scanned


async def test_files_that_are_no_documents_are_not_pending(watched: WatchedStage) -> None:
    stage = watched.stage
    for name in ("memory/.draft.md.swp", "memory/note.md~", "memory/#note.md#", "memory/data.json", "README.md"):
        stage.write(name, "The quetzal.\n")
    stage.write(".git/HEAD", "ref\n")
    assert watched.is_watched
    assert await watched.catch_up(0) == 0
    stage.write("memory/note.md", "The quetzal.\n")
    assert watched.is_watched
    assert await watched.catch_up(0) == 1


async def test_simultaneous_questions_share_one_snapshot(watched: WatchedStage) -> None:
    stage, snapshots = watched.stage, 0
    planner = stage.indexer._snapshots.planner
    take = planner.take_snapshot

    def counted(*given: object) -> object:
        nonlocal snapshots
        snapshots += 1
        return take(*given)  # type: ignore[arg-type]

    planner.take_snapshot = counted  # type: ignore[method-assign,assignment]
    stage.write("memory/new.md", "The quetzal.\n")
    assert await asyncio.gather(*(watched.catch_up() for _ in range(20))) == [0] * 20
    assert snapshots == 1


async def test_file_open_for_writing_waits_until_closed(watched: WatchedStage) -> None:
    path = watched.stage.write("memory/open.md", "The quetzal.\n")
    assert await watched.found("quetzal") == (["memory/open.md"], 0)
    with path.open("a") as file:
        file.write("The ibex, and")
        file.flush()
        assert await watched.found("ibex") == ([], 1)
        assert await watched.found("quetzal") == (["memory/open.md"], 1)
        file.write(" the stork.\n")
    assert await watched.found("stork") == (["memory/open.md"], 0)


async def test_emptied_file_is_pending_and_keeps_old_text(watched: WatchedStage) -> None:
    path = watched.stage.write("memory/open.md", "The quetzal.\n")
    await watched.catch_up()
    os.truncate(path, 0)
    assert await watched.found("quetzal") == (["memory/open.md"], 1)
    path.write_text("The ibex.\n")
    assert await watched.found("ibex") == (["memory/open.md"], 0)


async def test_changes_stay_pending_after_a_late_scan(watched: WatchedStage) -> None:
    for number in range(3):
        watched.stage.write(f"memory/new-{number}.md", "The quetzal.\n")
    assert await watched.catch_up(0) == 3
    assert await watched.catch_up() == 0


async def test_lost_events_count_as_a_pending_file(watched: WatchedStage, tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    files = [(watched.stage.workspace / "memory" / f".{number}").open("wb", buffering=0) for number in range(2)]
    for _ in range(limit):
        for file in files:
            file.write(b".")
    for file in files:
        file.close()
    watched.stage.write("memory/lost.md", "The quetzal.\n")
    assert not watched.is_watched
    assert await watched.catch_up(0) == 1
    assert await watched.found("quetzal") == (["memory/lost.md"], 0)
    await eventually_async(lambda: watched.is_watched)


async def test_large_note_being_chunked_stays_pending(watched: WatchedStage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, may_go_on = watched.stage, threading.Event()

    class SlowSpool(Spool):
        def __init__(self, entries: Iterator[object], folder: Path) -> None:
            assert may_go_on.wait(60)
            super().__init__(entries, folder)  # type: ignore[arg-type]

    for place in ("reading", "indexer"):
        monkeypatch.setattr(f"memoryd.index.{place}.LARGE_BYTES", 100_000)
    monkeypatch.setattr("memoryd.index.reading.Spool", SlowSpool)
    stage.write("memory/large.md", "- a crown is paid on each day.\n" * 10_000 + "\nThe quetzal.\n")
    try:
        assert await watched.found("quetzal") == ([], 1)
        for number in range(3):
            stage.write("memory/small.md", f"The ibex number{number}.\n")
            assert await watched.found(f"quetzal number{number}") == (["memory/small.md"], 1)
            assert stage.indexer.state.pending_files == 1
        # saved again: it is counted once, and not forever
        stage.write("memory/large.md", "- a crown is paid on each day.\n" * 10_001 + "\nThe quetzal.\n")
        stage.write("memory/small.md", "The stork.\n")
        assert await watched.found("stork") == (["memory/small.md"], 1)
    finally:
        may_go_on.set()
    await stage.sync(seconds=60)
    assert await watched.found("quetzal") == (["memory/large.md"], 0)


@pytest.mark.parametrize("link", ["memory/linked.md", "memory/linked", "MEMORY.md"])
async def test_unwatched_targets_of_links_are_scanned(tmp_path: Path, workspace: Path, link: str) -> None:
    elsewhere = workspace / "projects" / "deep"
    for name in ("one", "two"):
        (elsewhere / name).mkdir(parents=True)
        (elsewhere / name / "note.md").write_text(f"The quetzal of {name}.\n")
    chain, at = workspace / "projects" / "chain", workspace / link
    at.unlink(missing_ok=True)
    at.symlink_to(chain if at.suffix == "" else chain / "note.md")
    cited = link if at.suffix else f"{link}/note.md"
    # at first the link is broken
    async with watched_stage(tmp_path, workspace, follow_symlinks=True) as watched:
        assert await watched.found("quetzal") == ([], 0)
        chain.symlink_to(elsewhere / "one")
        assert await watched.found("quetzal one") == ([cited], 0)
        (elsewhere / "one" / "note.md").write_text("The ibex, which is longer.\n")
        assert await watched.found("ibex") == ([cited], 0)
        chain.unlink()
        chain.symlink_to(elsewhere / "two")
        assert await watched.found("quetzal two") == ([cited], 0)


@pytest.mark.parametrize("is_folder", [False, True])
async def test_note_written_behind_a_link_is_indexed(tmp_path: Path, workspace: Path, is_folder: bool) -> None:
    link = workspace / "memory" / ("linked" if is_folder else "linked.md")
    note = workspace / ".beyond" / "note.md"
    path = RelativePath("memory/linked/note.md" if is_folder else "memory/linked.md")
    note.parent.mkdir()
    note.write_text("The quetzal.\n")
    link.symlink_to(note.parent if is_folder else note)
    async with watched_stage(tmp_path, workspace, follow_symlinks=True) as watched:
        note.write_text("The ibex, which is longer.\n")
        assert await watched.stage.indexer.wait_until_indexed({path}, 20, is_watched=watched.is_watched)
        assert await watched.stage.found("ibex") == [path]


async def test_without_links_followed_links_cause_no_scan(tmp_path: Path, workspace: Path) -> None:
    async with watched_stage(tmp_path, workspace, follow_symlinks=True) as watched:
        scanned = watched.stage.indexer.state.last_scan_at
        assert await watched.catch_up() == 0
        assert watched.stage.indexer.state.last_scan_at == scanned
