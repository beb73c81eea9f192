"""Drafts left by a kill are removed; drafts being written and files of others stay."""

import os
import threading
from pathlib import Path

import pytest

from memoryd.files.reading import file_stat
from memoryd.files.writing import open_draft, remove_drafts, replace_file


def left_behind(folder: Path, data: bytes = b"half") -> Path:
    with open_draft(folder / "a.json") as (draft, _):
        name = draft.name
    path = folder / name
    path.write_bytes(data)
    return path


def test_only_abandoned_draft_is_removed(tmp_path: Path) -> None:
    left = left_behind(tmp_path)
    with open_draft(tmp_path / "b.json") as (draft, file):
        file.write(b"still")
        assert remove_drafts(tmp_path) == 1
        assert draft.exists()
    assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_files_with_other_names_or_types_stay(tmp_path: Path) -> None:
    ours = left_behind(tmp_path)
    ours.unlink()
    for name in (".abcdefgh", ".memoryd-abcdefgh.draftx", ".memoryd-ABCDEFGH.draft", "x.memoryd-abcdefgh.draft"):
        (tmp_path / name).write_bytes(b"theirs")
    os.mkfifo(tmp_path / ".memoryd-abcdefgh.draft")
    (tmp_path / ".memoryd-bcdefghi.draft").symlink_to(tmp_path / ".abcdefgh")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert remove_drafts(tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert remove_drafts(tmp_path / "nowhere") == 0


@pytest.mark.parametrize("expected", ["absent", None])
def test_concurrent_sweep_does_not_disturb_a_writer(tmp_path: Path, expected: str | None) -> None:
    is_over = threading.Event()

    def sweep() -> None:
        while not is_over.is_set():
            remove_drafts(tmp_path)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for number in range(300):
            replace_file(tmp_path / f"{number}.json", b"whole", expected="absent" if expected else None)
    finally:
        is_over.set()
        sweeper.join()
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"whole"}
    assert len(list(tmp_path.iterdir())) == 300


def test_descriptor_of_replaced_file_stays_readable(tmp_path: Path) -> None:
    path, replaced = tmp_path / "a.json", list[int]()
    path.write_bytes(b"old")
    was = file_stat(path.lstat())
    replace_file(path, b"new", expected=was, replaced=replaced)
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]
    assert path.read_bytes() == b"new"
    (old,) = replaced
    try:
        assert os.pread(old, 10, 0) == b"old"
        assert os.fstat(old).st_nlink == 0
    finally:
        os.close(old)
