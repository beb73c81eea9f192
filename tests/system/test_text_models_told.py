"""The text model of the real daemon: what status and doctor tell of it, and that all else goes on without."""

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


def said(running: RunningDaemon, *arguments: str) -> str:
    command = [str(Path(sys.executable).parent / "memoryctl"), *arguments]
    return ran(command, env=running.env, capture_output=True, text=True, check=False).stdout


def doctor(running: RunningDaemon) -> dict[str, str]:
    (found,) = [
        check for check in json.loads(said(running, "doctor", "--json"))["checks"] if check["part"] == "text model"
    ]
    return dict(found)


def test_without_one_there_is_none(tmp_path: Path, notes: Path) -> None:
    with daemon(tmp_path, notes) as running:
        assert running.agent()["llm"] is None
        assert doctor(running)["state"] == "off"


def test_local_model_is_there_and_loaded_when_asked_only(tmp_path: Path, notes: Path) -> None:
    pytest.importorskip("llama_cpp")
    model = write_chat_model(tmp_path / "chat.gguf")
    with daemon(tmp_path, notes, provider="local", model="chat.gguf") as running:
        eventually(lambda: text_model(running)["state"] == "ready")
        told = text_model(running)
        assert (told["provider"], told["model"], told["destination"]) == ("local", "Tiny-Chat", None)
        assert told["worker"] is not None
        assert told["worker"]["pid"] is None
        assert running.degraded() == {}
        found = doctor(running)
        assert found["state"] == "ok"
        assert found["message"] == f"Tiny-Chat (llama), 4096 tokens: {model}"


def test_file_that_does_not_write_is_told_with_the_key_and_search_goes_on(
    tmp_path: Path, notes: Path, starter_model: Path
) -> None:
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


def test_endpoint_is_named_and_asked_nothing_by_itself(tmp_path: Path, notes: Path) -> None:
    address = "http://127.0.0.1:9/v1"
    with daemon(tmp_path, notes, provider="openai", model="m-1", baseUrl=address, apiKey=KEY) as running:
        eventually(lambda: text_model(running)["state"] == "ready")
        told = text_model(running)
        assert (told["destination"], told["callsToday"], told["callsPerDay"]) == ("127.0.0.1:9", 0, 1000)
        assert told["worker"] is None
        shown = said(running, "status") + said(running, "status", "--json") + said(running, "doctor")
        assert "127.0.0.1:9" in shown
        assert "memories and messages are sent there" in shown
        assert KEY not in shown
        assert KEY not in running.log.read_text()


def test_missing_key_degrades_and_is_mended_by_the_next_start(tmp_path: Path, notes: Path) -> None:
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
def test_provider_without_a_model_is_a_problem_of_the_configuration(tmp_path: Path, notes: Path, provider: str) -> None:
    config = write_config(tmp_path, notes, None, memory={"llm": {"provider": provider}, "backend": "bultin"})
    command = [str(Path(sys.executable).parent / "memoryd"), "--config", str(config)]
    ended = ran(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 78
    assert "memory.llm.model: must name" in ended.stderr
    assert "memory.backend" in ended.stderr
