"""What `memory.llm` needs, what has no effect there, and what others could read."""

import json
from pathlib import Path

import pytest

from memoryd.config.loading.load import Loaded, load
from memoryd.errors import ConfigError


def loaded(folder: Path, *, models: object = None, **llm: object) -> Loaded:
    file = folder / "config.json5"
    file.write_text(json.dumps({"memory": {"llm": llm}, "models": models or {}}))
    file.chmod(0o600)
    return load(file)


def problems(folder: Path, **llm: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        loaded(folder, **llm)
    return caught.value.problems


@pytest.mark.parametrize("provider", ["local", "openai"])
def test_provider_needs_a_model(tmp_path: Path, provider: str) -> None:
    (told,) = problems(tmp_path, provider=provider)
    assert told.startswith("memory.llm.model: must name")
    assert provider in told


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    told = problems(tmp_path, provider="local", maxTokens=16_000, contextSize=8000)
    assert len(told) == 2
    assert told[1] == "memory.llm.maxTokens: must be less than memory.llm.contextSize (8000)"


def test_broken_value_hides_what_rests_on_it(tmp_path: Path) -> None:
    (told,) = problems(tmp_path, provider="local", model=5)
    assert told.startswith("memory.llm.model")
    assert "must name" not in told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provider", "anthropic"),
        ("baseUrl", "127.0.0.1:11434"),
        ("timeoutMs", 10),
        ("maxTokens", 0),
        ("maxCallsPerDay", 0),
        ("threads", 0),
        ("apiKey", 5),
        ("temperature", 1),
    ],
)
def test_wrong_values_are_told_with_their_key(tmp_path: Path, key: str, value: object) -> None:
    told = problems(tmp_path, **{"provider": "openai", "model": "m", key: value})
    assert any(line.startswith(f"memory.llm.{key}") for line in told), told


def test_path_starts_at_the_folder_of_the_file_and_a_name_is_left_alone(tmp_path: Path) -> None:
    local = loaded(tmp_path, provider="local", model="models/chat.gguf").config.memory.llm
    assert local.model == str(tmp_path / "models/chat.gguf")
    assert loaded(tmp_path, provider="local", model="hf:a/b/c.gguf").config.memory.llm.model == "hf:a/b/c.gguf"
    assert loaded(tmp_path, provider="openai", model="qwen/qwen3").config.memory.llm.model == "qwen/qwen3"


def test_keys_of_an_endpoint_have_no_effect_without_one(tmp_path: Path) -> None:
    notices = loaded(tmp_path, baseUrl="https://example.com/v1", apiKey={"env": "NAME"}).notices
    told = 'has no effect while memory.llm.provider is "none"'
    assert f"memory.llm.baseUrl {told}" in notices
    assert f"memory.llm.apiKey {told}" in notices


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("http://models.example.org/v1", True),
        ("https://models.example.org/v1", False),
        ("http://127.0.0.1:11434/v1", False),
        ("http://localhost/v1", False),
    ],
)
def test_memories_in_the_clear_are_told(tmp_path: Path, address: str, is_open: bool) -> None:
    notices = loaded(tmp_path, provider="openai", model="m", baseUrl=address).notices
    assert any("memories, and the key" in notice for notice in notices) == is_open
    entry = {"providers": {"openai": {"baseUrl": address}}}
    notices = loaded(tmp_path, models=entry, provider="openai", model="m").notices
    assert any("memories, and the key" in notice for notice in notices) == is_open
    assert not any("memories, and the key" in notice for notice in loaded(tmp_path, baseUrl=address).notices)


def test_key_in_a_file_that_others_read_is_told(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-1")
    key.chmod(0o644)
    notices = loaded(tmp_path, provider="openai", model="m", apiKey={"file": str(key)}).notices
    assert any(str(key) in notice and "chmod 600" in notice for notice in notices)
