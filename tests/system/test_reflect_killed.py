"""kill -9 while reflect writes pages or a proposal is accepted: each file is as before or as intended."""

import contextlib
import threading
import time
from pathlib import Path

import pytest

from memoryd.errors import MemorydError
from tests.daemon import RunningDaemon
from tests.sweeps import swept
from tests.system.test_reflect import NOTES, SINCE, daemon_with, notes_in, proposal_of_kind

MANY = NOTES | {
    f"memory/2026-09-{day:02}.md": "## Retain\n"
    + "".join(f"- W @Thing-{day}-{number}: Thing {number} of day {day} is blue.\n" for number in range(6))
    for day in range(1, 21)
}
DELAYS = [number / 100 for number in range(2, 62, 4)]
"""Seconds until the daemon is killed: the first before anything is written, the last after everything is."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the notes after a run without a kill."""
    with daemon_with(tmp_path_factory.mktemp("finished"), MANY) as daemon:
        daemon.client().reflect(SINCE)
        return notes_in(daemon.workspace)


def kill_during(daemon: RunningDaemon, work: threading.Thread, delay: float) -> None:
    work.start()
    # no condition says when to kill, so the sweep tries many delays
    time.sleep(delay)
    daemon.kill()
    work.join()


def attempt(ask: object, *arguments: object) -> None:
    with contextlib.suppress(MemorydError):
        ask(*arguments)  # type: ignore[operator]  # a call of the client


@swept("delay", DELAYS, 1)
def test_next_run_completes_a_killed_one(tmp_path: Path, finished: dict[str, str], delay: float) -> None:
    daemon = daemon_with(tmp_path, MANY)
    with daemon:
        client = daemon.client()
        client.sync()
        kill_during(daemon, threading.Thread(target=attempt, args=(client.reflect, SINCE)), delay)
        left = notes_in(daemon.workspace)
        assert all(text in (MANY.get(path), finished[path]) for path, text in left.items())
        daemon.start()
        again = daemon.client()
        again.sync()
        again.reflect(SINCE)
        assert notes_in(daemon.workspace) == finished
        steps = again.reflect(SINCE)
        assert (steps["pages"], steps["steps"], steps["proposals"]) == ([], 0, [])
        assert "0.65, 2026-10-03" in notes_in(daemon.workspace)["bank/opinions.md"], "evidence is counted once"


@swept("delay", [number / 1000 for number in range(1, 40, 3)], 1)
def test_accepted_proposal_is_written_once(tmp_path: Path, delay: float) -> None:
    daemon = daemon_with(tmp_path)
    with daemon:
        client, core = daemon.client(), daemon.workspace / "MEMORY.md"
        client.reflect(SINCE)
        proposal = proposal_of_kind(daemon, "core-in")["id"]
        before = core.read_text()
        after = f"{before}- Peter is allergic to nuts.\n"
        kill_during(daemon, threading.Thread(target=attempt, args=(client.accept_proposal, proposal)), delay)
        assert core.read_text() in (before, after)
        daemon.start()
        again = daemon.client()
        again.sync()
        attempt(again.accept_proposal, proposal)
        assert core.read_text() == after
        assert again.proposal(proposal)["state"] == "accepted"
