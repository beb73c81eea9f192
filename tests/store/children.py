"""Programs that the tests run as children and kill; this module imports quickly."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from memoryd.store.connection import Connector
from memoryd.store.index.database import Database
from memoryd.store.ledger.database import LEDGER, copy_version
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.migrations import History, migrate
from tests.store.rows import note, put_note
from tests.warm.programs import started

ROOT = Path(__file__).parents[2]
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
"""Migrations of imagined later versions: a new table, a new column with changed rows, a rebuilt table."""
NEWEST = LEDGER.version + len(FUTURE)


def child(module: str, call: str, *arguments: object) -> "subprocess.Popen[bytes]":
    """Run a function of a test module in a child."""
    code = f"import sys, tests.store.{module} as it; it.{call}(*sys.argv[1:])"
    return started([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE)


def kill_at_system_call(number: int) -> None:
    """Kill this process at its n-th system call from now on. Runs in the child."""
    left = number

    def count(event: str, _: object) -> None:
        nonlocal left
        if event.split(".")[0] in ("open", "os", "tempfile", "fcntl", "ctypes"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def history(version: int) -> History:
    return History("the ledger", LEDGER.application, (*LEDGER.migrations, *FUTURE)[:version])


def bring_up(path: Path, to: History) -> int:
    """Migrate the ledger on a connection of its own."""
    db = Connector(path, is_history=True).writer()
    try:
        return migrate(db, to, lambda version: copy_version(db, path, version))
    finally:
        db.close()


def hold_and_die(path: str) -> None:
    """Create a ledger, store an answer and exit without closing it. Runs in the child."""

    async def hold() -> None:
        with ThreadPoolExecutor(1) as pool:
            await Ledger(Path(path), pool, is_private=False).store_answer("main", "s", 1, SECRET)
            os.write(1, b"held")
            os._exit(0)

    asyncio.run(hold())


def migrate_and_die(path: str, at: int) -> None:
    """Migrate, and kill this process before statement number `at`, counted from 1. Runs in the child."""
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
    """Write and replace notes with an occasional checkpoint, and exit without closing. Runs in the child."""

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
