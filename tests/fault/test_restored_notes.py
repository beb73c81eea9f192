"""Notes from an archive, a copy or a backup: other text under inodes, sizes and times that were there before."""

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
    """Write notes of one size and one time, each with a word of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        note = folder / f"{word[0]}{number:02d}.md"
        note.write_text(f"# Restored\n\nThe word is {word}{number:02d}.\n")
        os.utime(note, (LONG_AGO, LONG_AGO))


def has_lain(folder: Path) -> bool:
    """Tell whether its notes were changed long enough ago for their times to be trusted."""
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
    """Copy other notes there as `cp -p` does, and delete the old ones."""
    clear(stage)
    for note in source.iterdir():
        shutil.copy2(note, stage.memory)


def rewrite(stage: Stage, source: Path) -> None:
    """Give each file another name, then other text in place, as `rsync --inplace -t` does, and its old time."""
    for old, new in zip(sorted(stage.memory.glob("[a-z][0-9][0-9].md")), sorted(source.iterdir()), strict=True):
        moved = old.rename(stage.memory / new.name)
        with moved.open("r+") as file:
            file.write(new.read_text())
        shutil.copystat(new, moved)


def replaced(stage: Stage, source: Path) -> None:
    """Put another folder, with the same times, into the place of the old one."""
    shutil.copytree(source, stage.home / "incoming")
    stage.memory.rename(stage.home / "outgoing")
    (stage.home / "incoming").rename(stage.memory)


def answers_are_of_the_new_text(stage: Stage) -> None:
    for number in range(0, COUNT, 6):
        assert stage.places(f"newer{number:02d}") == [f"memory/n{number:02d}.md"]
        assert not stage.finds(f"olden{number:02d}")


@swept("restore", [unpack, copy, rewrite, replaced], 2, ids=lambda way: way.__name__)
@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
def test_restored_notes_are_answered_from_their_own_text(stage: Stage, restore: Restore, is_running: bool) -> None:
    fill(stage.memory, "olden")
    fill(stage.home / "source", "newer")
    eventually(lambda: has_lain(stage.memory))
    stage.start(SCAN_ONLY)
    assert stage.places("olden07") == ["memory/o07.md"]
    if not is_running:
        stage.daemon.stop()
    restore(stage, stage.home / "source")
    if not is_running:
        stage.daemon.start()
    stage.sync()
    answers_are_of_the_new_text(stage)
    stage.daemon.stop()
    stage.daemon.start()
    stage.sync()
    answers_are_of_the_new_text(stage)
    stage.converges()


def test_same_path_under_the_same_inode_size_and_time_is_read(stage: Stage) -> None:
    note = stage.write("memory/same.md", "the word is quince")
    os.utime(note, (LONG_AGO, LONG_AGO))
    eventually(lambda: has_lain(stage.memory))
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
