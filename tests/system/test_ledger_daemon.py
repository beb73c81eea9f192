"""The ledger of a running daemon: reported in the status, cleaned at the start, and not needed for search."""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.replies.status import LedgerReply
from memoryd.store.ledger.ledger import Ledger
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

DAY = 86_400.0
SECRET = "the honey stands behind the third door"
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, workspace: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def run(search: dict[str, object] | None = None, **sections: object) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, search=search, **sections)
        return start(RunningDaemon(tmp_path, config, workspace))

    return run


def ledger(daemon: RunningDaemon) -> LedgerReply:
    return daemon.agent()["ledger"]


def ledger_problems(daemon: RunningDaemon) -> list[str]:
    return [part["reason"] for part in daemon.agent()["degraded"] if part["part"] == "ledger"]


def fill(path: Path, *, age_days: float, answers: int = 1, of: str = "main") -> None:
    """Store held answers of this age in a ledger that no daemon has open."""

    async def store() -> None:
        with ThreadPoolExecutor(4) as pool:
            made = Ledger(path, pool, clock=lambda: time.time() - age_days * DAY)
            for seq in range(1, answers + 1):
                assert await made.store_answer(of, "s", seq, SECRET)
            await made.close()

    asyncio.run(store())


def test_no_ledger_is_created_without_need(launch: Launch) -> None:
    found = ledger(daemon := launch())
    assert (found["bytes"], found["heldAnswers"], found["heldBytes"]) == (0, 0, 0)
    assert found["maxHeldAnswers"] > 0
    assert found["maxHeldBytes"] > 0
    path = Path(found["path"])
    assert path.parent == Path(daemon.agent()["database"]["path"]).parent
    assert not path.exists()


def test_held_answers_are_counted_and_old_ones_deleted_at_start(launch: Launch) -> None:
    first = launch()
    path = Path(ledger(first)["path"])
    first.stop()
    fill(path, age_days=8, answers=5)
    assert SECRET.encode() in path.read_bytes()
    second = launch()
    eventually(lambda: SECRET.encode() not in path.read_bytes())
    assert ledger(second)["heldAnswers"] == 0
    second.stop()
    fill(path, age_days=1, answers=3)
    third = launch()
    eventually(lambda: ledger(third)["heldAnswers"] == 3)
    assert ledger(third)["heldBytes"] == 3 * len(SECRET)
    assert ledger(third)["bytes"] >= path.stat().st_size
    assert ledger_problems(third) == []


def test_unusable_ledger_is_reported_and_search_still_works(launch: Launch) -> None:
    first = launch()
    path = Path(ledger(first)["path"])
    first.stop()
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()
    daemon = launch()
    eventually(lambda: ledger_problems(daemon))
    assert "another database" in ledger_problems(daemon)[0]
    assert daemon.client().search("gateway")["results"]
    assert path.read_bytes() == before


def test_damaged_ledger_is_set_aside_and_reported(launch: Launch) -> None:
    first = launch()
    path = Path(ledger(first)["path"])
    first.stop()
    fill(path, age_days=0)
    damaged = bytearray(path.read_bytes())
    damaged[200:] = bytes(len(damaged) - 200)
    path.write_bytes(damaged)
    daemon = launch()
    eventually(lambda: ledger_problems(daemon))
    (aside,) = path.parent.glob("ledger.sqlite.damaged-*")
    assert str(aside) in ledger_problems(daemon)[0]
    assert aside.read_bytes() == damaged
    assert daemon.client().search("gateway")["results"]


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def test_turn_is_stored_while_another_process_locks_the_ledger(launch: Launch) -> None:
    first = launch()
    path = Path(ledger(first)["path"])
    first.stop()
    fill(path, age_days=1)
    client = (daemon := launch()).client()
    command = [sys.executable, "-c", LOCK, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        turn = client.add_turn("And then?", "Nothing.", session="ports", significance=0)
        assert (turn["remembered"], turn["kept"]) == (True, False)
        assert "locked" in ledger_problems(daemon)[0]
        assert (ledger(daemon)["heldAnswers"], ledger(daemon)["refusedAnswers"]) == (1, 1)
        other.communicate()
    client.add_turn("And now?", "All is well.", session="ports", significance=0)
    assert (ledger(daemon)["heldAnswers"], ledger(daemon)["refusedAnswers"]) == (2, 1)
    assert ledger_problems(daemon) == []


def test_answers_of_a_removed_agent_are_deleted_at_start(launch: Launch) -> None:
    first = launch()
    path = Path(ledger(first)["path"])
    first.stop()
    fill(path, age_days=8, of="gone")
    assert SECRET.encode() in path.read_bytes()
    second = launch()
    eventually(lambda: SECRET.encode() not in path.read_bytes())
    assert ledger_problems(second) == []


def test_read_only_memory_does_not_change_a_ledger_in_the_workspace(launch: Launch, workspace: Path) -> None:
    inside = {"store": {"path": ".memory/index.sqlite"}}
    first = launch(inside)
    path = Path(ledger(first)["path"])
    assert path == workspace / ".memory" / "ledger.sqlite"
    first.stop()
    fill(path, age_days=8)
    before = {file: file.read_bytes() for file in path.parent.glob("ledger*")}
    daemon = launch(inside, memory={"readOnly": True})
    daemon.client().sync()
    assert ledger(daemon)["heldAnswers"] == 0
    assert ledger_problems(daemon) == []
    daemon.stop()
    assert {file: file.read_bytes() for file in path.parent.glob("ledger*")} == before
    writing = launch(inside)
    eventually(lambda: SECRET.encode() not in path.read_bytes())
    assert ledger(writing)["path"] == str(path)
