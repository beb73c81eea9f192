"""kill -9 of the daemon while it writes: each file is as before or as intended, and the ledger agrees."""

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

LINE = "W @Peter: keeps the ladder behind the barn"
NOTES = {
    "MEMORY.md": "# Memory\n\n- Peter lives in Graz.\n",
    "memory/2026-10-01.md": "# Thursday\n\n## Retain\n- W @Peter: The gate code is 1234.\n- W @Pete: owns a boat\n",
    "bank/entities/peter.md": "---\naliases: [ P ] # his\n---\n# Peter\n\nA friend.\n",
}
ACTIONS: dict[str, Callable[[Client], object]] = {
    "retain": lambda client: client.retain(LINE),
    "core": lambda client: client.core_replace("Graz", "Wien"),
    "merge": lambda client: client.merge_entity("Pete", "Peter"),
}
DELAYS = [0.0, 0.002, 0.004, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1]
"""Seconds until the daemon is killed."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return the notes after each act, without a kill."""
    found: dict[str, dict[str, str]] = {}
    for name, action in ACTIONS.items():
        with daemon_with(tmp_path_factory.mktemp(name), NOTES) as daemon:
            action(daemon.client())
            found[name] = notes_in(daemon.workspace)
    return found


def drafts(workspace: Path) -> list[Path]:
    return [path for path in workspace.rglob(".memoryd-*") if path.is_file()]


@swept(("delay", "what"), list(product(DELAYS, ACTIONS)), 2)
def test_completed_write_is_listed_and_undone_after_a_kill(
    tmp_path: Path, finished: dict[str, dict[str, str]], what: str, delay: float
) -> None:
    daemon: RunningDaemon = daemon_with(tmp_path, NOTES)
    with daemon:
        client = daemon.client()
        client.sync()
        kill_during(daemon, threading.Thread(target=attempt, args=(ACTIONS[what], client)), delay)
        left = notes_in(daemon.workspace)
        assert left in (NOTES, finished[what])
        daemon.start()
        again = daemon.client()
        again.sync()
        listed = again.changes()["changes"]
        assert [change["state"] for change in listed] == ["done"] * (left != NOTES)
        assert drafts(daemon.workspace) == []
        for change in listed:
            again.undo(change["id"])
        assert notes_in(daemon.workspace) == NOTES
        ACTIONS[what](again)
        assert notes_in(daemon.workspace) == finished[what]
