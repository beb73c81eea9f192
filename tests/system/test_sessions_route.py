"""`POST /v1/sessions/start` of the real daemon: a new session starts a scan."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

KEY = "agent:main:main"
UNWATCHED = {"watch": False, "onSearch": False, "reconcileSeconds": 0}
"""Scans only on request."""
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, workspace: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def run(search: dict[str, object]) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, search=search)
        daemon = start(RunningDaemon(tmp_path, config, workspace))
        daemon.client().sync()
        return daemon

    return run


def test_session_start_starts_a_scan(launch: Launch, workspace: Path) -> None:
    daemon = launch({"query": {"freshMs": 0}, "sync": UNWATCHED})
    (workspace / "memory" / "late.md").write_text("The hearthstone is slate.\n")
    assert not daemon.client().search("hearthstone")["results"]
    started = daemon.client().start_session(KEY)
    assert "The gateway runs on the Mac Studio" in (started["bundle"] or ""), "every session gets the core file"
    assert (started["context"], started["sequence"]) == ("", [])
    assert started["syncScheduled"]
    eventually(lambda: daemon.client().search("hearthstone")["results"])


def test_session_start_scans_nothing_if_disabled(launch: Launch, workspace: Path) -> None:
    daemon = launch({"query": {"freshMs": 0}, "sync": {**UNWATCHED, "onSessionStart": False}})
    client = daemon.client()
    (workspace / "memory" / "late.md").write_text("The hearthstone is slate.\n")
    before = daemon.agent()["lastScanAt"]
    assert client.start_session(KEY)["syncScheduled"] is False
    assert not client.search("hearthstone")["results"]
    assert daemon.agent()["lastScanAt"] == before
    client.sync()
    assert client.search("hearthstone")["results"]
