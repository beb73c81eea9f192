"""Missing vectors in the status, and waits for vectors that end when none can come."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.replies.search import SyncReply
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint
from tests.waiting import eventually

NOTES = 50
HUB_MODEL = "hf:owner/repository/model.gguf"
AT_ONCE_SECONDS = 30.0
"""Of the ten minutes that a command may wait; a busy machine starts it slowly."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    for number in range(NOTES):
        (folder / "memory" / f"{number}.md").write_text(
            f"# Note {number}\n\nThe machine number {number} stands here.\n"
        )
    return folder


def running(home: Path, notes: Path, search: Mapping[str, object], **environment: str) -> RunningDaemon:
    return RunningDaemon(home, write_config(home, notes, None, search=search), notes, environment=environment)


def remote(url: str, **more: object) -> dict[str, object]:
    return {"provider": "openai", "model": "test-model", "remote": {"baseUrl": url, "apiKey": "sk-4711", **more}}


def memoryctl(daemon: RunningDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may wait for ten minutes, and check that it does not."""
    began = time.monotonic()
    done = daemon.memoryctl(*arguments)
    assert time.monotonic() - began < AT_ONCE_SECONDS
    return done


def give_up_reason(daemon: RunningDaemon, *arguments: str) -> str:
    """Return the reason of a command for not waiting any longer."""
    done = memoryctl(daemon, *arguments)
    assert done.returncode == Exit.ERROR, done.stdout
    assert f"{NOTES} passages to embed" in done.stdout
    return done.stderr


def without_model(home: Path) -> dict[str, object]:
    return {"provider": "local", "local": {"modelPath": str(home / "none.gguf"), "threads": 1}}


def test_missing_vectors_are_pending_without_a_model(tmp_path: Path, notes: Path) -> None:
    with running(tmp_path, notes, without_model(tmp_path)) as daemon:
        with Client(daemon.socket) as client:
            pending = client.sync("indexed")
        assert pending["pendingEmbeddings"] == NOTES
        agent = daemon.agent()
        assert (agent["passages"], agent["embedded"], agent["pendingEmbeddings"]) == (NOTES, 0, NOTES)
        shown = " ".join(memoryctl(daemon, "status", "--verbose").stdout.split())
        assert f"pendingFiles 0 · pendingEmbeddings {NOTES}" in shown
        (notes / "memory" / "late.md").write_text("# Late\n\nThe heron nests by the sluice.\n")
        with Client(daemon.socket) as client:
            client.sync("indexed")
        assert daemon.agent()["pendingEmbeddings"] == NOTES + 1


@pytest.mark.parametrize("command", [("sync", "--wait", "embedded"), ("index",), ("reindex", "--embeddings")])
def test_command_ends_with_the_reason_without_a_model(tmp_path: Path, notes: Path, command: Sequence[str]) -> None:
    with running(tmp_path, notes, without_model(tmp_path)) as daemon:
        reason = give_up_reason(daemon, *command)
        assert reason.startswith("note: main: no vectors: ")
        assert "none.gguf" in reason or "llama-cpp-python" in reason
        pending: Any = json.loads(memoryctl(daemon, *command, "--json").stdout)
        assert not pending["complete"]
        assert pending["pendingEmbeddings"] == NOTES
        assert "no vectors" in pending["reason"]


def test_wait_ends_without_a_provider_and_nothing_is_pending(tmp_path: Path, notes: Path) -> None:
    with running(tmp_path, notes, {"provider": "none"}) as daemon:
        done = memoryctl(daemon, "sync", "--wait", "embedded")
        assert done.returncode == Exit.ERROR
        assert "memorySearch.provider is none" in done.stderr
        assert daemon.agent()["pendingEmbeddings"] == 0


def test_wait_ends_without_a_key_of_the_provider(tmp_path: Path, notes: Path) -> None:
    with running(tmp_path, notes, {"provider": "openai"}) as daemon:
        assert "there is no key for openai" in give_up_reason(daemon, "index")


def test_wait_ends_when_the_daily_budget_is_spent(tmp_path: Path, notes: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, notes, remote(endpoint.url, tokensPerDay=200)) as daemon:
        done = memoryctl(daemon, "index")
        assert done.returncode == Exit.ERROR
        assert "memorySearch.remote.tokensPerDay is 200" in done.stderr
        agent = daemon.agent()
        assert 0 < agent["embedded"] < NOTES
        assert agent["pendingEmbeddings"] == NOTES - agent["embedded"]


def test_wait_ends_when_the_model_cannot_be_downloaded(tmp_path: Path, notes: Path) -> None:
    pytest.importorskip("llama_cpp")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        hub = f"http://127.0.0.1:{closed.getsockname()[1]}"
        search = {"provider": "local", "local": {"modelPath": HUB_MODEL}}
        with running(tmp_path, notes, search, HF_ENDPOINT=hub) as daemon:
            assert "cannot reach 127.0.0.1" in give_up_reason(daemon, "index")


def test_wait_continues_while_the_provider_may_answer(tmp_path: Path, notes: Path) -> None:
    endpoint = Endpoint(tmp_path)
    reached: list[SyncReply] = []
    with running(tmp_path, notes, remote(endpoint.url)) as daemon:
        eventually(lambda: daemon.agent()["embedder"]["state"] == "failed")
        with Client(daemon.socket) as client:
            waiting = threading.Thread(target=lambda: reached.append(client.sync("embedded", timeout_ms=60_000)))
            waiting.start()
            with endpoint:
                waiting.join(90)
                assert reached[0].get("complete"), reached
        assert daemon.agent()["embedded"] == NOTES
