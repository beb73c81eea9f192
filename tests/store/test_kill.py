"""After kill -9 during writes, commits are whole and the index equals a rebuild."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw

from memoryd.store.index.documents import known_files
from memoryd.store.index.schema import prepare_index
from tests.store.consistency import check_consistency, dump, open_index
from tests.store.rows import SETTINGS, note, put, put_note
from tests.sweeps import swept
from tests.warm.programs import started

ROUNDS = 6
TOPICS = ("rent", "boiler", "attic", "garden")


def text_of(number: int) -> str:
    """Return a log with one retained line per topic."""
    topics = (TOPICS[number % 4 :] + TOPICS[: number % 4])[: 1 + number % 3]
    return note(*topics) + "## Retain\n\n" + "".join(f"- W @{topic}: paid in week {number % 5}\n" for topic in topics)


def _path(number: int) -> str:
    return f"memory/2026-01-0{1 + number % 9}.md"


def write_for_ever(path: Path) -> None:
    """Put and replace notes until killed, and report each commit. Runs in the child."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from memoryd.store.index.database import Database

    async def loop() -> None:
        with ThreadPoolExecutor(2) as pool:
            database = Database(path=path, executor=pool)
            await database.open()
            for number in range(1_000_000):
                await put_note(database, _path(number), text_of(number))
                os.write(1, f"{number}\n".encode())

    asyncio.run(loop())


@swept("seed", range(ROUNDS), 2)
def test_killed_writer_leaves_committed_state(tmp_path: Path, seed: int) -> None:
    path, chance = tmp_path / "index.sqlite", random.Random(seed)
    code = "import pathlib, sys, tests.store.test_kill as it; it.write_for_ever(pathlib.Path(sys.argv[1]))"
    root = Path(__file__).parents[2]
    with started([sys.executable, "-c", code, path], stdout=subprocess.PIPE, cwd=root) as child:
        assert child.stdout is not None
        committed = -1
        for _ in range(chance.randint(1, 40)):
            committed = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        committed = max([committed, *(int(line) for line in child.stdout.read().split())])
    db = open_index(path)
    check_consistency(db)
    assert_state_after(db, committed)
    db.close()


def assert_state_after(db: apsw.Connection, committed: int) -> None:
    """Fail unless every note is as its last commit left it; one commit after the last reported one may exist."""
    written = {_path(number): number for number in range(committed + 1)}
    assert known_files(db, SETTINGS.fingerprint).keys() >= written.keys()
    candidates = [written, {**written, _path(committed + 1): committed + 1}]
    rebuilt = []
    for files in candidates:
        fresh = apsw.Connection("")
        prepare_index(fresh)
        for name, number in files.items():
            put(fresh, name, text_of(number))
        rebuilt.append(dump(fresh))
    assert dump(db) in rebuilt
