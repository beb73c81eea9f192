"""The real watcher: saves are noticed, wherever and however they are made."""

import asyncio
import contextlib
import ctypes
import os
import re
import shutil
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memoryd.index.file_events import EventSource, InotifyEvents, WatchfilesEvents
from memoryd.index.watcher import FileWatcher
from tests.integration.indexing import Stage, staged
from tests.waiting import eventually_async

MAKE = 60


@pytest.fixture(params=[InotifyEvents, WatchfilesEvents])
def source(request: pytest.FixtureRequest) -> EventSource:
    made: EventSource = request.param(step_seconds=0.01)
    return made


@pytest.fixture
async def stage(tmp_path: Path, workspace: Path, source: EventSource) -> AsyncIterator[Stage]:
    watcher = FileWatcher(probe=tmp_path / "probe", source=source, retry_seconds=0.1, cookie_seconds=1)
    async with staged(workspace, tmp_path / "state", watcher=watcher) as running:
        await running.sync()
        await eventually_async(lambda: watcher.is_ok)
        await running.sync()
        yield running


def has_files(stage: Stage, *names: str) -> bool:
    return stage.files >= set(names)


async def test_saved_note_is_indexed(stage: Stage) -> None:
    stage.write("memory/new.md", "The quetzal.\n")
    await eventually_async(lambda: has_files(stage, "memory/new.md"))
    stage.write("MEMORY.md", "The ibex.\n")
    generation = stage.indexer.state.generation
    await eventually_async(lambda: stage.indexer.state.generation > generation)


async def test_notes_in_new_folders_are_indexed(stage: Stage) -> None:
    names = [f"memory/{number}/a/b/note.md" for number in range(MAKE)]
    for name in names:
        stage.write(name, f"The quetzal of {name}.\n")
    await eventually_async(lambda: has_files(stage, *names))


async def test_folder_moved_in_and_out_is_noticed(stage: Stage, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "note.md").write_text("The quetzal.\n")
    shutil.move(outside, stage.workspace / "memory" / "inside")
    await eventually_async(lambda: has_files(stage, "memory/inside/deep/note.md"))
    shutil.move(stage.workspace / "memory" / "inside", outside)
    await eventually_async(lambda: not has_files(stage, "memory/inside/deep/note.md"))


async def test_recreated_root_is_watched_again(stage: Stage) -> None:
    for turn in range(3):
        shutil.rmtree(stage.workspace / "memory")
        stage.write(f"memory/turn-{turn}.md", "The quetzal.\n")
        await eventually_async(lambda turn=turn: has_files(stage, f"memory/turn-{turn}.md"))  # type: ignore[misc]
        stage.write(f"memory/after-{turn}.md", "The ibex.\n")
        await eventually_async(lambda turn=turn: has_files(stage, f"memory/after-{turn}.md"))  # type: ignore[misc]


async def test_name_with_invalid_utf8_does_not_end_the_watch(stage: Stage) -> None:
    folder = os.fsencode(stage.workspace / "memory")
    for number in range(3):
        os.close(os.open(folder + b"/caf\xe9%d.md" % number, os.O_CREAT | os.O_WRONLY))
        stage.write(f"memory/after-{number}.md", "The quetzal.\n")
        await eventually_async(lambda number=number: has_files(stage, f"memory/after-{number}.md"))  # type: ignore[misc]
    assert any("not UTF-8" in reason for reason in stage.skipped.values())


async def test_lost_watches_are_noticed_and_restored(workspace: Path, tmp_path: Path, source: EventSource) -> None:
    watcher = FileWatcher(probe=tmp_path / "probe", source=source, retry_seconds=0.1, cookie_seconds=0.5)
    async with staged(workspace, tmp_path / "state", watcher=watcher) as running:
        probing = asyncio.create_task(watcher.run_probe(every_seconds=0.1))
        await running.sync()
        for turn in range(2):
            await eventually_async(lambda: watcher.is_ok)
            await running.sync()
            assert _deafen()
            running.write(f"memory/unheard-{turn}.md", "The quetzal.\n")
            await eventually_async(lambda turn=turn: has_files(running, f"memory/unheard-{turn}.md"))  # type: ignore[misc]
            await eventually_async(lambda: watcher.is_ok and _watches())
            running.write(f"memory/heard-{turn}.md", "The ibex.\n")
            await eventually_async(lambda turn=turn: has_files(running, f"memory/heard-{turn}.md"))  # type: ignore[misc]
        probing.cancel()
        await asyncio.wait([probing])


def _watches() -> list[tuple[int, int]]:
    """Return the inotify watches of this process, each with its instance."""
    found = []
    for info in Path("/proc/self/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += [(int(info.name), int(wd, 16)) for wd in re.findall(r"inotify wd:([0-9a-f]+)", info.read_text())]
    return found


def _deafen() -> int:
    """Remove every watch as the kernel does when a disk goes; return how many."""
    libc = ctypes.CDLL(None)
    watches = _watches()
    for descriptor, watch in watches:
        libc.inotify_rm_watch(descriptor, watch)
    return len(watches)


async def test_watcher_can_be_cancelled_while_it_waits_to_retry(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    info = folder.stat()
    watcher = FileWatcher(probe=tmp_path / "probe", source=WatchfilesEvents(step_seconds=0.01))
    watcher.watch("test", {str(folder): (info.st_dev, info.st_ino)}, lambda _events: None)
    watching = asyncio.create_task(watcher.run())
    await eventually_async(lambda: watcher.is_ok)
    os.close(os.open(os.fsencode(folder) + b"/caf\xe9.md", os.O_CREAT | os.O_WRONLY))
    await eventually_async(lambda: not watcher.is_ok)
    assert "caf" in str(watcher.reason)
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching


async def test_atomic_saves_by_another_thread_are_indexed(stage: Stage) -> None:
    def save() -> None:
        for number in range(50):
            draft = stage.workspace / "memory" / ".draft.md.tmp"
            draft.write_text(f"# Saved\n\nRevision revision{number}.\n")
            draft.rename(stage.workspace / "memory" / "saved.md")

    thread = threading.Thread(target=save)
    thread.start()
    thread.join()
    await eventually_async(lambda: has_files(stage, "memory/saved.md"))
    digest = stage.indexer.state.generation
    await eventually_async(lambda: not stage.indexer.state.is_dirty or stage.indexer.state.generation > digest)
    await stage.sync()
    assert await stage.found("revision49") == ["memory/saved.md"]


async def test_first_note_of_an_empty_workspace_is_indexed(tmp_path: Path, source: EventSource) -> None:
    watcher = FileWatcher(probe=tmp_path / "probe", source=source)
    async with staged(tmp_path / "empty", tmp_path / "state", watcher=watcher) as stage:
        await stage.sync()
        await eventually_async(lambda: watcher.is_ok)
        await stage.sync()
        stage.write("MEMORY.md", "The quetzal.\n")
        await eventually_async(lambda: has_files(stage, "MEMORY.md"))
        stage.write("bank/deep/er.md", "The ibex.\n")
        await eventually_async(lambda: has_files(stage, "bank/deep/er.md"))
