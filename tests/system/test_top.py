"""`memoryctl top` with the real daemon."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from memoryd.client import Client
from memoryd.wire import Exit
from tests.daemon import MEMORYCTL, RunningDaemon
from tests.system.words_only import words_only
from tests.waiting import eventually
from tests.warm.programs import started


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with words_only(tmp_path_factory.mktemp("top")) as found:
        yield found


def test_one_interval_as_json_and_as_text(running: RunningDaemon) -> None:
    result = running.memoryctl("top", "--once", "-n", "0.2", "--json")
    found = json.loads(result.stdout)
    assert result.returncode == Exit.DONE, result.stderr
    assert [row["name"] for row in found["routes"]] == ["GET /metrics"]
    assert found["processes"][0]["process"] == "daemon"
    assert found["queues"] == [{"agent": "main", "pendingFiles": 0, "pendingEmbeddings": 0, "pendingCaptures": 0}]
    shown = running.memoryctl("top", "--once", "-n", "0.2").stdout
    for text in ("memoryd up", "GET /metrics", "nothing waits for 1 agent", "daemon", "memories"):
        assert text in shown
    assert "\x1b" not in shown


def test_restart_is_reported_and_waited_for(running: RunningDaemon) -> None:
    out = running.home / "top.jsonl"
    with out.open("wb") as written:
        child = started([MEMORYCTL, "top", "--json", "-n", "0.2"], env=running.env, stdout=written, stderr=written)
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
    result = running.memoryctl("top", "--socket", running.home / "no.sock")
    assert result.returncode == Exit.NOT_RUNNING
    assert result.stderr.splitlines()[1].startswith("start it: ")
