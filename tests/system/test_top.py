"""`memoryctl top` with the real daemon."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from memoryd.client import Client
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.system.words_only import words_only
from tests.waiting import eventually
from tests.warm.programs import ran, started

TOP = [sys.executable, "-c", "from memoryd.cli.main import main; main()", "top"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with words_only(tmp_path_factory.mktemp("top")) as found:
        yield found


def environment(daemon: RunningDaemon) -> dict[str, str]:
    return {**daemon.env, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


def test_one_interval_as_json_and_as_text(running: RunningDaemon) -> None:
    arguments = [*TOP, "--once", "-n", "0.2"]
    result = ran([*arguments, "--json"], env=environment(running), capture_output=True, text=True, timeout=120)
    found = json.loads(result.stdout)
    assert result.returncode == Exit.DONE, result.stderr
    assert [row["name"] for row in found["routes"]] == ["GET /metrics"]
    assert found["processes"][0]["process"] == "daemon"
    assert found["queues"] == [{"agent": "main", "pendingFiles": 0, "pendingEmbeddings": 0, "pendingCaptures": 0}]
    shown = ran(arguments, env=environment(running), capture_output=True, text=True, timeout=120).stdout
    for text in ("memoryd up", "GET /metrics", "nothing waits for 1 agent", "daemon", "memories"):
        assert text in shown
    assert "\x1b" not in shown


def test_restart_is_reported_and_waited_for(running: RunningDaemon) -> None:
    out = running.home / "top.jsonl"
    with out.open("wb") as written:
        child = started([*TOP, "--json", "-n", "0.2"], env=environment(running), stdout=written, stderr=written)
    try:
        eventually(lambda: out.read_text().count("\n") > 0, seconds=120)
        with closing(Client(running.socket)) as client:
            for _ in range(5):
                client.search("gateway")
        eventually(lambda: "POST /v1/search" in out.read_text(), seconds=120)
        running.stop()
        running.start()
        eventually(lambda: '"restarted": true' in out.read_text(), seconds=120)
        assert child.poll() is None
        assert all(json.loads(line)["seconds"] > 0 for line in out.read_text().splitlines())
    finally:
        child.terminate()
        child.wait(60)


def test_missing_daemon_is_reported_with_a_hint(running: RunningDaemon) -> None:
    nowhere = [*TOP, "--socket", str(running.home / "no.sock")]
    result = ran(
        nowhere, env=environment(running), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == Exit.NOT_RUNNING
    assert result.stderr.splitlines()[1].startswith("start it: ")
