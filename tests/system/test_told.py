"""What the daemon notices it also tells: in events as it happens, in status afterwards, in the flags of hits."""

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
from tests.system.test_events_route import listening
from tests.waiting import eventually

QUICK = {"sync": {"watchDebounceMs": 50, "settleMs": 20, "deleteGraceMs": 100, "reconcileSeconds": 1}}
NOTES = 30


@pytest.fixture
def quick(tmp_path: Path, workspace: Path) -> Iterator[RunningDaemon]:
    """A daemon by words only that few connections of one process may ask."""
    limits = {"maxConnections": 12}
    config = write_config(tmp_path, workspace, None, search=QUICK, limits=limits)
    with RunningDaemon(tmp_path, config, workspace, program=HASTY) as running:
        running.client().sync()
        yield running


def shown(daemon: RunningDaemon) -> str:
    return " ".join(daemon.memoryctl("status", "--verbose").stdout.split())


def test_part_that_fails_and_recovers_is_told_as_it_happens(quick: RunningDaemon, workspace: Path) -> None:
    with listening(quick) as ear:
        client = quick.client()
        eventually(lambda: ear.events or client.reindex(force=True), step=0.2)
        workspace.rename(workspace.with_name("moved"))
        eventually(lambda: ear.named("degraded"))
        told = {event["data"]["part"]: event["data"] for event in ear.named("degraded")}
        assert "there is no folder" in str(told["workspace"]["reason"])
        assert told["workspace"]["agent"] == "main"
        degraded = quick.agent()["degraded"]
        workspace.with_name("moved").rename(workspace)
        eventually(lambda: any(event["data"]["part"] == "workspace" for event in ear.named("recovered")))
        since = {part["part"]: part["since"] for part in degraded}
        recovered = next(event for event in ear.named("recovered") if event["data"]["part"] == "workspace")
        assert str(recovered["data"]["since"])[:19] == since["workspace"][:19]
        count = len(ear.named("degraded"))
        client.status()
        client.sync()
        assert len(ear.named("degraded")) == count, "told once"


def test_connections_that_were_refused_are_counted(quick: RunningDaemon) -> None:
    with ExitStack() as stack:
        for _ in range(13):
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.connect(str(quick.socket))
        seen = json.loads(quick.memoryctl("status", "--json").stdout)["connections"]
    assert list(seen["refused"]) == ["too many connections of this process"]
    refused = seen["refused"]["too many connections of this process"]
    assert refused >= 4
    assert f"refused {refused} times: too many connections of this process" in shown(quick)


def test_socket_that_was_lost_is_told(tmp_path: Path, workspace: Path) -> None:
    path = tmp_path / "agents" / "main.sock"
    listed = [{"id": "main", "workspace": str(workspace), "sockets": [{"path": str(path)}]}]
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": {"memorySearch": {"provider": "none"}}, "list": listed}}))
    with RunningDaemon(tmp_path, config, workspace, program=HASTY) as daemon:
        client = daemon.client()
        assert client.status().get("unreachable") == []
        path.unlink()
        path.write_text("in the way")
        eventually(lambda: client.status().get("unreachable"))
        status: Any = client.status()
        assert [one["socket"] for one in status["unreachable"]] == ["agent:main:0"]
        assert "not a socket" in status["unreachable"][0]["reason"]
        parts = {part["part"]: part["reason"] for part in status["agents"][0]["degraded"]}
        assert "not a socket" in parts["socket agent:main:0"]
        assert "in the way" in shown(daemon)
        path.unlink()
        eventually(lambda: not client.status().get("unreachable"))
        with Client(path) as sandbox:
            seen: Any = sandbox.status()
        assert (seen["connections"], seen["unreachable"]) == (None, []), "that is the owner's"


def test_f039_f043_notes_that_are_not_what_they_seem_are_flagged(quick: RunningDaemon, workspace: Path) -> None:
    """Conflict copy and lost bytes are flagged in status and hits, and the encoding is told."""
    memory = workspace / "memory"
    (memory / "latin.md").write_bytes("# Café\n\nThe zebra drinks café crème.\n".encode("latin-1"))
    (memory / "wide.md").write_bytes("# Wide\n\nThe quagga is wide.\n".encode("utf-16"))
    (memory / "x.sync-conflict-20260101-120000-ABCDEFG.md").write_text("# Copy\n\nA second opinion: hornbeam.\n")
    (workspace.parent / "elsewhere.md").write_text("# Linked\n\nThe okapi has two names.\n")
    os.link(workspace.parent / "elsewhere.md", memory / "linked.md")
    client = quick.client()
    client.sync()
    flagged = {one["path"]: one["flags"] for one in quick.agent().get("flagged", [])}
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
    assert "flagged memory/latin.md · not valid utf-8" in shown(quick)


def test_f041_deletion_of_most_notes_is_told(quick: RunningDaemon, workspace: Path) -> None:
    """A deletion of most notes stands in status, in the shown status and in an event; one of one does not."""
    notes = [workspace / "memory" / f"note-{number}.md" for number in range(NOTES)]
    for number, note in enumerate(notes):
        note.write_text(f"# Note {number}\n\nThe machine number {number} stands here.\n")
    with listening(quick) as ear:
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
        assert "deleted at once" in shown(quick)
        eventually(lambda: any(event["data"]["state"] == "mass removal" for event in ear.named("sync")))
