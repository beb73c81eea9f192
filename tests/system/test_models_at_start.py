"""How the daemon handles its model: missing, broken, forbidden, unreachable, downloading, and available again."""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.store.consistency import open_index
from tests.sweeps import swept
from tests.system.over_socket import send
from tests.waiting import eventually

HUB_MODEL = "hf:owner/repository/model.gguf"
SYNC = {"watchDebounceMs": 50, "settleMs": 20, "deleteGraceMs": 100}
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, workspace: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def make(model: Path | str, *, local: dict[str, object] | None = None, **environment: str) -> RunningDaemon:
        search = {"sync": SYNC, "local": {"modelPath": str(model), "threads": 1, **(local or {})}, "provider": "local"}
        config = write_config(tmp_path, workspace, None, search=search)
        daemon = start(RunningDaemon(tmp_path, config, workspace, environment=environment, program=HASTY))
        daemon.client().sync()
        return daemon

    return make


def mode_of_an_answer(daemon: RunningDaemon) -> str:
    with Client(daemon.socket) as client:
        return client.search("anything at all")["mode"]


def bytes_done(daemon: RunningDaemon) -> int:
    progress = daemon.agent()["embedder"]["progress"]
    return progress["doneBytes"] if progress else 0


def state_of(daemon: RunningDaemon) -> str:
    return daemon.agent()["embedder"]["state"]


def reason_of(daemon: RunningDaemon) -> str:
    return str(daemon.agent()["embedder"]["reason"])


def assert_words_answer(daemon: RunningDaemon) -> None:
    reply = daemon.client().search("GW-4172")
    assert reply["results"][0]["path"] == "memory/2026-10-06.md"
    assert reply["mode"] == "lexical"
    assert not reply["health"]["complete"]
    assert reply["health"]["arms"]["vector"]["reason"]


def assert_meaning_answers(daemon: RunningDaemon) -> None:
    assert daemon.client().sync(wait="embedded", timeout_ms=90_000)["complete"]
    reply = daemon.client().search("who made bread for people next door")
    assert reply["mode"] == "hybrid"
    assert reply["results"][0]["path"] == "memory/2026-10-06.md"


def test_missing_model_file_disables_vectors_until_it_appears(
    launch: Launch, tmp_path: Path, starter_model: Path
) -> None:
    model = tmp_path / "model.gguf"
    daemon = launch(model)
    eventually(lambda: state_of(daemon) == "failed")
    assert "there is no model file" in reason_of(daemon)
    assert "embedder" in daemon.degraded()
    assert_words_answer(daemon)
    shutil.copy(starter_model, model)
    eventually(lambda: state_of(daemon) == "ready")
    assert_meaning_answers(daemon)
    assert "embedder" not in daemon.degraded()


@swept("kind", ["truncated", "html"], 1)
def test_broken_model_file_disables_vectors_until_it_is_replaced(
    launch: Launch, tmp_path: Path, starter_model: Path, kind: str
) -> None:
    model = tmp_path / "model.gguf"
    whole = starter_model.read_bytes()
    content = {"truncated": whole[: len(whole) // 2], "html": b"<!DOCTYPE html><html>404</html>"}
    model.write_bytes(content[kind])
    daemon = launch(model)
    daemon.client().search("anything at all")
    eventually(lambda: any(part["part"].startswith("embed") for part in daemon.agent()["degraded"]))
    assert_words_answer(daemon)
    model.with_suffix(".new").write_bytes(whole)
    model.with_suffix(".new").rename(model)
    eventually(lambda: mode_of_an_answer(daemon) == "hybrid")
    assert_meaning_answers(daemon)


@pytest.mark.parametrize(
    ("local", "environment", "reason"),
    [
        ({}, {"MEMORYD_OFFLINE": "1"}, "MEMORYD_OFFLINE"),
        ({"download": False}, {}, "local.download is false"),
    ],
)
def test_forbidden_download_is_not_attempted(
    launch: Launch, local: dict[str, object], environment: dict[str, str], reason: str
) -> None:
    daemon = launch(HUB_MODEL, local=local, HF_ENDPOINT="http://127.0.0.1:9", **environment)
    eventually(lambda: state_of(daemon) == "failed")
    assert reason in reason_of(daemon)
    assert_words_answer(daemon)


def test_unreachable_hub_is_reported_with_the_time_of_the_next_try(launch: Launch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        daemon = launch(HUB_MODEL, HF_ENDPOINT=f"http://127.0.0.1:{closed.getsockname()[1]}")
        eventually(lambda: "cannot reach 127.0.0.1" in reason_of(daemon))
        assert state_of(daemon) == "downloading", "the first failure is reported before it gives up"
        assert "cannot reach 127.0.0.1" in next(part["reason"] for part in daemon.agent()["degraded"])
        eventually(lambda: "next try within a minute" in reason_of(daemon))
        assert_words_answer(daemon)


def test_refusal_by_a_proxy_is_retried(launch: Launch, starter_model: Path) -> None:
    with SlowHub(starter_model.read_bytes()).running() as hub:
        hub.refusals = 2
        hub.goes_on.set()
        daemon = launch(HUB_MODEL, HF_ENDPOINT=hub.url)
        eventually(lambda: state_of(daemon) == "ready")
        assert hub.refusals == 0


class SlowHub:
    """A model hub on loopback that may refuse requests, and sends the second half of a file only when allowed to."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.refusals = 0
        self.goes_on = threading.Event()
        self.is_asked = threading.Event()
        self.url = ""

    @contextmanager
    def running(self) -> Iterator["SlowHub"]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                if hub.refusals:
                    hub.refusals -= 1
                    self.send_error(403)
                else:
                    self._head()

            def do_GET(self) -> None:
                self._head()
                half = len(hub.content) // 2
                self.wfile.write(hub.content[:half])
                self.wfile.flush()
                hub.is_asked.set()
                if hub.goes_on.wait(30):
                    self.wfile.write(hub.content[half:])

            def _head(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(hub.content)))
                self.send_header("ETag", '"one"')
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                """Stay silent."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}"
            serving = threading.Thread(target=server.serve_forever)
            serving.start()
            try:
                yield self
            finally:
                self.goes_on.set()
                server.shutdown()
                serving.join()


def test_download_runs_behind_keyword_search_with_progress(launch: Launch, starter_model: Path) -> None:
    with SlowHub(starter_model.read_bytes()).running() as hub:
        daemon = launch(HUB_MODEL, HF_ENDPOINT=hub.url)
        assert hub.is_asked.wait(60)
        eventually(lambda: bytes_done(daemon))
        embedder = daemon.agent()["embedder"]
        assert embedder["state"] == "downloading"
        assert embedder["progress"] is not None
        assert embedder["progress"]["totalBytes"] == len(hub.content)
        assert_words_answer(daemon)
        events = daemon.client().events(silence=20)
        hub.goes_on.set()
        seen = []
        for event in events:
            if event["event"] == "model":
                seen.append(event["data"]["state"])
            if seen[-1:] == ["ready"]:
                break
        events.close()
        assert_meaning_answers(daemon)


def test_killed_daemon_resumes_its_download(launch: Launch, starter_model: Path) -> None:
    with SlowHub(starter_model.read_bytes()).running() as hub:
        daemon = launch(HUB_MODEL, HF_ENDPOINT=hub.url)
        assert hub.is_asked.wait(60)
        daemon.kill()
        hub.goes_on.set()
        daemon.start()
        eventually(lambda: state_of(daemon) == "ready")


def test_killed_worker_is_replaced_and_nothing_is_lost(daemon: RunningDaemon) -> None:
    daemon.client().sync(wait="embedded")
    worker = daemon.agent()["embedder"]["worker"]
    assert worker is not None
    assert worker["pid"] is not None
    psutil.Process(worker["pid"]).kill()
    note = daemon.workspace / "memory" / "later.md"
    note.write_text("# Harbour\n\nThe ferry to the island leaves at noon.\n")
    assert daemon.client().sync(wait="embedded", timeout_ms=90_000)["complete"]
    reply = daemon.client().search("when does the boat depart")
    assert reply["results"][0]["path"] == "memory/later.md"


@pytest.mark.torture
def test_killed_daemon_does_not_embed_again(daemon: RunningDaemon) -> None:
    daemon.client().sync(wait="embedded")
    folder = daemon.workspace / "memory"
    for number in range(16):
        lines = "".join(
            f"- Item {number}-{line} was bought in the town of Ghent{number * 97 + line}.\n" for line in range(24)
        )
        (folder / f"list-{number}.md").write_text(f"# List {number}\n\n{lines}")
    daemon.client().sync()
    whole = daemon.agent()["passages"]
    eventually(lambda: send(daemon.socket, "GET", "/v1/status").json["agents"][0]["cache"]["entries"] > 3)
    daemon.kill()
    stored = vectors_by_hash(daemon)
    assert 3 < len(stored) < whole
    daemon.start()
    assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
    after = vectors_by_hash(daemon)
    assert daemon.agent()["embedded"] == daemon.agent()["passages"] == whole
    assert {key: after[key] for key in stored} == stored


def vectors_by_hash(daemon: RunningDaemon) -> dict[bytes, int]:
    """Return the row of each vector, from a copy; a vector computed again would have another row."""
    (path,) = daemon.state.rglob("index.sqlite")
    copy = daemon.home / "copy"
    shutil.copytree(path.parent, copy, dirs_exist_ok=True)
    db = open_index(copy / path.name)
    try:
        return dict(db.execute("SELECT hash, id FROM vectors"))
    finally:
        db.close()
