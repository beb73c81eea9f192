"""A restore that is taken back: what was forgotten since stays forgotten, wherever its marks have to go."""

from contextlib import closing
from pathlib import Path

import apsw

from memoryd.moving.replacing import Replacement
from memoryd.moving.restore import taken_back
from memoryd.store.ledger.file import empty_ledger, figures

STONE, OLDER = b"\1" * 16, b"\2" * 16


def ledger(path: Path, *stones: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(empty_ledger())
    path.chmod(0o600)
    forget(path, *stones)
    return path


def forget(path: Path, *stones: bytes) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.executemany("INSERT INTO tombstones VALUES ('/w', ?, 1.0, 0)", [(one,) for one in stones])


def stones(path: Path) -> dict[bytes, bool]:
    with closing(apsw.Connection(str(path))) as db:
        return {row[0]: bool(row[1]) for row in db.execute("SELECT hash, is_pending FROM tombstones")}


def restored(state: Path, target: Path, *, key: bytes = b"") -> None:
    """Put an empty ledger in the place of what is there, as a restore does."""
    replacement = Replacement.begun(state, "restore of x")
    with replacement.put(target) as file:
        file.write(empty_ledger())
    replacement.remove(target.with_name(target.name + "-wal"))
    if key:
        with replacement.put(target.with_name(target.name + ".forgotten-key")) as file:
            file.write(key)
    replacement.carry_out()


def test_marks_go_into_the_ledger_that_stood_there(tmp_path: Path) -> None:
    path = ledger(tmp_path / "w" / "ledger.sqlite", OLDER)
    restored(tmp_path / "state", path)
    forget(path, STONE)
    back = taken_back(tmp_path / "state")
    assert (back.carried, back.notes) == (1, [])
    back.replacement.carry_out()
    assert stones(path) == {OLDER: False, STONE: True}
    # and the other way round
    again = taken_back(tmp_path / "state")
    assert again.carried == 1
    again.replacement.carry_out()
    assert stones(path) == {OLDER: True, STONE: False}


def test_what_only_the_log_of_the_one_before_knew_stands_in_it_again(tmp_path: Path) -> None:
    path = ledger(tmp_path / "w" / "ledger.sqlite")
    copies = tmp_path / "killed"
    copies.mkdir()
    with closing(apsw.Connection(str(path))) as db:
        db.pragma("journal_mode", "wal")
        db.execute("INSERT INTO tombstones VALUES ('/w', ?, 1.0, 0)", (OLDER,))
        killed = {part: part.read_bytes() for part in path.parent.iterdir() if not part.name.endswith("-shm")}
    for part, data in killed.items():
        part.write_bytes(data)
    restored(tmp_path / "state", path)
    forget(path, STONE)
    taken_back(tmp_path / "state").replacement.carry_out()
    assert figures(path).rows == {"/w": 2}
    assert [one.name for one in path.parent.iterdir()] == ["ledger.sqlite"]


def test_where_no_ledger_was_one_of_marks_alone_stays_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "w" / "ledger.sqlite"
    restored(tmp_path / "state", path, key=b"k" * 32)
    forget(path, STONE)
    taken_back(tmp_path / "state").replacement.carry_out()
    assert stones(path) == {STONE: True}
    assert path.with_name("ledger.sqlite.forgotten-key").read_bytes() == b"k" * 32
    other = tmp_path / "v" / "ledger.sqlite"
    restored(tmp_path / "state", other)
    taken_back(tmp_path / "state").replacement.carry_out()
    assert not other.exists()


def test_mirror_of_what_is_forgotten_only_grows(tmp_path: Path) -> None:
    mirror = tmp_path / "w" / ".memory" / "forgotten"
    mirror.parent.mkdir(parents=True)
    mirror.write_text(f"{OLDER.hex()}\n")
    replacement = Replacement.begun(tmp_path / "state", "restore of x")
    with replacement.put(mirror) as file:
        file.write(b"")
    replacement.carry_out()
    mirror.write_text(f"{STONE.hex()}\n")
    taken_back(tmp_path / "state").replacement.carry_out()
    assert mirror.read_text().split() == [STONE.hex(), OLDER.hex()]
