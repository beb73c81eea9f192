"""A daemon with a hundred agents, each with its workspace, started with a low limit of open files."""

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fault.faults import FaultyDaemon
from tests.sweeps import whole_or
from tests.waiting import eventually

AGENTS = whole_or(25, 100)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FaultyDaemon]:
    listed = []
    for number in range(AGENTS):
        memory = tmp_path / f"workspace{number}" / "memory"
        memory.mkdir(parents=True)
        (memory / "note.md").write_text(f"# Note\n\nThe heron of number{number} nests by the sluice.\n")
        listed.append({"id": f"agent{number}", "workspace": str(memory.parent)})
    config = tmp_path / "config.json5"
    agents = {"defaults": {"memorySearch": {"provider": "none"}}, "list": listed}
    config.write_text(json.dumps({"agents": agents}))
    running = FaultyDaemon(tmp_path, config, tmp_path / "workspace0")
    running.prefix = ("prlimit", "--nofile=256:8192")
    with running:
        yield running


@pytest.mark.sweep
def test_each_of_many_agents_finds_its_own_notes(daemon: FaultyDaemon) -> None:
    client = daemon.client()
    eventually(lambda: client.health()["ready"])
    for number in range(AGENTS):
        hits = client.search("heron", agent=f"agent{number}")["results"]
        assert [f"number{number} nests" in hit["snippet"] for hit in hits] == [True]
    agents = client.status()["agents"]
    assert [agent["files"] for agent in agents] == [1] * AGENTS
    assert not [agent["degraded"] for agent in agents if agent["degraded"]]
    assert psutil.Process(daemon.pid).num_threads() < 30
    assert client.search("heron", agent="agent7")["results"]
