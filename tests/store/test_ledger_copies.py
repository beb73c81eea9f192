"""Ledgers that are copied during writes, inspected, and moved to another workspace."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memoryd.errors import DamagedDatabase, ForeignDatabase
from memoryd.store.ledger.database import LEDGER
from memoryd.store.ledger.file import carry_marks, copy_ledger, figures, rename_workspace
from memoryd.store.ledger.ledger import count_history, history_reply
from memoryd.store.migrations import History, new_database
from memoryd.store.opening import FileHeader, read_header

STONE, USAGE = b"\1" * 16, "INSERT INTO usage VALUES (?, 'm', 1, NULL, 'core', 1.0, 0.5, 0, NULL, 1, 0)"


def made(path: Path, *workspaces: str) -> Path:
    path.write_bytes(new_database(LEDGER, page_bytes=8192))
    path.chmod(0o600)
    with closing(apsw.Connection(str(path))) as db:
        for one in workspaces:
            db.execute(USAGE, (one,))
            db.execute("INSERT INTO tombstones VALUES (?, ?, 1.0, 0)", (one, STONE))
    return path


def test_f068_copy_during_writes_is_a_snapshot(tmp_path: Path) -> None:
    """A copy has all commits, including those in the log, and nothing of an open transaction."""
    path, copy = made(tmp_path / "ledger.sqlite", "/a"), tmp_path / "copy.sqlite"
    with closing(apsw.Connection(str(path))) as db:
        db.pragma("journal_mode", "wal")
        db.execute(USAGE, ("/in the log",))
        db.execute("BEGIN IMMEDIATE")
        db.execute(USAGE, ("/not yet",))
        copy_ledger(path, copy)
        db.execute("COMMIT")
    assert figures(copy) == {"/a": 2, "/in the log": 1}
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in tmp_path.glob("copy*")) == ["copy.sqlite"]


def test_workspace_is_renamed_in_every_table(tmp_path: Path) -> None:
    path = made(tmp_path / "ledger.sqlite", "/a", "/other")
    assert rename_workspace(path, "/a", "/b") == 2
    assert figures(path) == {"/b": 2, "/other": 2}
    assert rename_workspace(path, "/a", "/b") == 0
    with pytest.raises(ForeignDatabase, match="rows of both"):
        rename_workspace(path, "/b", "/other")
    assert figures(path) == {"/b": 2, "/other": 2}


def test_tombstones_are_carried_over_as_pending(tmp_path: Path) -> None:
    known, restored = made(tmp_path / "known.sqlite", "/a"), made(tmp_path / "restored.sqlite")
    assert carry_marks(known, restored, has_same_key=False) == 0
    assert carry_marks(known, restored, has_same_key=True) == 1
    with closing(apsw.Connection(str(restored))) as db:
        assert list(db.execute("SELECT workspace, hash, is_pending FROM tombstones")) == [("/a", STONE, 1)]
    assert carry_marks(known, restored, has_same_key=True) == 0


def test_tombstones_are_carried_into_older_ledger(tmp_path: Path) -> None:
    known, restored = made(tmp_path / "known.sqlite", "/a"), tmp_path / "restored.sqlite"
    old = History(LEDGER.name, LEDGER.application, LEDGER.migrations[:3])
    restored.write_bytes(new_database(old, page_bytes=8192))
    restored.chmod(0o600)
    assert read_header(restored) == FileHeader(LEDGER.application, 3, 0)
    assert figures(restored) == {}
    assert carry_marks(known, restored, has_same_key=True) == 1
    assert read_header(restored) == FileHeader(LEDGER.application, LEDGER.version, 0)
    assert figures(restored) == {"/a": 1}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["known.sqlite", "restored.sqlite"]


def test_newer_ledger_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = made(tmp_path / "ledger.sqlite", "/a")
    with closing(apsw.Connection(str(path))) as db:
        db.pragma("user_version", LEDGER.version + 1)
    before = path.read_bytes()
    with pytest.raises(ForeignDatabase, match="of a newer memoryd"):
        copy_ledger(path, tmp_path / "copy.sqlite")
    with pytest.raises(ForeignDatabase, match="of a newer memoryd"):
        figures(path)
    with pytest.raises(ForeignDatabase, match="of a newer memoryd"):
        rename_workspace(path, "/a", "/b")
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_history_is_counted_per_workspace(tmp_path: Path) -> None:
    path = made(tmp_path / "ledger.sqlite")
    with closing(apsw.Connection(str(path))) as db:
        assert count_history(db, "/a") == history_reply()
        for workspace in ("/a", "/a", "/b"):
            db.execute(
                "INSERT INTO changes "
                "(workspace, run, agent, writer, why, path, at, state, hash_before, hash_after, hunks, undoes) "
                "VALUES (?, 'r', '', 'import', '', 'p', 1.0, 'done', x'', x'', 'für', 0)",
                (workspace,),
            )
        db.execute(
            "INSERT INTO reflect_runs (id, workspace, started_at, since, outcome) VALUES ('1', '/a', 1, 1, '{}')"
        )
        assert count_history(db, "/a") == history_reply(changes=2, change_bytes=8, runs=1)


def test_damaged_ledger_is_detected(tmp_path: Path) -> None:
    path = made(tmp_path / "ledger.sqlite", "/a")
    data = bytearray(path.read_bytes())
    data[8192 * 3 : 8192 * 9] = bytes(8192 * 6)
    path.write_bytes(data)
    with pytest.raises(DamagedDatabase):
        figures(path)
