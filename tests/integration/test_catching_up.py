"""What a question waits for, with the real watcher and indexer in this process."""

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
"""Nothing is looked at by itself."""


class Asking:
    """A stage whose questions wait as those of the daemon do."""

    def __init__(self, stage: Stage, watcher: FileWatcher) -> None:
        self.stage = stage
        self.watcher = watcher

    @property
    def is_watched(self) -> bool:
        return self.watcher.report_events("stage")

    async def catch_up(self, seconds: float = 20) -> int:
        return await self.stage.indexer.catch_up(seconds, is_watched=self.is_watched)

    async def found(self, text: str) -> tuple[list[str], int]:
        """Return where a word is found, and how many files are pending."""
        pending = await self.catch_up()
        return await self.stage.found(text), pending


@asynccontextmanager
async def asked(tmp_path: Path, workspace: Path, *, follow_symlinks: bool = False) -> AsyncIterator[Asking]:
    watcher = FileWatcher(probe=tmp_path / "probe", source=InotifyEvents(step_seconds=60))
    async with staged(
        workspace, tmp_path / "state", settings=PATIENT, watcher=watcher, follow_symlinks=follow_symlinks
    ) as stage:
        await stage.sync()
        found = Asking(stage, watcher)
        await eventually_async(lambda: found.is_watched)
        await found.catch_up()
        yield found


@pytest.fixture
async def asking(tmp_path: Path, workspace: Path) -> AsyncIterator[Asking]:
    async with asked(tmp_path, workspace) as found:
        yield found


async def test_named_files_alone_are_looked_at(asking: Asking) -> None:
    stage = asking.stage
    before = stage.indexer.state.last_scan_at
    for number in range(3):
        stage.write("memory/new.md", f"The quetzal{number}.\n")
        assert await asking.found(f"quetzal{number}") == (["memory/new.md"], 0)
    (stage.workspace / "memory" / "new.md").rename(stage.workspace / "memory" / "newer.md")
    assert await asking.found("quetzal2") == (["memory/newer.md"], 0)
    stage.write("MEMORY.md", "The ibex.\n")
    assert await asking.found("ibex") == (["MEMORY.md"], 0)
    assert stage.indexer.state.last_scan_at == before
    # what no look found is met by the next one at all files
    await stage.sync()
    assert stage.indexer.state.last_scan_at != before


async def test_rules_of_privacy_that_change_are_looked_at_with_all_files(asking: Asking) -> None:
    stage = asking.stage
    stage.write("memory/mine.md", "The quetzal.\n")
    assert await asking.found("quetzal") == (["memory/mine.md"], 0)
    before = stage.indexer.state.last_scan_at
    stage.write(".memoryignore", "mine.md\n")
    await asking.catch_up()
    assert stage.indexer.state.last_scan_at != before
    stage.write("memory/mine.md", "The quetzal and the ibex.\n")
    # half written rules hold nobody's notes out, and let nothing new in
    assert (await asking.found("ibex"))[0] == []


async def test_remains_of_what_is_private_go_though_questions_never_cease(asking: Asking, tmp_path: Path) -> None:
    stage = asking.stage
    stage.write("memory/mine.md", "The quetzal sleeps.\n")
    assert await asking.found("quetzal") == (["memory/mine.md"], 0)

    def holds_it() -> bool:
        return any(b"quetzal" in path.read_bytes().lower() for path in (tmp_path / "state").glob("index.sqlite*"))

    async def ask_and_edit() -> None:
        for number in itertools.count():
            stage.write("memory/other.md", f"The ibex {number}.\n")
            assert (await asking.found("quetzal"))[0] == []

    assert holds_it()
    stage.write("memory/mine.md", "---\nmemory: false\n---\nThe quetzal sleeps.\n")
    async with asyncio.TaskGroup() as group:
        askers = [group.create_task(ask_and_edit()) for _ in range(4)]
        await eventually_async(lambda: not holds_it())
        for asker in askers:
            asker.cancel()


async def test_demand_is_served_only_when_no_remains_are_left(asking: Asking, tmp_path: Path) -> None:
    stage = asking.stage
    stage.write("memory/mine.md", "The quetzal sleeps.\n")
    assert await asking.found("quetzal") == (["memory/mine.md"], 0)
    stage.write("memory/mine.md", "---\nmemory: false\n---\nThe quetzal sleeps.\n")
    demanded = asyncio.create_task(stage.sync())
    while not demanded.done():
        stage.write("memory/other.md", "The ibex.\n")
        await asking.catch_up()
    await demanded
    files = (tmp_path / "state").glob("index.sqlite*")
    assert not any(b"quetzal" in path.read_bytes().lower() for path in files)


async def test_nothing_that_changed_is_no_look_and_no_wait(asking: Asking) -> None:
    generation, scanned = asking.stage.indexer.state.generation, asking.stage.indexer.state.last_scan_at
    for _ in range(10):
        assert await asking.catch_up(0.000_1) == 0
    assert asking.stage.indexer.state.generation == generation
    assert asking.stage.indexer.state.last_scan_at == scanned


async def test_what_can_be_no_document_counts_for_nothing(asking: Asking) -> None:
    stage = asking.stage
    for name in ("memory/.draft.md.swp", "memory/note.md~", "memory/#note.md#", "memory/data.json", "README.md"):
        stage.write(name, "The quetzal.\n")
    stage.write(".git/HEAD", "ref\n")
    assert asking.is_watched
    assert await asking.catch_up(0) == 0
    stage.write("memory/note.md", "The quetzal.\n")
    assert asking.is_watched
    assert await asking.catch_up(0) == 1


async def test_questions_that_come_together_share_one_look(asking: Asking) -> None:
    stage, looks = asking.stage, 0
    planner = stage.indexer._snapshots.planner
    look = planner.take_snapshot

    def counted(*given: object) -> object:
        nonlocal looks
        looks += 1
        return look(*given)  # type: ignore[arg-type]

    planner.take_snapshot = counted  # type: ignore[method-assign,assignment]
    stage.write("memory/new.md", "The quetzal.\n")
    assert await asyncio.gather(*(asking.catch_up() for _ in range(20))) == [0] * 20
    assert looks == 1


async def test_file_that_somebody_writes_to_waits_until_it_is_closed(asking: Asking) -> None:
    path = asking.stage.write("memory/open.md", "The quetzal.\n")
    assert await asking.found("quetzal") == (["memory/open.md"], 0)
    with path.open("a") as file:
        file.write("The ibex, and")
        file.flush()
        assert await asking.found("ibex") == ([], 1)
        assert await asking.found("quetzal") == (["memory/open.md"], 1)
        file.write(" the stork.\n")
    assert await asking.found("stork") == (["memory/open.md"], 0)


async def test_emptied_file_is_pending_and_its_old_text_stays(asking: Asking) -> None:
    path = asking.stage.write("memory/open.md", "The quetzal.\n")
    await asking.catch_up()
    os.truncate(path, 0)
    assert await asking.found("quetzal") == (["memory/open.md"], 1)
    path.write_text("The ibex.\n")
    assert await asking.found("ibex") == (["memory/open.md"], 0)


async def test_look_that_comes_too_late_leaves_what_was_told_pending(asking: Asking) -> None:
    for number in range(3):
        asking.stage.write(f"memory/new-{number}.md", "The quetzal.\n")
    assert await asking.catch_up(0) == 3
    assert await asking.catch_up() == 0


async def test_lost_events_are_at_least_one_pending_file(asking: Asking, tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    files = [(asking.stage.workspace / "memory" / f".{number}").open("wb", buffering=0) for number in range(2)]
    for _ in range(limit):
        for file in files:
            file.write(b".")
    for file in files:
        file.close()
    asking.stage.write("memory/lost.md", "The quetzal.\n")
    assert not asking.is_watched
    assert await asking.catch_up(0) == 1
    assert await asking.found("quetzal") == (["memory/lost.md"], 0)
    await eventually_async(lambda: asking.is_watched)


async def test_large_note_that_is_being_cut_stays_pending_when_small_ones_are_saved(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, may_go_on = asking.stage, threading.Event()

    class SlowSpool(Spool):
        def __init__(self, entries: Iterator[object], folder: Path) -> None:
            assert may_go_on.wait(60)
            super().__init__(entries, folder)  # type: ignore[arg-type]

    for place in ("reading", "indexer"):
        monkeypatch.setattr(f"memoryd.index.{place}.LARGE_BYTES", 100_000)
    monkeypatch.setattr("memoryd.index.reading.Spool", SlowSpool)
    stage.write("memory/large.md", "- a crown is paid on each day.\n" * 10_000 + "\nThe quetzal.\n")
    try:
        assert await asking.found("quetzal") == ([], 1)
        for number in range(3):
            stage.write("memory/small.md", f"The ibex number{number}.\n")
            assert await asking.found(f"quetzal number{number}") == (["memory/small.md"], 1)
            assert stage.indexer.state.pending_files == 1
        # touched again, and gone: neither is counted twice, nor for ever
        stage.write("memory/large.md", "- a crown is paid on each day.\n" * 10_001 + "\nThe quetzal.\n")
        stage.write("memory/small.md", "The stork.\n")
        assert await asking.found("stork") == (["memory/small.md"], 1)
    finally:
        may_go_on.set()
    await stage.sync(seconds=60)
    assert await asking.found("quetzal") == (["memory/large.md"], 0)


@pytest.mark.parametrize("link", ["memory/linked.md", "memory/linked", "MEMORY.md"])
async def test_what_links_lead_to_is_looked_at_since_nobody_watches_it(
    tmp_path: Path, workspace: Path, link: str
) -> None:
    elsewhere = workspace / "projects" / "deep"
    for name in ("one", "two"):
        (elsewhere / name).mkdir(parents=True)
        (elsewhere / name / "note.md").write_text(f"The quetzal of {name}.\n")
    chain, at = workspace / "projects" / "chain", workspace / link
    at.unlink(missing_ok=True)
    at.symlink_to(chain if at.suffix == "" else chain / "note.md")
    cited = link if at.suffix else f"{link}/note.md"
    # it leads nowhere at first
    async with asked(tmp_path, workspace, follow_symlinks=True) as asking:
        assert await asking.found("quetzal") == ([], 0)
        chain.symlink_to(elsewhere / "one")
        assert await asking.found("quetzal one") == ([cited], 0)
        (elsewhere / "one" / "note.md").write_text("The ibex, which is longer.\n")
        assert await asking.found("ibex") == ([cited], 0)
        chain.unlink()
        chain.symlink_to(elsewhere / "two")
        assert await asking.found("quetzal two") == ([cited], 0)


async def test_note_that_was_written_behind_a_link_is_held(tmp_path: Path, workspace: Path) -> None:
    path, elsewhere = RelativePath("memory/linked/note.md"), workspace / "projects" / "deep"
    elsewhere.mkdir(parents=True)
    (elsewhere / "note.md").write_text("The quetzal.\n")
    (workspace / "memory" / "linked").symlink_to(elsewhere)
    async with asked(tmp_path, workspace, follow_symlinks=True) as asking:
        (elsewhere / "note.md").write_text("The ibex, which is longer.\n")
        assert await asking.stage.indexer.wait_until_indexed({path}, 20, is_watched=asking.is_watched)
        assert await asking.stage.found("ibex") == [path]


async def test_without_links_nothing_is_looked_at_where_they_would_be_followed(tmp_path: Path, workspace: Path) -> None:
    async with asked(tmp_path, workspace, follow_symlinks=True) as asking:
        scanned = asking.stage.indexer.state.last_scan_at
        assert await asking.catch_up() == 0
        assert asking.stage.indexer.state.last_scan_at == scanned
