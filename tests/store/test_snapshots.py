"""Snapshots: a reader does not see later commits, and errors are passed on unchanged."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memoryd.domain.ranking.questions import Question
from memoryd.store.connection import in_snapshot
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.words import CandidateFilter
from tests.store.rows import put_note
from tests.waiting import SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "any.sqlite"
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute("CREATE TABLE one (text); CREATE TABLE other (text UNIQUE); INSERT INTO one VALUES ('a')")
    db.close()
    return path


def test_later_commit_is_not_seen(path: Path) -> None:
    reader, writer = apsw.Connection(str(path)), apsw.Connection(str(path))
    with in_snapshot(reader):
        before = reader.execute("SELECT count(*) FROM one").get
        writer.execute("INSERT INTO one VALUES ('b')")
        assert reader.execute("SELECT count(*) FROM one").get == before == 1
    assert reader.execute("SELECT count(*) FROM one").get == 2
    assert not reader.in_transaction


def test_error_that_ends_transaction_is_passed_on(path: Path) -> None:
    reader = apsw.Connection(str(path))
    with pytest.raises(apsw.FullError, match="no room"):
        _fail_within(reader)
    assert not reader.in_transaction


def _fail_within(db: apsw.Connection) -> None:
    with in_snapshot(db):
        db.execute("SELECT count(*) FROM one").fetchall()
        # SQLite ends the transaction by itself when it meets damage
        db.execute("ROLLBACK")
        raise apsw.FullError("no room")


def test_outer_transaction_continues(path: Path) -> None:
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN IMMEDIATE")
    with in_snapshot(writer):
        writer.execute("INSERT INTO one VALUES ('b')")
    assert writer.in_transaction
    writer.execute("COMMIT")
    assert writer.execute("SELECT count(*) FROM one").get == 2


class TestCache:
    """What is cached between snapshots is never older than the snapshot that uses it."""

    async def test_snapshot_begun_before_a_commit_reads_after_it(self, database: Database) -> None:
        await put_note(database, "memory/a.md", "# One\n\nrent\n")
        assert await _found(database, "rent") == 1
        begins, goes_on = threading.Event(), threading.Event()

        def search_late(reader: IndexReader) -> int:
            begins.set()
            assert goes_on.wait(SECONDS)
            return _best(reader, "zebra")

        reading = asyncio.ensure_future(database.read_snapshot(search_late))
        await asyncio.to_thread(begins.wait, SECONDS)
        for number in range(4):
            await put_note(database, f"memory/{number}.md", f"# More\n\nzebra {number}\n")
        goes_on.set()
        assert await reading == 4

    async def test_snapshot_after_reopening_knows_nothing_of_old_file(
        self, database: Database, executor: ThreadPoolExecutor
    ) -> None:
        assert await _found(database, "zebra") == 0
        async with database.reopening():
            reading = asyncio.ensure_future(_found(database, "zebra"))
            await asyncio.sleep(0)
            other = Database(path=database.path, executor=executor)
            await other.open()
            await put_note(other, "memory/a.md", "# One\n\nzebra\n")
            await other.close()
            await database.open()
        assert await reading == 1


def _best(reader: IndexReader, word: str) -> int:
    return len(reader.best_matches(Question(word, terms=(word,)), 9, CandidateFilter()).bm25)


async def _found(database: Database, word: str) -> int:
    return await database.read_snapshot(lambda reader: _best(reader, word))
