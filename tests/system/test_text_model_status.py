"""The text model of the real daemon: status and doctor, and everything else without it."""

import json
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memoryd.replies.models import TextModelReply
from tests.daemon import RunningDaemon, write_config
from tests.tiny_chat import write_chat_model
from tests.waiting import eventually
from tests.warm.programs import ran

KEY = "sk-verysecret0123456789"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "memory"
    folder.mkdir(parents=True)
    (folder / "2026-01-05.md").write_text("# Day\n\nThe roof was mended.\n")
    return folder.parent


@contextmanager
def daemon(tmp_path: Path, notes: Path, **llm: object) -> Iterator[RunningDaemon]:
    config = write_config(tmp_path, notes, None, memory={"llm": llm})
    config.chmod(stat.S_IRUSR | stat.S_IWUSR)
    with RunningDaemon(tmp_path, config, notes) as running:
        yield running


def text_model(running: RunningDaemon) -> TextModelReply:
    found = running.agent()["llm"]
    assert found is not None
    return found


def doctor(running: RunningDaemon) -> dict[str, str]:
    checks = json.loads(running.memoryctl("doctor", "--json").stdout)["checks"]
    (found,) = [check for check in checks if check["part"] == "text model"]
    return dict(found)


def test_no_text_model_is_configured(tmp_path: Path, notes: Path) -> None:
    with daemon(tmp_path, notes) as running:
        assert running.agent()["llm"] is None
        assert doctor(running)["state"] == "off"


def test_local_model_is_loaded_only_when_needed(tmp_path: Path, notes: Path) -> None:
    pytest.importorskip("llama_cpp")
    model = write_chat_model(tmp_path / "chat.gguf")
    with daemon(tmp_path, notes, provider="local", model="chat.gguf") as running:
        eventually(lambda: text_model(running)["state"] == "ready")
        model_status = text_model(running)
        assert (model_status["provider"], model_status["model"], model_status["destination"]) == (
            "local",
            "Tiny-Chat",
            None,
        )
        assert model_status["worker"] is not None
        assert model_status["worker"]["pid"] is None
        assert running.degraded() == {}
        found = doctor(running)
        assert found["state"] == "ok"
        assert found["message"] == f"Tiny-Chat (llama), 4096 tokens: {model}"


def test_unsuitable_model_file_is_reported_and_search_works(tmp_path: Path, notes: Path, starter_model: Path) -> None:
    pytest.importorskip("llama_cpp")
    with daemon(tmp_path, notes, provider="local", model=str(starter_model)) as running:
        eventually(lambda: "text model" in running.degraded())
        assert "memory.llm.model" in running.degraded()["text model"]
        assert "makes vectors" in text_model(running)["reason"]  # type: ignore[operator]
        running.client().sync(wait="indexed")
        assert running.client().search("roof")["results"]
        found = doctor(running)
        assert found["state"] == "wrong"
        assert "memory.llm.model" in found["hint"]


def test_endpoint_is_named_and_gets_no_request_by_itself(tmp_path: Path, notes: Path) -> None:
    address = "http://127.0.0.1:9/v1"
    with daemon(tmp_path, notes, provider="openai", model="m-1", baseUrl=address, apiKey=KEY) as running:
        eventually(lambda: text_model(running)["state"] == "ready")
        status = text_model(running)
        assert (status["destination"], status["callsToday"], status["callsPerDay"]) == ("127.0.0.1:9", 0, 1000)
        assert status["worker"] is None
        shown = "".join(running.memoryctl(*words).stdout for words in (("status",), ("status", "--json"), ("doctor",)))
        assert "127.0.0.1:9" in shown
        assert "memories and messages are sent there" in shown
        assert KEY not in shown
        assert KEY not in running.log.read_text()


def test_missing_key_is_reported_until_a_start_with_it(tmp_path: Path, notes: Path) -> None:
    file = tmp_path / "key"
    with daemon(tmp_path, notes, provider="openai", model="m-1", apiKey={"file": str(file)}) as running:
        eventually(lambda: "text model" in running.degraded())
        assert str(file) in running.degraded()["text model"]
        assert doctor(running)["state"] == "wrong"
    file.write_text(KEY)
    file.chmod(0o600)
    with daemon(tmp_path, notes, provider="openai", model="m-1", apiKey={"file": str(file)}) as running:
        eventually(lambda: text_model(running)["state"] == "ready")
        assert running.degraded() == {}


@pytest.mark.parametrize("provider", ["local", "openai"])
def test_provider_without_a_model_is_a_configuration_error(tmp_path: Path, notes: Path, provider: str) -> None:
    config = write_config(tmp_path, notes, None, memory={"llm": {"provider": provider}, "backend": "bultin"})
    command = [str(Path(sys.executable).parent / "memoryd"), "--config", str(config)]
    ended = ran(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 78
    assert "memory.llm.model: must name" in ended.stderr
    assert "memory.backend" in ended.stderr
