"""Reading at one moment: nothing that is committed in between is seen, and damage is told as damage."""

from pathlib import Path

import apsw
import pytest

from memoryd.store.connection import at_one_moment


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "any.sqlite"
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute("CREATE TABLE one (text); CREATE TABLE other (text UNIQUE); INSERT INTO one VALUES ('a')")
    db.close()
    return path


def test_what_is_committed_meanwhile_is_not_seen(path: Path) -> None:
    reader, writer = apsw.Connection(str(path)), apsw.Connection(str(path))
    with at_one_moment(reader):
        before = reader.execute("SELECT count(*) FROM one").get
        writer.execute("INSERT INTO one VALUES ('b')")
        assert reader.execute("SELECT count(*) FROM one").get == before == 1
    assert reader.execute("SELECT count(*) FROM one").get == 2
    assert not reader.in_transaction


def test_error_that_ends_the_transaction_comes_out_as_it_is(path: Path) -> None:
    reader = apsw.Connection(str(path))
    with pytest.raises(apsw.FullError, match="no room"):
        _fail_within(reader)
    assert not reader.in_transaction


def _fail_within(db: apsw.Connection) -> None:
    with at_one_moment(db):
        db.execute("SELECT count(*) FROM one").fetchall()
        # SQLite ends the transaction by itself when it meets damage
        db.execute("ROLLBACK")
        raise apsw.FullError("no room")


def test_transaction_that_was_there_goes_on(path: Path) -> None:
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN IMMEDIATE")
    with at_one_moment(writer):
        writer.execute("INSERT INTO one VALUES ('b')")
    assert writer.in_transaction
    writer.execute("COMMIT")
    assert writer.execute("SELECT count(*) FROM one").get == 2
