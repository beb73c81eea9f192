"""Kill -9 of the daemon while it writes: each file is as it was or as it is to be, and what the ledger says is so."""

import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon
from tests.sweeps import swept
from tests.system.test_reflect import daemon_with, notes_in
from tests.system.test_reflect_killed import attempt, kill_during

SAID = "W @Peter: keeps the ladder behind the barn"
NOTES = {
    "MEMORY.md": "# Memory\n\n- Peter lives in Graz.\n",
    "memory/2026-10-01.md": "# Thursday\n\n## Retain\n- W @Peter: The gate code is 1234.\n- W @Pete: owns a boat\n",
    "bank/entities/peter.md": "---\naliases: [ P ] # his\n---\n# Peter\n\nA friend.\n",
}
ACTS: dict[str, Callable[[Client], object]] = {
    "retain": lambda client: client.retain(SAID),
    "core": lambda client: client.core_replace("Graz", "Wien"),
    "merge": lambda client: client.merge_entity("Pete", "Peter"),
}
DELAYS = [0.0, 0.002, 0.004, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1]
"""Seconds after which the daemon is killed."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return the notes after each act, which nobody killed."""
    found: dict[str, dict[str, str]] = {}
    for name, act in ACTS.items():
        with daemon_with(tmp_path_factory.mktemp(name), NOTES) as daemon:
            act(daemon.client())
            found[name] = notes_in(daemon.workspace)
    return found


def drafts(workspace: Path) -> list[Path]:
    return [path for path in workspace.rglob(".memoryd-*") if path.is_file()]


@swept(("delay", "what"), list(product(DELAYS, ACTS)), 2)
def test_what_was_written_is_listed_and_taken_back_after_a_kill(
    tmp_path: Path, finished: dict[str, dict[str, str]], what: str, delay: float
) -> None:
    daemon: RunningDaemon = daemon_with(tmp_path, NOTES)
    with daemon:
        client = daemon.client()
        client.sync()
        kill_during(daemon, threading.Thread(target=attempt, args=(ACTS[what], client)), delay)
        left = notes_in(daemon.workspace)
        assert left in (NOTES, finished[what])
        daemon.start()
        again = daemon.client()
        again.sync()
        listed = again.changes()["changes"]
        assert [one["state"] for one in listed] == ["done"] * (left != NOTES)
        assert drafts(daemon.workspace) == []
        for one in listed:
            again.undo(one["id"])
        assert notes_in(daemon.workspace) == NOTES
        ACTS[what](again)
        assert notes_in(daemon.workspace) == finished[what]
