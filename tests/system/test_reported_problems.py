"""The daemon reports what it notices: in events at once, in the status afterwards, and in the flags of hits."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.system.agents import daemon_of_agents
from tests.system.test_events_route import listening
from tests.waiting import eventually

QUICK = {"sync": {"watchDebounceMs": 50, "settleMs": 20, "deleteGraceMs": 100, "reconcileSeconds": 1}}
NOTES = 30


@pytest.fixture
def quick(tmp_path: Path, workspace: Path) -> Iterator[RunningDaemon]:
    """Run a daemon without a model that allows few connections of one process."""
    limits = {"maxConnections": 12}
    config = write_config(tmp_path, workspace, None, search=QUICK, limits=limits)
    with RunningDaemon(tmp_path, config, workspace, program=HASTY) as running:
        running.client().sync()
        yield running


def status_text(daemon: RunningDaemon) -> str:
    return " ".join(daemon.memoryctl("status", "--verbose").stdout.split())


def test_failure_and_recovery_are_reported_as_events(quick: RunningDaemon, workspace: Path) -> None:
    with listening(quick) as listener:
        client = quick.client()
        eventually(lambda: listener.events or client.reindex(force=True), step=0.2)
        workspace.rename(workspace.with_name("moved"))
        eventually(lambda: listener.named("degraded"))
        failures = {event["data"]["part"]: event["data"] for event in listener.named("degraded")}
        assert "there is no folder" in str(failures["workspace"]["reason"])
        assert failures["workspace"]["agent"] == "main"
        degraded = quick.agent()["degraded"]
        workspace.with_name("moved").rename(workspace)
        eventually(lambda: any(event["data"]["part"] == "workspace" for event in listener.named("recovered")))
        since = {part["part"]: part["since"] for part in degraded}
        recovered = next(event for event in listener.named("recovered") if event["data"]["part"] == "workspace")
        assert str(recovered["data"]["since"])[:19] == since["workspace"][:19]
        count = len(listener.named("degraded"))
        client.status()
        client.sync()
        assert len(listener.named("degraded")) == count, "reported once"


def test_refused_connections_are_counted(quick: RunningDaemon) -> None:
    with ExitStack() as stack:
        for _ in range(13):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(str(quick.socket))
        seen = json.loads(quick.memoryctl("status", "--json").stdout)["connections"]
    assert list(seen["refused"]) == ["too many connections of this process"]
    refused = seen["refused"]["too many connections of this process"]
    assert refused >= 4
    assert f"refused {refused} times: too many connections of this process" in status_text(quick)


def test_lost_socket_is_reported(tmp_path: Path, workspace: Path) -> None:
    path = tmp_path / "agents" / "main.sock"
    agents = [{"id": "main", "sockets": [{"path": str(path)}]}]
    with daemon_of_agents(tmp_path, agents, workspace, options={"program": HASTY}) as daemon:
        client = daemon.client()
        assert client.status().get("unreachable") == []
        path.unlink()
        path.write_text("in the way")
        eventually(lambda: client.status().get("unreachable"))
        status: Any = client.status()
        assert [row["socket"] for row in status["unreachable"]] == ["agent:main:0"]
        assert "not a socket" in status["unreachable"][0]["reason"]
        parts = {part["part"]: part["reason"] for part in status["agents"][0]["degraded"]}
        assert "not a socket" in parts["socket agent:main:0"]
        assert "in the way" in status_text(daemon)
        path.unlink()
        eventually(lambda: not client.status().get("unreachable"))
        with Client(path) as sandbox:
            seen: Any = sandbox.status()
        assert (seen["connections"], seen["unreachable"]) == (None, []), "only the owner sees these"


def test_f039_f043_unusual_notes_are_flagged(quick: RunningDaemon, workspace: Path) -> None:
    """Conflict copies, lost bytes and encodings are flagged in status and hits."""
    memory = workspace / "memory"
    (memory / "latin.md").write_bytes("# Café\n\nThe zebra drinks café crème.\n".encode("latin-1"))
    (memory / "wide.md").write_bytes("# Wide\n\nThe quagga is wide.\n".encode("utf-16"))
    (memory / "x.sync-conflict-20260101-120000-ABCDEFG.md").write_text("# Copy\n\nA second opinion: hornbeam.\n")
    (workspace.parent / "elsewhere.md").write_text("# Linked\n\nThe okapi has two names.\n")
    os.link(workspace.parent / "elsewhere.md", memory / "linked.md")
    client = quick.client()
    client.sync()
    flagged = {row["path"]: row["flags"] for row in quick.agent().get("flagged", [])}
    assert flagged == {
        "memory/latin.md": "not valid utf-8",
        "memory/linked.md": "has another name (hard link)",
        "memory/wide.md": "utf-16",
        "memory/x.sync-conflict-20260101-120000-ABCDEFG.md": "conflict-copy",
    }
    assert client.search("zebra")["results"][0].get("flags") == ["replaced-bytes"]
    assert client.search("hornbeam")["results"][0].get("flags") == ["conflict-copy"]
    assert client.search("quagga")["results"][0].get("flags") == []
    assert client.get("memory/x.sync-conflict-20260101-120000-ABCDEFG.md").get("flags") == ["conflict-copy"]
    assert "flagged memory/latin.md · not valid utf-8" in status_text(quick)


def test_f041_deletion_of_most_notes_is_reported(quick: RunningDaemon, workspace: Path) -> None:
    """Deleting most notes is reported in the status, its text and an event; deleting one is not."""
    notes = [workspace / "memory" / f"note-{number}.md" for number in range(NOTES)]
    for number, note in enumerate(notes):
        note.write_text(f"# Note {number}\n\nThe machine number {number} stands here.\n")
    with listening(quick) as listener:
        client = quick.client()
        eventually(lambda: client.sync()["complete"] and quick.agent()["files"] == NOTES + 3)
        notes[0].unlink()
        eventually(lambda: quick.agent()["files"] == NOTES + 2)
        assert quick.agent().get("massRemoval") is None, "one is not most"
        for note in notes[1:]:
            note.unlink()
        eventually(lambda: quick.agent()["files"] == 3)
        eventually(lambda: quick.agent().get("massRemoval"))
        removal: Any = quick.agent()["massRemoval"]
        assert removal["files"] > removal["left"]
        assert "deleted at once" in status_text(quick)
        eventually(lambda: any(event["data"]["state"] == "mass removal" for event in listener.named("sync")))
