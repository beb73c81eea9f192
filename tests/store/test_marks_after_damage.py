"""A damaged ledger: marks of withheld conversations are carried over or unknown, never taken for absent."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memoryd.domain.documents import transcript_path, turns_path
from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.sessions.withheld import WithheldConversations
from memoryd.store.ledger.conversations import WithheldKind, read_marks
from memoryd.store.ledger.database import LEDGER, aside
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.migrations import History, new_database
from memoryd.store.opening import log_of, seal_of, with_seal
from tests.store.test_withheld import loaded

KEY = "agent:main:main"
PATH = transcript_path("main", "one.jsonl")
PAGE = 8192
Make = Callable[..., Ledger]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_text('{"type":"session","id":"0d9f31c4-one"}\n')
    return path


async def fill(ledger: Ledger, transcript: Path) -> None:
    """Forget a transcript, mark a key, leave a forgetting unfinished, and store several pages of answers."""
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    await marks.withhold_key(KEY)
    await marks.begin_forgetting(turns_path("s1"))
    await (await loaded(ledger, "other")).withhold_key("agent:other:main")
    for seq in range(1, 60):
        await ledger.store_answer("main", "s", seq, f"answer {seq} " * 200)
    await ledger.close()


async def require_marks(ledger: Ledger, transcript: Path) -> None:
    marks = await loaded(ledger)
    assert marks.has_key(KEY)
    found = marks.withheld_transcript(PATH)
    assert found is not None
    assert found.is_forgotten
    assert marks.forgotten_transcript_in(transcript) is not None
    assert [one.name for one in marks.unfinished()] == ["session:s1"]
    other = await loaded(ledger, "other")
    assert other.has_key("agent:other:main")
    assert not other.has_key(KEY)


def root_of(path: Path, table: str) -> int:
    """Return the first page of a table or an index, from 1."""
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    return int(root)


def flip(path: Path, page: int, at: int = 0, count: int = PAGE) -> None:
    data = bytearray(path.read_bytes())
    begin = (page - 1) * PAGE + at
    data[begin : begin + count] = bytes(byte ^ 0xFF for byte in data[begin : begin + count])
    path.write_bytes(data)


def flip_held_answers(path: Path) -> None:
    flip(path, root_of(path, "held_answers"))


def flip_an_index_of_them(path: Path) -> None:
    flip(path, root_of(path, "held_answers_by_age"))


def cut_off_answers(path: Path) -> None:
    os.truncate(path, path.stat().st_size - PAGE)


def drop_held_answers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE held_answers")
        db.commit()


def flip_withheld(path: Path) -> None:
    flip(path, root_of(path, "withheld"))


def flip_one_letter_of_a_name(path: Path) -> None:
    data, page = path.read_bytes(), root_of(path, "withheld")
    flip(path, page, data.index(b"one.jsonl", (page - 1) * PAGE) - (page - 1) * PAGE, 1)


def flip_the_key(path: Path) -> None:
    flip(path, root_of(path, "hash_key"))


def flip_the_header(path: Path) -> None:
    flip(path, 1, 0, 16)


def flip_the_tables(path: Path) -> None:
    flip(path, 1, 100, PAGE - 100)


def cut_off_all_but_a_page(path: Path) -> None:
    os.truncate(path, PAGE)


def cut_off_everything(path: Path) -> None:
    os.truncate(path, 0)


def drop_withheld(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE withheld")
        db.commit()


READABLE = [flip_held_answers, flip_an_index_of_them, cut_off_answers, drop_held_answers]
LOST = [
    flip_withheld,
    flip_one_letter_of_a_name,
    flip_the_key,
    flip_the_header,
    flip_the_tables,
    cut_off_all_but_a_page,
    cut_off_everything,
    drop_withheld,
]


@pytest.mark.parametrize("harm", READABLE)
async def test_marks_survive_damage_elsewhere(
    tmp_path: Path, make: Make, transcript: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    harm(path)
    before = path.read_bytes()
    first = make()
    await require_marks(first, transcript)
    (kept,) = aside(path)
    assert kept.read_bytes() == before
    assert str(kept) in (first.trouble or "")
    # later marks work too, because they are hashed with the same key
    await (await loaded(first)).withhold_key("cli:a")
    assert await (await loaded(first)).release_transcript(PATH)
    await first.close()
    again = await loaded(make())
    assert again.has_key("cli:a")
    assert again.has_key(KEY)
    assert again.withheld_transcript(PATH) is None, "a removed mark does not return from the damaged ledger"


@pytest.mark.parametrize("harm", LOST)
async def test_unreadable_marks_are_unknown_until_owner_acts(
    tmp_path: Path, make: Make, transcript: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    harm(path)
    for _ in range(2):
        ledger = make()
        marks = WithheldConversations("main", ledger)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="until you delete it or move it away"):
                await marks.load()
        with pytest.raises(StoreUnavailable):
            marks.withholds_path(PATH)
        with pytest.raises(StoreUnavailable):
            await marks.withhold_key(KEY)
        # answers are still stored
        assert await ledger.store_answer("main", "s", 1, "x")
        (kept,) = aside(path)
        assert str(kept) in (ledger.trouble or "")
        assert "delete it or move it away" in (ledger.trouble or "")
        await ledger.close()
    ledger = make()
    marks = WithheldConversations("main", ledger)
    with pytest.raises(StoreUnavailable):
        await marks.load()
    kept.unlink()
    await marks.load()
    assert not marks.has_key(KEY)
    await marks.withhold_key(KEY)
    assert (await loaded(make())).has_key(KEY)


async def test_kill_after_setting_aside_loses_no_mark(tmp_path: Path, make: Make, transcript: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    flip_held_answers(path)
    # the two states a kill can leave: no new ledger, or an empty one
    path.rename(path.with_name("ledger.sqlite.damaged-20260101T000000Z"))
    await require_marks(make(), transcript)
    path.write_bytes(new_database(LEDGER, page_bytes=PAGE))
    await require_marks(make(), transcript)
    assert len(aside(path)) == 1
    assert path.exists()


async def test_marks_are_read_from_log_and_lost_log_is_noticed(tmp_path: Path, make: Make) -> None:
    path, elsewhere = tmp_path / "ledger.sqlite", tmp_path / "killed"
    elsewhere.mkdir()
    first = make()
    await (await loaded(first)).withhold_key(KEY)
    for one in (path, log_of(path)):
        (elsewhere / one.name).write_bytes(one.read_bytes())
    killed = elsewhere / path.name
    found = read_marks(killed)
    assert [one.kind for _, one in found.rows] == [WithheldKind.KEY]
    assert len(found.key) == 32
    # the state during a checkpoint
    log_of(killed).unlink()
    with closing(sqlite3.connect(killed)) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {with_seal(number, seal_of(number) | 1)}")
    with pytest.raises(DamagedDatabase, match="log was lost"):
        read_marks(killed)


async def test_marks_survive_two_damaged_ledgers(tmp_path: Path, make: Make, transcript: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    for _ in range(2):
        drop_held_answers(path)
        ledger = make()
        await require_marks(ledger, transcript)
        await ledger.close()
    assert len(aside(path)) == 2
    await require_marks(make(), transcript)


async def test_damaged_ledger_without_marks_table_has_no_marks(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "ledger.sqlite"
    first = make(history=History(LEDGER.name, LEDGER.application, LEDGER.migrations[:1]))
    await first.store_answer("main", "s", 1, "x")
    await first.close()
    drop_held_answers(path)
    marks = await loaded(make())
    assert not marks.has_key(KEY)
    assert len(aside(path)) == 1


async def test_damage_while_open_loses_no_mark(tmp_path: Path, make: Make, transcript: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    ledger = make()
    marks = await loaded(ledger)
    flip_held_answers(path)
    assert await ledger.pending_answer("main", "s", 1) is None
    await marks.withhold_key("cli:a")
    assert len(aside(path)) == 1
    assert (await loaded(ledger)).has_key("cli:a")
    await require_marks(ledger, transcript)


async def test_ledger_deleted_while_open_takes_new_marks(tmp_path: Path, make: Make, transcript: Path) -> None:
    first = make()
    marks = await loaded(first)
    await marks.withhold_key(KEY)
    (tmp_path / "ledger.sqlite").unlink()
    await marks.withhold_key("cli:a")
    assert (await loaded(make())).has_key("cli:a")


@pytest.mark.parametrize("has_ledger", [False, True])
async def test_read_only_ledger_reports_marks_as_unknown(
    tmp_path: Path, make: Make, transcript: Path, has_ledger: bool
) -> None:
    path = tmp_path / "ledger.sqlite"
    await fill(make(), transcript)
    path.rename(path.with_name("ledger.sqlite.damaged-20260101T000000Z"))
    if has_ledger:
        path.write_bytes(new_database(LEDGER, page_bytes=PAGE))
    before = sorted(one.name for one in tmp_path.iterdir())
    with pytest.raises(StoreUnavailable, match=r"memory\.readOnly"):
        await loaded(make(is_read_only=True))
    assert sorted(one.name for one in tmp_path.iterdir()) == before
