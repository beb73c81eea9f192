"""Problems and notices of the section `memory.llm`."""

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
    (found,) = problems(tmp_path, provider=provider)
    assert found.startswith("memory.llm.model: must name")
    assert provider in found


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    found = problems(tmp_path, provider="local", maxTokens=16_000, contextSize=8000)
    assert len(found) == 2
    assert found[1] == "memory.llm.maxTokens: must be less than memory.llm.contextSize (8000)"


def test_invalid_value_hides_problems_that_depend_on_it(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, provider="local", model=5)
    assert found.startswith("memory.llm.model")
    assert "must name" not in found


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
def test_wrong_value_is_reported_with_its_key(tmp_path: Path, key: str, value: object) -> None:
    found = problems(tmp_path, **{"provider": "openai", "model": "m", key: value})
    assert any(line.startswith(f"memory.llm.{key}") for line in found), found


def test_local_path_is_relative_to_the_file_and_a_name_is_kept(tmp_path: Path) -> None:
    local = loaded(tmp_path, provider="local", model="models/chat.gguf").config.memory.llm
    assert local.model == str(tmp_path / "models/chat.gguf")
    assert loaded(tmp_path, provider="local", model="hf:a/b/c.gguf").config.memory.llm.model == "hf:a/b/c.gguf"
    assert loaded(tmp_path, provider="openai", model="qwen/qwen3").config.memory.llm.model == "qwen/qwen3"


def test_endpoint_keys_have_no_effect_without_a_provider(tmp_path: Path) -> None:
    notices = loaded(tmp_path, baseUrl="https://example.com/v1", apiKey={"env": "NAME"}).notices
    found = 'has no effect while memory.llm.provider is "none"'
    assert f"memory.llm.baseUrl {found}" in notices
    assert f"memory.llm.apiKey {found}" in notices


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("http://models.example.org/v1", True),
        ("https://models.example.org/v1", False),
        ("http://127.0.0.1:11434/v1", False),
        ("http://localhost/v1", False),
    ],
)
def test_memories_sent_unencrypted_are_noticed(tmp_path: Path, address: str, is_open: bool) -> None:
    notices = loaded(tmp_path, provider="openai", model="m", baseUrl=address).notices
    assert any("memories, and the key" in notice for notice in notices) == is_open
    entry = {"providers": {"openai": {"baseUrl": address}}}
    notices = loaded(tmp_path, models=entry, provider="openai", model="m").notices
    assert any("memories, and the key" in notice for notice in notices) == is_open
    assert not any("memories, and the key" in notice for notice in loaded(tmp_path, baseUrl=address).notices)


def test_readable_key_file_is_noticed(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-1")
    key.chmod(0o644)
    notices = loaded(tmp_path, provider="openai", model="m", apiKey={"file": str(key)}).notices
    assert any(str(key) in notice and "chmod 600" in notice for notice in notices)
