"""Reloading the real daemon drops no call and embeds nothing again; a bad file changes nothing."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.status import AgentStatus
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.sweeps import whole_or
from tests.waiting import eventually

QUICK = {"sync": {"watchDebounceMs": 50, "settleMs": 20, "deleteGraceMs": 100}}


@dataclass
class Stage:
    """A daemon with a model, and its configuration, which tests rewrite."""

    running: RunningDaemon
    model: Path
    search: dict[str, object] = field(default_factory=lambda: dict(QUICK))

    def write(self, search: Mapping[str, object] | None = None, **sections: object) -> None:
        """Rewrite the configuration, whatever is there; `search` is merged over memorySearch."""
        if self.running.config.is_dir():
            self.running.config.rmdir()
        self.running.config.unlink(missing_ok=True)
        write_config(
            self.running.home, self.running.workspace, self.model, search={**self.search, **(search or {})}, **sections
        )


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[Stage]:
    """Run a daemon whose notes are embedded."""
    home = tmp_path_factory.mktemp("reload")
    workspace = write_workspace(home / "workspace")
    config = write_config(home, workspace, starter_model, search=QUICK)
    with RunningDaemon(home, config, workspace) as running:
        running.client().sync("embedded", 60_000)
        yield Stage(running, starter_model)


@pytest.fixture(autouse=True)
def usual(stage: Stage) -> Iterator[None]:
    """Restore the configuration after each test."""
    yield
    stage.write()
    assert stage.running.client().reload()["reloaded"]


def found(client: Client, query: str) -> list[str]:
    return [hit["path"] for hit in client.search(query)["results"]]


@contextmanager
def asking(*asks: Callable[[int], None]) -> Iterator[list[int]]:
    """Call functions repeatedly, each in its own thread; yield the number of calls, and raise what one raised."""
    counts, failures, is_over = [0] * len(asks), list[BaseException](), threading.Event()

    def loop(number: int, ask: Callable[[int], None]) -> None:
        try:
            # leave the processor to others: the result is the same at full speed
            while not is_over.wait(0.01):
                ask(counts[number])
                counts[number] += 1
        except BaseException as exc:
            failures.append(exc)

    threads = [threading.Thread(target=loop, args=(number, ask), daemon=True) for number, ask in enumerate(asks)]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        is_over.set()
        for thread in threads:
            thread.join(120)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.sweep
def test_reloads_drop_no_call_and_give_no_wrong_answer(stage: Stage) -> None:
    client, before, pid = stage.running.client(), stage.running.agent(), stage.running.pid
    process = psutil.Process(pid)
    # opens what is opened on demand, such as the ledger
    client.retain("The harbour master keeps the parcels in the shed.")
    files, threads = process.num_fds(), process.num_threads()
    clients = [Client(stage.running.socket, timeout=60) for _ in range(3)]

    def search(_count: int) -> None:
        assert found(clients[0], "Which machine does the gateway run on?")[0] == "MEMORY.md"
        assert "memory/2026-10-06.md" in found(clients[0], "GW-4172")

    def retain(count: int) -> None:
        reply = clients[1].retain(f"Parcel {count} of the harbour master came by ship.")
        assert reply["memories"], reply

    def read(_count: int) -> None:
        assert clients[2].status()["agents"][0]["id"] == "main"
        assert clients[2].sync()["complete"]

    with asking(search, retain, read) as counts:
        for number in range(whole_or(4, 20)):
            stage.write({"query": {"maxResults": 5 + number % 3}}, memory={"citations": ("on", "off")[number % 2]})
            reply = client.reload()
            assert reply["reloaded"], reply
            assert "memory.citations" in reply["changed"]
        eventually(lambda: min(counts) > 5)
    retained = counts[1]
    for other in clients:
        other.close()
    assert client.sync("embedded", 60_000)["complete"]
    after = stage.running.agent()
    assert stage.running.pid == pid
    assert worker_of(after) == worker_of(before)
    assert after["embedded"] == after["passages"]
    assert stage.running.log.read_text().count('"model loaded"') == 1
    eventually(lambda: process.num_fds() <= files + 4)
    # threads of the pools start with their work: 6, and those of the event loop
    assert process.num_threads() <= threads + 12
    notes = "".join(path.read_text() for path in (stage.running.workspace / "memory").glob("*.md"))
    assert notes.count("of the harbour master came") == retained


def worker_of(agent: AgentStatus) -> tuple[int | None, int]:
    worker = agent["embedder"]["worker"]
    assert worker is not None
    return worker["pid"], worker["restarts"]


def test_changed_settings_apply_at_once_and_vectors_stay(stage: Stage) -> None:
    client, before = stage.running.client(), stage.running.agent()
    stage.write({"query": {"maxResults": 1}})
    assert client.reload()["changed"] == ["agents.defaults.memorySearch.query.maxResults"]
    assert len(found(client, "gateway lease sourdough machine")) == 1
    after = stage.running.agent()
    assert (after["embedded"], worker_of(after)) == (before["embedded"], worker_of(before))
    assert client.reload() == {"reloaded": True, "changed": [], "needsRestart": [], "problems": [], "notices": []}


def test_gpu_layers_change_no_vector(stage: Stage) -> None:
    client, model = stage.running.client(), str(stage.model)
    before = stage.running.agent()
    stage.write({"local": {"modelPath": model, "threads": 1, "gpuLayers": 7}})
    assert client.reload()["changed"] == ["agents.defaults.memorySearch.local.gpuLayers"]
    eventually(lambda: client.search("gateway lease sourdough machine")["mode"] == "hybrid")
    after = stage.running.agent()
    worker = after["embedder"]["worker"]
    assert worker is not None
    assert (worker["gpuLayers"], worker["offloads"]) == (7, False)
    assert (after["embedded"], after["passages"]) == (before["embedded"], before["passages"])
    stage.write()
    client.reload()


def test_key_that_needs_a_restart_is_named_until_restored(stage: Stage) -> None:
    client = stage.running.client()
    stage.write(http={"port": 18_999}, log={"level": "WARNING"})
    reply = client.reload()
    # the log level comes from the environment, as at the start
    assert reply["changed"] == reply["needsRestart"] == ["http.port"]
    assert client.status()["config"]["needsRestart"] == ["http.port"]
    stage.write()
    assert client.reload()["needsRestart"] == []
    assert client.status()["config"]["needsRestart"] == []


def test_keys_that_apply_at_once(stage: Stage) -> None:
    stage.write(log={"file": "on"}, limits={"maxConnections": 1})
    stage.running.close_clients()
    with Client(stage.running.socket) as client, Client(stage.running.socket) as other:
        assert client.reload()["changed"] == ["limits.maxConnections", "log.file"]
        log = client.status()["daemon"]
        assert log is not None
        assert log["log"]["destination"] == "file"
        with pytest.raises(MemorydError, match="too many connections"):
            other.health()
        stage.write()
        assert client.reload()["changed"] == ["limits.maxConnections", "log.file"]
        assert other.health()["ok"]
        log = client.status()["daemon"]
        assert log is not None
        assert log["log"]["destination"] == "stderr"


def test_degraded_part_keeps_its_time_after_a_reload(stage: Stage) -> None:
    client = stage.running.client()
    gone = stage.running.home / "gone"
    stage.write({"extraPaths": [str(gone)]})
    assert client.reload()["reloaded"]
    eventually(lambda: _missing(stage))
    (before,) = _missing(stage)
    stage.write({"extraPaths": [str(gone)], "query": {"maxResults": 3}})
    assert client.reload()["reloaded"]
    eventually(lambda: _missing(stage))
    assert _missing(stage) == [before]


def _missing(stage: Stage) -> list[str]:
    return [part["since"] for part in stage.running.agent()["degraded"] if part["part"].startswith("root ")]


@pytest.mark.sweep
def test_reindex_continues_after_reloads(stage: Stage) -> None:
    client = stage.running.client()
    for number in range(count := whole_or(9, 24)):
        (stage.running.workspace / "memory" / f"long{number}.md").write_text(f"The orchard {number} has plums.\n" * 20)
    client.sync("embedded", 60_000)
    client.reindex(force=True, embeddings=True)
    for number in range(3):
        stage.write({"query": {"maxResults": 5 + number}})
        assert client.reload()["reloaded"]
    assert client.sync("embedded", 60_000)["complete"]
    after = stage.running.agent()
    assert after["embedded"] == after["passages"] > count
    assert after["degraded"] == []
    assert found(client, "orchard 7 plums")


def _vanish(path: Path) -> None:
    path.unlink()


def _half(path: Path) -> None:
    path.write_text(path.read_text()[:-20])


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere.json5"))


def _misspelt(path: Path) -> None:
    path.write_text('{ memory: { citation: "on" } }')


@pytest.mark.parametrize("spoil", [_vanish, _half, _directory, _dangling, _misspelt])
def test_f131_bad_file_at_a_reload_changes_nothing(stage: Stage, spoil: Callable[[Path], None]) -> None:
    """The old configuration stays in force, and the status gives the reason until a good file comes."""
    client, config = stage.running.client(), stage.running.config
    spoil(config)
    reply = client.reload()
    assert (reply["reloaded"], reply["changed"]) == (False, [])
    assert reply["problems"]
    status = client.status()["config"]
    assert (status["problems"], status["source"]) == (reply["problems"], str(config))
    assert status["failedAt"] is not None
    assert found(client, "GW-4172")[0] == "memory/2026-10-06.md"
    stage.write()
    assert client.reload()["reloaded"]
    status = client.status()["config"]
    assert (status["problems"], status["failedAt"]) == ([], None)


def test_unusable_index_leaves_the_old_one_in_use(stage: Stage) -> None:
    client, foreign = stage.running.client(), stage.running.home / "foreign.sqlite"
    foreign.write_bytes(b"SQLite format 3\0" + b"somebody else's" * 400)
    before = foreign.read_bytes()
    stage.write({"store": {"path": str(foreign)}})
    reply = client.reload()
    assert not reply["reloaded"]
    assert "not an index of memoryd" in reply["problems"][0]
    assert client.status()["config"]["problems"] == reply["problems"]
    assert "MEMORY.md" in found(client, "Which machine does the gateway run on?")
    assert foreign.read_bytes() == before
    assert not stage.running.degraded()


def test_f123_hang_up_reloads_and_scans(stage: Stage) -> None:
    """SIGHUP applies a changed key; a bad file changes nothing, with the reason in the status."""
    client, config = stage.running.client(), stage.running.config
    stage.write({"query": {"maxResults": 1}})
    os.kill(stage.running.pid, signal.SIGHUP)
    eventually(lambda: len(found(client, "gateway lease sourdough machine")) == 1)
    loaded_at = client.status()["config"]["loadedAt"]
    config.write_text("{")
    os.kill(stage.running.pid, signal.SIGHUP)
    eventually(lambda: client.status()["config"]["problems"])
    assert client.status()["config"]["loadedAt"] == loaded_at
    assert len(found(client, "gateway lease sourdough machine")) == 1


def test_suspension_after_a_reload_starts_a_scan(stage: Stage) -> None:
    """The clock watcher must notify the workspaces opened by the reload."""
    unwatched = {"sync": {"watch": False, "reconcileSeconds": 0, "onSearch": False}, "query": {"freshMs": 0}}
    stage.write(unwatched)
    with Client(stage.running.socket) as client:
        assert client.reload()["reloaded"]
        scanned = stage.running.agent()["lastScanAt"]
        os.kill(stage.running.pid, signal.SIGSTOP)
        # longer than a busy machine is late
        time.sleep(4)
        os.kill(stage.running.pid, signal.SIGCONT)
        eventually(lambda: stage.running.agent()["lastScanAt"] != scanned)
        stage.write()
        assert client.reload()["reloaded"]


def test_long_wait_and_stream_survive_a_reload(stage: Stage) -> None:
    stage.write({"sync": {**QUICK["sync"], "watch": False}})
    client, other = stage.running.client(), Client(stage.running.socket, timeout=60)
    seen: list[str] = []

    def follow() -> None:
        for event in other.events(silence=60):
            seen.append(event["event"])
            if "sync" in seen:
                return

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    with asking(lambda _count: _sync(stage)) as counts:
        for number in range(5):
            stage.write({"query": {"maxResults": 3 + number}})
            assert client.reload()["reloaded"]
        (stage.running.workspace / "memory" / "later.md").write_text("A juniper grows behind the shed.\n")
        eventually(lambda: "memory/later.md" in found(client, "juniper"))
        eventually(lambda: counts[0] > 2)
    thread.join(90)
    assert not thread.is_alive()


def _sync(stage: Stage) -> None:
    with Client(stage.running.socket, timeout=60) as client:
        assert client.sync("embedded", 60_000)["complete"]


def test_simultaneous_reloads_run_one_after_the_other(stage: Stage) -> None:
    clients = [stage.running.client() for _ in range(4)]
    stage.write({"query": {"maxResults": 2}})
    replies: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda client=client: replies.append(dict(client.reload()))) for client in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert [reply["reloaded"] for reply in replies] == [True] * 4
    assert ["agents.defaults.memorySearch.query.maxResults"] in [reply["changed"] for reply in replies]
    assert len(found(clients[0], "gateway lease sourdough machine")) == 2


def test_new_agent_answers_and_removed_agent_is_unknown(stage: Stage) -> None:
    client, workspace = stage.running.client(), write_workspace(stage.running.home / "second")
    (workspace / "MEMORY.md").write_text("The heron nests at the weir.\n")
    agents = json.loads(stage.running.config.read_text())["agents"]
    agents["list"] = [{"id": "main"}, {"id": "second", "workspace": str(workspace), "sockets": [{"path": "/tmp/x/y"}]}]
    stage.running.config.write_text(json.dumps({"agents": agents}))
    reply = client.reload()
    assert reply["needsRestart"] == ["agents.list[second].sockets"]
    assert client.search("heron", agent="second")["results"][0]["path"] == "MEMORY.md"
    stage.write()
    assert client.reload()["reloaded"]
    with pytest.raises(MemorydError, match="no agent 'second'"):
        client.search("heron", agent="second")


def test_command_reports_changes_and_problems(stage: Stage) -> None:
    stage.write(memory={"citations": "on"}, http={"port": 18_999})
    done = stage.running.memoryctl("reload")
    assert (done.returncode, done.stderr) == (Exit.DONE, "")
    assert "memory.citations" in done.stdout.partition("started again")[0]
    assert "http.port" in done.stdout.partition("started again")[2]
    stage.running.config.write_text("{ memory: { citations: 7 } }")
    failed = stage.running.memoryctl("reload", "--json")
    assert failed.returncode == Exit.CONFIG
    assert "memory.citations" in json.loads(failed.stdout)["problems"][0]


def test_dry_run_reports_changes_and_makes_none(stage: Stage) -> None:
    client = stage.running.client()
    stage.write()
    client.reload()
    stage.write(memory={"citations": "off"}, http={"port": 18_998})
    for _ in range(2):
        reply = client.reload(is_dry=True)
        assert (reply["reloaded"], set(reply["changed"])) == (False, {"memory.citations", "http.port"})
        assert reply["needsRestart"] == ["http.port"]
    result = stage.running.memoryctl("reload", "--dry-run")
    assert (result.returncode, "http.port, at the next start" in result.stdout) == (Exit.DONE, True)
    stage.running.config.write_text("{ memory: { citations: 7 } }")
    assert stage.running.memoryctl("reload", "--dry-run").returncode == Exit.CONFIG
    assert client.status()["config"]["problems"] == []
