"""`POST /v1/sessions/start` of the real daemon: a session that begins makes the index look at the disk."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoryd.errors import Denied, Disabled
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

KEY = "agent:main:main"
DEAF = {"watch": False, "onSearch": False, "reconcileSeconds": 0}
"""Nothing looks at the disk unless it is told to."""
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, workspace: Path) -> Iterator[Launch]:
    started: list[RunningDaemon] = []

    def run(search: dict[str, object]) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, search=search)
        started.append(RunningDaemon(tmp_path, config, workspace))
        started[0].start()
        started[0].client().sync()
        return started[0]

    yield run
    for daemon in started:
        daemon.stop()


def test_session_that_begins_makes_the_index_look_at_the_disk(launch: Launch, workspace: Path) -> None:
    daemon = launch({"query": {"freshMs": 0}, "sync": DEAF})
    (workspace / "memory" / "late.md").write_text("The hearthstone is slate.\n")
    assert not daemon.client().search("hearthstone")["results"]
    started = daemon.client().start_session(KEY)
    assert "The gateway runs on the Mac Studio" in (started["bundle"] or ""), "every session sees the core file"
    assert (started["context"], started["sequence"]) == ("", [])
    assert started["syncScheduled"]
    eventually(lambda: daemon.client().search("hearthstone")["results"])


def test_session_scans_nothing_where_its_owner_does_not_want_it(launch: Launch, workspace: Path) -> None:
    daemon = launch({"query": {"freshMs": 0}, "sync": {**DEAF, "onSessionStart": False}})
    client = daemon.client()
    (workspace / "memory" / "late.md").write_text("The hearthstone is slate.\n")
    before = daemon.agent()["lastScanAt"]
    assert client.start_session(KEY)["syncScheduled"] is False
    assert not client.search("hearthstone")["results"]
    assert daemon.agent()["lastScanAt"] == before
    client.sync()
    assert client.search("hearthstone")["results"]


def test_session_of_a_group_is_refused(launch: Launch) -> None:
    client = launch({"query": {"freshMs": 0}, "sync": DEAF}).client()
    with pytest.raises(Denied):
        client.start_session("agent:main:discord:group:7")


def test_session_of_an_agent_without_search_is_told_so(launch: Launch) -> None:
    client = launch({"enabled": False}).client()
    with pytest.raises(Disabled):
        client.start_session(KEY)
