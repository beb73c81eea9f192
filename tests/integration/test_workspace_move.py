"""Moving a workspace to another folder: refusals, replaced state, and recovery from a kill."""

import os
import shutil
import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memoryd.config.loading.masking import folder_references
from memoryd.config.paths import workspace_state_dir
from memoryd.errors import ForeignDatabase, InvalidRequest, NotFound, StoreUnavailable
from memoryd.moving.workspace_move import carry_out, known_workspaces, move_plan
from memoryd.store.ledger.database import LEDGER
from memoryd.store.ledger.file import figures
from memoryd.store.migrations import new_database


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def write_ledger(workspace: Path, *, version: int = LEDGER.version) -> Path:
    """Write a ledger of a workspace at its usual path, and an index beside it."""
    folder = workspace_state_dir(workspace)
    folder.mkdir(parents=True)
    (folder / "index.sqlite").write_bytes(b"")
    path = folder / "ledger.sqlite"
    path.write_bytes(new_database(LEDGER, page_bytes=8192))
    path.chmod(0o600)
    with closing(apsw.Connection(str(path))) as db:
        db.execute("INSERT INTO tombstones VALUES (?, ?, 1.0, 0)", (str(workspace), b"\1" * 16))
        db.pragma("user_version", version)
    return path


def test_folder_and_its_state_move(root: Path) -> None:
    old, new = root / "old", root / "far" / "new"
    (old / "memory").mkdir(parents=True)
    write_ledger(old)
    # an empty folder that was made for it is no obstacle
    new.mkdir(parents=True)
    assert carry_out(move_plan(old, new, [])) is False
    assert (new / "memory").is_dir()
    assert not old.exists()
    assert figures(workspace_state_dir(new) / "ledger.sqlite") == {str(new): 1}
    assert not workspace_state_dir(old).exists()


def test_move_after_a_kill_is_finished_by_the_same_command(root: Path) -> None:
    old, new = root / "old", root / "new"
    new.mkdir()
    write_ledger(old)
    # killed after the renames, before the rows
    workspace_state_dir(old).rename(workspace_state_dir(new))
    plan = move_plan(old, new, [])
    assert (plan.rows, plan.moves_folder, plan.makes_way) == (1, False, False)
    carry_out(plan)
    assert figures(workspace_state_dir(new) / "ledger.sqlite") == {str(new): 1}
    assert move_plan(old, new, []).rows == 0


def test_target_with_a_history_is_refused_but_an_index_replaced(root: Path) -> None:
    old, new, own = root / "old", root / "new", write_ledger(root / "third")
    new.mkdir()
    write_ledger(old)
    state = workspace_state_dir(new)
    state.mkdir()
    (state / "index.sqlite").write_bytes(b"of the new place")
    (state / "index-work.sqlite").write_bytes(b"of an agent apart")
    history = own.rename(state / "ledger.sqlite")
    with pytest.raises(InvalidRequest, match="a history of its own") as caught:
        move_plan(old, new, [])
    assert f"mv {state} {state}-aside" in caught.value.hint
    history.unlink()
    plan = move_plan(old, new, [])
    assert plan.makes_way
    carry_out(plan)
    assert figures(state / "ledger.sqlite") == {str(new): 1}
    assert (state / "index.sqlite").read_bytes() == b""


def test_impossible_moves_are_refused(root: Path) -> None:
    old, new = root / "old", root / "new"
    with pytest.raises(NotFound, match="neither"):
        move_plan(old, new, [])
    old.mkdir()
    with pytest.raises(InvalidRequest, match="lies in the other"):
        move_plan(old, old / "inner", [])
    (new / "memory").mkdir(parents=True)
    with pytest.raises(InvalidRequest, match="both"):
        move_plan(old, new, [])
    shutil.rmtree(new)
    new.symlink_to(old)
    with pytest.raises(InvalidRequest, match="one folder"):
        move_plan(old, new, [])


def test_finished_copy_is_continued_and_reversed(root: Path) -> None:
    old, new = root / "old", root / "new"
    (old / "memory").mkdir(parents=True)
    (old / "memory" / "a.md").write_text("said")
    write_ledger(old)
    # killed between the copy to another disk and the state
    shutil.copytree(old, new)
    (new / "memory" / "b.md").write_text("written since")
    with pytest.raises(InvalidRequest, match="not the same") as caught:
        move_plan(old, new, [])
    assert "put the old one away" in caught.value.hint
    (new / "memory" / "b.md").unlink()
    assert carry_out(move_plan(old, new, [])) is True
    assert figures(workspace_state_dir(new) / "ledger.sqlite") == {str(new): 1}
    assert carry_out(move_plan(new, old, [])) is True
    assert figures(workspace_state_dir(old) / "ledger.sqlite") == {str(old): 1}


def other_disk(root: Path) -> Path:
    """Return a folder on another disk than `root`."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == root.stat().st_dev or not os.access(shared, os.W_OK):
        pytest.skip("there is no second disk to write to")
    return Path(tempfile.mkdtemp(prefix="memoryd-test-", dir=shared))


def test_move_to_another_disk_is_atomic(root: Path) -> None:
    old, far = root / "old", other_disk(root)
    try:
        (old / "memory").mkdir(parents=True)
        (old / "memory" / "a.md").write_text("said")
        (old / "link").symlink_to("memory")
        write_ledger(old)
        os.mkfifo(old / "pipe")
        with pytest.raises(StoreUnavailable, match=r"pipe cannot be copied: .*named pipe"):
            carry_out(move_plan(old, far / "new", []))
        assert list(far.iterdir()) == []
        assert workspace_state_dir(old).is_dir()
        (old / "pipe").unlink()
        (far / "new").mkdir()
        assert carry_out(move_plan(old, far / "new", [])) is True
        assert (far / "new" / "memory" / "a.md").read_text() == "said"
        assert (far / "new" / "link").readlink() == Path("memory")
        assert [one.name for one in far.iterdir()] == ["new"]
        assert figures(workspace_state_dir(far / "new") / "ledger.sqlite") == {str(far / "new"): 1}
    finally:
        shutil.rmtree(far)


def test_link_at_the_old_path_does_not_hide_its_state(root: Path) -> None:
    old, new = root / "old", root / "far" / "new"
    old.mkdir()
    write_ledger(old)
    new.parent.mkdir()
    old.rename(new)
    old.symlink_to(new)
    (row,) = known_workspaces([], root / "state")
    assert (row.path, row.leads_to, row.bytes > 0) == (old, new, True)
    plan = move_plan(old, new, [])
    assert (plan.rows, plan.moves_folder) == (1, False)
    assert carry_out(plan) is False
    assert figures(workspace_state_dir(new) / "ledger.sqlite") == {str(new): 1}
    assert old.is_symlink()
    # the way back
    old.unlink()
    carry_out(move_plan(new, old, []))
    assert figures(workspace_state_dir(old) / "ledger.sqlite") == {str(old): 1}


def test_folders_with_different_links_or_pipes_are_no_copies(root: Path) -> None:
    old, new = root / "old", root / "new"
    for folder, target in ((old, "one"), (new, "other")):
        folder.mkdir()
        (folder / "link.md").symlink_to(target)
    write_ledger(old)
    with pytest.raises(InvalidRequest, match="not the same"):
        move_plan(old, new, [])
    (new / "link.md").unlink()
    os.mkfifo(new / "link.md")
    (old / "link.md").unlink()
    (old / "link.md").touch()
    with pytest.raises(InvalidRequest, match="not the same"):
        move_plan(old, new, [])


def test_home_folder_is_not_moved(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root / "me"))
    monkeypatch.setenv("MEMORYD_CONFIG", str(root / "config.json5"))
    (root / "me").mkdir()
    write_ledger(root / "me")
    with pytest.raises(InvalidRequest, match="your home folder"):
        move_plan(root / "me", root / "new", [])


def test_non_workspace_or_folder_with_state_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger, all_of_it = root / "stranger", root / "home"
    stranger.mkdir()
    with pytest.raises(InvalidRequest, match="is no workspace"):
        move_plan(stranger, root / "new", [])
    (all_of_it / "state").mkdir(parents=True)
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(all_of_it / "state"))
    write_ledger(all_of_it)
    with pytest.raises(InvalidRequest, match="the state folder lies in it"):
        move_plan(all_of_it, root / "new", [])
    assert sorted(one.name for one in all_of_it.iterdir()) == ["state"]


def test_newer_ledger_is_refused_before_anything_moves(root: Path) -> None:
    old, new = root / "old", root / "new"
    old.mkdir()
    before = write_ledger(old, version=LEDGER.version + 1).read_bytes()
    with pytest.raises(ForeignDatabase, match="newer memoryd"):
        move_plan(old, new, [])
    assert old.is_dir()
    assert (workspace_state_dir(old) / "ledger.sqlite").read_bytes() == before


def test_configuration_lines_naming_the_folder_are_found(root: Path) -> None:
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    text = (
        "{ // my notes: ~/notes\n  agents: {\n    defaults: { workspace: '~/notes' },\n"
        f'    list: [{{ id: "a", workspace: "{home}/notes/a" }}, {{ id: "b", workspace: "~/notes2" }}],\n  }},\n}}'
    )
    found = folder_references(text, root / "config.json5", home / "notes", home / "brain")
    assert [(one.key, one.line, one.instead) for one in found] == [
        ("agents.defaults.workspace", 3, "~/brain"),
        ("agents.list[0].workspace", 4, f"{home}/brain/a"),
    ]
