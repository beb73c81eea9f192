"""Many files are replaced almost at once: after a kill all are old, or the next run has all new."""

import json
import os
import sys
from itertools import count
from pathlib import Path

import pytest

from memoryd.errors import StoreUnavailable
from memoryd.moving.replacing import FOLDER, PLAN, Replacement, complete_interrupted
from tests.sweeps import whole_or

KILLED = 9


def laid_out(root: Path) -> dict[Path, bytes]:
    (root / "state").mkdir(parents=True)
    (root / "a.sqlite").write_bytes(b"old a")
    (root / "a.sqlite-wal").write_bytes(b"old log")
    return wanted(root, "old")


def wanted(root: Path, which: str) -> dict[Path, bytes]:
    if which == "old":
        return {root / "a.sqlite": b"old a", root / "a.sqlite-wal": b"old log"}
    return {root / "a.sqlite": b"new a", root / "notes" / "b.json": b"new b"}


def current_files(root: Path) -> dict[Path, bytes]:
    return {one: one.read_bytes() for one in root.rglob("*") if one.is_file() and "state" not in one.parts}


def prepared(root: Path) -> Replacement:
    replacement = Replacement.begin(root / "state", "restore of x")
    for target, data in wanted(root, "new").items():
        with replacement.put(target) as file:
            file.write(data)
    replacement.remove(root / "a.sqlite-wal")
    return replacement


def killed_at(root: Path, step: int) -> bool:
    """Replace in a child that is killed at one of its disk operations; return whether it was."""
    pid = os.fork()
    if pid == 0:
        seen = 0

        def count_step(event: str, _arguments: object) -> None:
            nonlocal seen
            if event in ("open", "os.rename", "os.remove", "os.mkdir", "shutil.rmtree"):
                seen += 1
                if seen == step:
                    os._exit(KILLED)

        try:
            sys.addaudithook(count_step)
            prepared(root).carry_out()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == KILLED


@pytest.mark.sweep
def test_kill_at_any_step_leaves_all_old_or_all_new(tmp_path: Path) -> None:
    outcomes = set[str]()
    for step in count(1, whole_or(4, 1)):
        root = tmp_path / str(step)
        old = laid_out(root)
        was_killed = killed_at(root, step)
        finished = complete_interrupted(root / "state")
        now = current_files(root)
        assert now in (old, wanted(root, "new")), f"killed at step {step}"
        outcomes.add(f"{'finished' if finished else 'as it was'} {now == old}")
        assert complete_interrupted(root / "state") == []
        if not was_killed:
            break
    assert now == wanted(root, "new")
    assert {"as it was True", "finished False"} <= outcomes


def test_replaced_files_are_kept(tmp_path: Path) -> None:
    old = laid_out(tmp_path)
    prepared(tmp_path).carry_out()
    assert current_files(tmp_path) == wanted(tmp_path, "new")
    (folder,) = (tmp_path / "state" / FOLDER).iterdir()
    plan = json.loads((folder / PLAN).read_text())
    assert plan["state"] == "done"
    kept = {Path(one["target"]): (folder / one["old"]).read_bytes() for one in plan["pieces"] if one["old"]}
    assert kept == old
    assert not (folder / "new").exists()


def test_impossible_target_is_found_before_any_change(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "a.md").write_bytes(b"a note")
    replacement = Replacement.begin(tmp_path / "state", "restore of x")
    for target in (tmp_path / "first", tmp_path / "a.md" / "b.md"):
        with replacement.put(target) as file:
            file.write(b"new")
    for step in (replacement.require_places, replacement.carry_out):
        with pytest.raises(StoreUnavailable, match=r"nothing can be written into .*a\.md") as caught:
            step()
        assert "nothing was changed" in caught.value.hint
    assert current_files(tmp_path) == {tmp_path / "a.md": b"a note"}
    assert complete_interrupted(tmp_path / "state") == []


def test_missing_room_is_found_before_any_change(tmp_path: Path) -> None:
    old = laid_out(tmp_path)
    replacement = prepared(tmp_path)
    with replacement.put(tmp_path / "notes" / "c.md") as file:
        file.truncate(1 << 43)
    for step in (replacement.require_places, replacement.carry_out):
        with pytest.raises(StoreUnavailable, match="bytes free, and 8,796,") as caught:
            step()
        assert "nothing was changed" in caught.value.hint
    assert current_files(tmp_path) == old
    assert not (tmp_path / "notes").exists()
    assert complete_interrupted(tmp_path / "state") == []


def test_target_that_is_file_and_folder_is_refused(tmp_path: Path) -> None:
    replacement = Replacement.begin(tmp_path / "state", "restore of x")
    for target in (tmp_path / "a.md", tmp_path / "a.md" / "b.md"):
        with replacement.put(target) as file:
            file.write(b"new")
    with pytest.raises(StoreUnavailable, match="both a file and a folder"):
        replacement.require_places()


def test_blocked_replacement_is_finished_later(tmp_path: Path) -> None:
    laid_out(tmp_path)
    replacement = prepared(tmp_path)
    pid = os.fork()
    if pid == 0:
        # killed after the plan is written, before the first file is replaced
        sys.addaudithook(lambda event, _: os._exit(KILLED) if event == "os.remove" else None)
        replacement.carry_out()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == KILLED
    (tmp_path / "notes").rmdir()
    (tmp_path / "notes").write_bytes(b"a file where the folder is to be")
    with pytest.raises(StoreUnavailable, match="the disk refuses") as caught:
        complete_interrupted(tmp_path / "state")
    assert "the next start finishes it" in caught.value.hint
    (tmp_path / "notes").unlink()
    assert complete_interrupted(tmp_path / "state") == ["restore of x"]
    assert current_files(tmp_path) == wanted(tmp_path, "new")
    assert complete_interrupted(tmp_path / "state") == []
