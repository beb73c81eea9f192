"""Notes restored from an archive, copy or backup: other text with earlier inodes, sizes and times."""

import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memoryd.domain.syncplan import RACY_WINDOW_NS
from tests.fault.stage import SCAN_ONLY, Stage
from tests.sweeps import swept
from tests.waiting import eventually

COUNT = 30
LONG_AGO = 1_700_000_000
Restore = Callable[[Stage, Path], None]


def fill(folder: Path, word: str) -> None:
    """Write notes of the same size and time, each with a unique word."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        note = folder / f"{word[0]}{number:02d}.md"
        note.write_text(f"# Restored\n\nThe word is {word}{number:02d}.\n")
        os.utime(note, (LONG_AGO, LONG_AGO))


def has_trusted_times(folder: Path) -> bool:
    """Tell whether the notes of a folder are old enough for their times to be trusted."""
    newest = max(note.stat().st_ctime_ns for note in folder.glob("*.md"))
    return time.time_ns() - newest > RACY_WINDOW_NS


def clear(stage: Stage) -> None:
    for note in stage.memory.glob("[a-z][0-9][0-9].md"):
        note.unlink()


def unpack(stage: Stage, source: Path) -> None:
    """Delete the notes and unpack an archive of others, which restores the times of the files."""
    archive = stage.home / "notes.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(source, ".")
    clear(stage)
    with tarfile.open(archive) as tar:
        tar.extractall(stage.memory, filter="fully_trusted")


def copy(stage: Stage, source: Path) -> None:
    """Delete the notes and copy others like `cp -p`."""
    clear(stage)
    for note in source.iterdir():
        shutil.copy2(note, stage.memory)


def rewrite(stage: Stage, source: Path) -> None:
    """Rename each file, then overwrite it like `rsync --inplace -t`, with the old time."""
    for old, new in zip(sorted(stage.memory.glob("[a-z][0-9][0-9].md")), sorted(source.iterdir()), strict=True):
        moved = old.rename(stage.memory / new.name)
        with moved.open("r+") as file:
            file.write(new.read_text())
        shutil.copystat(new, moved)


def replaced(stage: Stage, source: Path) -> None:
    """Replace the folder by another one with the same times."""
    shutil.copytree(source, stage.home / "incoming")
    stage.memory.rename(stage.home / "outgoing")
    (stage.home / "incoming").rename(stage.memory)


def assert_new_text_is_found(stage: Stage) -> None:
    for number in range(0, COUNT, 6):
        assert stage.places(f"newer{number:02d}") == [f"memory/n{number:02d}.md"]
        assert not stage.finds(f"olden{number:02d}")


@swept("restore", [unpack, copy, rewrite, replaced], 2, ids=lambda way: way.__name__)
@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
def test_restored_notes_are_found_by_their_new_text(stage: Stage, restore: Restore, is_running: bool) -> None:
    fill(stage.memory, "olden")
    fill(stage.home / "source", "newer")
    eventually(lambda: has_trusted_times(stage.memory))
    stage.start(SCAN_ONLY)
    assert stage.places("olden07") == ["memory/o07.md"]
    if not is_running:
        stage.daemon.stop()
    restore(stage, stage.home / "source")
    if not is_running:
        stage.daemon.start()
    stage.sync()
    assert_new_text_is_found(stage)
    stage.daemon.stop()
    stage.daemon.start()
    stage.sync()
    assert_new_text_is_found(stage)
    stage.converges()


def test_new_file_with_the_same_path_size_and_time_is_read(stage: Stage) -> None:
    note = stage.write("memory/same.md", "the word is quince")
    os.utime(note, (LONG_AGO, LONG_AGO))
    eventually(lambda: has_trusted_times(stage.memory))
    stage.start(SCAN_ONLY)
    before = note.stat()
    stage.daemon.stop()
    note.unlink()
    note.write_text("the word is lemons")
    os.utime(note, (LONG_AGO, LONG_AGO))
    assert (note.stat().st_size, note.stat().st_mtime) == (before.st_size, before.st_mtime)
    stage.daemon.start()
    stage.sync()
    assert stage.places("lemons") == ["memory/same.md"]
    assert not stage.finds("quince")
    stage.converges()
