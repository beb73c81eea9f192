"""An index file prepared by somebody else: nothing in it runs, and nothing bypasses the rules of its tables."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memoryd.errors import DamagedDatabase
from memoryd.store.connection import Connector
from memoryd.store.index.database import Database

PLANTED = [
    "CREATE TRIGGER planted AFTER INSERT ON files BEGIN DELETE FROM chunks; END",
    "CREATE VIEW planted AS SELECT load_extension('/tmp/planted.so')",
    "CREATE TABLE planted (a DEFAULT (load_extension('/tmp/planted.so')))",
]


@pytest.mark.parametrize("statement", PLANTED)
async def test_f154_index_with_planted_statement_is_refused(
    tmp_path: Path, executor: ThreadPoolExecutor, statement: str
) -> None:
    """An index with a foreign trigger, view or table counts as damaged."""
    path = tmp_path / "index.sqlite"
    first = Database(path=path, executor=executor)
    await first.open()
    await first.close()
    with closing(apsw.Connection(str(path))) as db:
        db.execute(statement)
    with pytest.raises(DamagedDatabase, match="planted"):
        await Database(path=path, executor=executor).open()


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE x (y)' WHERE name = 'chunks'",
        "DELETE FROM chunk_words_data",
        "SELECT load_extension('/tmp/planted.so')",
    ],
)
async def test_f154_no_statement_bypasses_the_tables(database: Database, statement: str) -> None:
    """No statement writes the schema or the tables behind the word index, or loads code."""
    with closing(Connector(database.path).writer()) as db, pytest.raises(apsw.Error):
        db.execute(statement).fetchall()
    assert await database.read(lambda db: db.pragma("trusted_schema")) == 0
