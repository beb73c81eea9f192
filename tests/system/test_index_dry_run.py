"""`memoryctl index`: reports what it would send, with and without a daemon; and the checks of `doctor`."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import memoryd
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.domain.text.tokens import estimate
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint

SOURCE = Path(memoryd.__file__).parents[1]
KEY = "sk-secret-of-the-test-4711"


@pytest.fixture
def stopped(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> RunningDaemon:
    """Return a configured daemon that does not run."""
    search = {
        "provider": "openai",
        "model": "test-model",
        "remote": {"baseUrl": endpoint.url, "apiKey": KEY},
        "sync": {"paused": True},
    }
    return RunningDaemon(tmp_path, write_config(tmp_path, workspace, None, search=search), workspace)


def memoryctl(daemon: RunningDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    result = daemon.memoryctl(*arguments, HOME=os.environ["HOME"])
    assert KEY not in result.stdout + result.stderr
    return result


def dry_run(daemon: RunningDaemon) -> dict[str, Any]:
    result = memoryctl(daemon, "index", "--dry-run", "--json")
    assert result.returncode == Exit.DONE, result.stderr
    agents: list[dict[str, Any]] = json.loads(result.stdout)["agents"]
    return agents[0]


def counted(workspace: Path) -> tuple[int, int, int]:
    """Count files, distinct passages and their tokens by the rules alone."""
    passages: dict[bytes, int] = {}
    files = sorted(workspace.rglob("*.md"))
    for file in files:
        for chunk in chunk_entries(file.read_text(), ChunkSettings(400, 80)):
            for passage in chunk.passages:
                text = chunk.text[passage.start : passage.stop]
                passages[passage.hash] = estimate(chunk.heading) + estimate(text)
    return len(files), len(passages), sum(passages.values())


def test_dry_run_without_daemon_counts_on_disk(stopped: RunningDaemon, workspace: Path, endpoint: Endpoint) -> None:
    files, passages, tokens = counted(workspace)
    assert dry_run(stopped) == {
        "id": "main",
        "provider": "openai",
        "rule": "memorySearch.provider names openai",
        "destination": f"127.0.0.1:{endpoint.port}",
        "model": "test-model",
        "files": files,
        "passages": passages,
        "tokens": tokens,
        "media": 0,
        "mediaBytes": 0,
        "conversations": None,
        "paused": True,
    }
    result = memoryctl(stopped, "index", "--dry-run")
    assert f"would send 3 files, {passages} passages, about {tokens:,} tokens to 127.0.0.1:" in result.stdout
    assert "memorySearch.sync.paused" in result.stdout
    assert "not running" in result.stderr
    assert not endpoint.requests()


def test_daemon_reports_the_same_and_sends_only_on_request(
    stopped: RunningDaemon, workspace: Path, endpoint: Endpoint
) -> None:
    on_disk = dry_run(stopped)
    with stopped as daemon:
        assert dry_run(daemon) == on_disk
        assert not [text for text in endpoint.texts() if "\n" in text], "a dry run sends no note"
        result = memoryctl(daemon, "index")
        assert result.returncode == Exit.DONE, result.stdout + result.stderr
        assert result.stdout == "indexed and embedded\n"
        assert "gateway" in "".join(endpoint.texts())
        after = dry_run(daemon)
        assert (after["files"], after["passages"], after["tokens"]) == (0, 0, 0)
        shown = memoryctl(daemon, "index", "--dry-run").stdout
        assert "nothing to send to 127.0.0.1:" in shown


def test_local_model_sends_nothing(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    daemon = RunningDaemon(tmp_path, write_config(tmp_path, workspace, starter_model), workspace)
    assert "nothing leaves the machine" in memoryctl(daemon, "index", "--dry-run").stdout
    assert dry_run(daemon)["destination"] is None


def doctor(daemon: RunningDaemon) -> list[dict[str, str]]:
    result = memoryctl(daemon, "doctor", "--json")
    checks: list[dict[str, str]] = json.loads(result.stdout)["checks"]
    assert (result.returncode == Exit.ERROR) == any(check["state"] == "wrong" for check in checks)
    return checks


def test_doctor_tests_the_provider_and_sends_no_note(stopped: RunningDaemon, endpoint: Endpoint) -> None:
    checks = {check["part"]: check for check in doctor(stopped)}
    assert checks["embeddings"]["message"] == "memorySearch.provider names openai"
    assert checks["provider"]["state"] == "ok"
    assert "test-model, 64 dimensions" in checks["provider"]["message"]
    # the endpoint knows only words, so it must fail the test with paraphrases
    assert checks["provider sense"]["state"] == "wrong"
    assert "memorySearch.model" in checks["provider sense"]["hint"]
    assert "alder" not in "".join(endpoint.texts())


def test_doctor_gives_a_hint_when_the_provider_is_down(stopped: RunningDaemon, endpoint: Endpoint) -> None:
    endpoint.kill()
    checks = {check["part"]: check for check in doctor(stopped)}
    assert checks["provider"]["state"] == "wrong"
    assert str(endpoint.port) in checks["provider"]["message"]
    assert "remote.baseUrl" in checks["provider"]["hint"]


def test_doctor_names_where_a_missing_key_belongs(tmp_path: Path, workspace: Path) -> None:
    config = write_config(tmp_path, workspace, None, search={"provider": "mistral"})
    checks = {check["part"]: check for check in doctor(RunningDaemon(tmp_path, config, workspace))}
    assert checks["provider"]["state"] == "wrong"
    assert "there is no key for mistral" in checks["provider"]["message"]
    assert "MISTRAL_API_KEY" in checks["provider"]["hint"]
