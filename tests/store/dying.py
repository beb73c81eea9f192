"""What the children of the sweeps do until they are killed, in a module that is read in no time."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from memoryd.store.connection import Connector
from memoryd.store.index.database import Database
from memoryd.store.ledger.database import LEDGER, copy_version
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.migrations import History, migrate
from tests.store.rows import note, put_note

SECRET = "the honey stands behind the third door"
FILES = 7
ROUNDS = 40
TOPICS = ("rent", "boiler", "attic", "garden")
FUTURE = (
    "CREATE TABLE accesses (id INTEGER PRIMARY KEY, at REAL NOT NULL) STRICT;"
    " INSERT INTO accesses (at) SELECT held_at FROM held_answers;",
    "ALTER TABLE held_answers ADD COLUMN topic TEXT NOT NULL DEFAULT 'none';"
    " UPDATE held_answers SET topic = 'honey' WHERE seq = 2; DROP INDEX held_answers_by_expiry;",
    "CREATE TABLE renamed (id INTEGER PRIMARY KEY, answer TEXT NOT NULL, topic TEXT NOT NULL) STRICT;"
    " INSERT INTO renamed SELECT id, answer, topic FROM held_answers; DROP TABLE held_answers;"
    " ALTER TABLE renamed RENAME TO answers; CREATE INDEX answers_by_topic ON answers (topic);",
)
"""What later versions may do: a table, a column with data moved about, a table that is made anew."""
NEWEST = LEDGER.version + len(FUTURE)


def history(version: int) -> History:
    return History("the ledger", LEDGER.application, (*LEDGER.migrations, *FUTURE)[:version])


def bring_up(path: Path, to: History) -> int:
    """Migrate as the ledger does, in a connection of its own."""
    db = Connector(path, is_history=True).writer()
    try:
        return migrate(db, to, lambda version: copy_version(db, path, version))
    finally:
        db.close()


def hold_and_die(path: str) -> None:
    """Begin a ledger and hold an answer in it, without ever closing it. Runs in the child."""

    async def hold() -> None:
        with ThreadPoolExecutor(1) as pool:
            await Ledger(Path(path), pool, is_private=False).store_answer("main", "s", 1, SECRET)
            os.write(1, b"held")
            os._exit(0)

    asyncio.run(hold())


def migrate_and_die(path: str, at: int) -> None:
    """Migrate, and kill this process before its statement number `at`, counted from 1. Runs in the child."""
    count = 0

    def on_statement(_cursor: object, _sql: str, _values: object) -> bool:
        nonlocal count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", on_statement))
    bring_up(Path(path), history(NEWEST))
    os.write(1, str(count).encode())


def path_of(number: int) -> str:
    return f"memory/{number % FILES}.md"


def text_of(number: int) -> str:
    return f"# Round {number}\n\n" + note(*TOPICS[: 1 + number % 4])


def work(path: str) -> None:
    """Put and replace notes, with a checkpoint now and then. Runs in the child, which ends without closing."""

    async def rounds() -> None:
        with ThreadPoolExecutor(1) as pool:
            database = Database(path=Path(path), executor=pool)
            await database.open()
            for number in range(ROUNDS):
                await put_note(database, path_of(number), text_of(number))
                os.write(1, f"{number}\n".encode())
                if number % 9 == 8:
                    await database.checkpoint()
            os._exit(0)

    asyncio.run(rounds())
