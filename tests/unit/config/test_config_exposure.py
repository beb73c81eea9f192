"""What other people could read: which files, which keys, which addresses."""

from pathlib import Path

import pytest

from memoryd.config.loading.exposure import exposures
from memoryd.config.root import Config


def told(config: dict[str, object], source: Path | None = None) -> list[str]:
    return [str(one) for one in exposures(Config.model_validate(config), source)]


def searching(**search: object) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": search}}}


@pytest.mark.parametrize(
    ("mode", "what"),
    [(0o666, "changed"), (0o620, "changed"), (0o644, "read"), (0o640, "read"), (0o600, ""), (0o400, "")],
)
@pytest.mark.parametrize("place", ["remote", "header", "provider"])
def test_key_file_that_is_open_to_others_is_told(tmp_path: Path, mode: int, what: str, place: str) -> None:
    key = tmp_path / "key"
    key.write_text("sk-1")
    key.chmod(mode)
    reference = {"file": str(key)}
    config: dict[str, object] = {
        "remote": searching(remote={"apiKey": reference}),
        "header": searching(remote={"headers": {"Authorization": reference}}),
        "provider": {"models": {"providers": {"openai": {"apiKey": reference}}}},
    }[place]  # type: ignore[assignment]
    expected = [f"the key in {key} can be {what} by other users: chmod 600 {key}"] if what else []
    assert told(config) == expected


@pytest.mark.parametrize(
    ("key", "mode", "is_told"),
    [("sk-1", 0o644, True), ("sk-1", 0o600, False), ({"env": "A"}, 0o644, False), (None, 0o644, False)],
)
def test_plain_key_in_a_file_that_others_read_is_told(tmp_path: Path, key: object, mode: int, is_told: bool) -> None:
    source = tmp_path / "config.json5"
    source.write_text("{}")
    source.chmod(mode)
    found = told(searching(remote={"apiKey": key} if key else {}), source)
    assert [line for line in found if f"chmod 600 {source}" in line] == (found if is_told else [])
    assert "sk-1" not in str(found)
    assert bool(found) == is_told


@pytest.mark.parametrize(
    ("address", "is_told"),
    [
        ("http://models.example.org/v1", True),
        ("http://192.168.1.5:11434", True),
        ("https://models.example.org/v1", False),
        ("http://localhost:11434", False),
        ("http://gpu.localhost", False),
        ("http://127.0.0.2:8080", False),
        ("http://[::1]:8080", False),
    ],
)
@pytest.mark.parametrize("place", ["remote", "entry", "fallback"])
def test_notes_that_leave_in_the_clear_are_told(address: str, is_told: bool, place: str) -> None:
    entry = {"models": {"providers": {"ollama": {"baseUrl": address}, "openai": {"baseUrl": "http://unused.example"}}}}
    config = {
        "remote": searching(provider="openai", remote={"baseUrl": address}),
        "entry": searching(provider="ollama") | entry,
        "fallback": searching(provider="local", fallback="ollama") | entry,
    }[place]
    found = told(config)
    assert bool(found) == is_told
    assert all(
        "notes of agent main, and the key, if there is one, go to" in line and "https://" in line for line in found
    )


def test_address_that_nobody_uses_is_not_told() -> None:
    config = searching(provider="none", remote={"baseUrl": "http://models.example.org"})
    assert told(config | {"models": {"providers": {"openai": {"baseUrl": "http://unused.example"}}}}) == []


def test_default_configuration_exposes_nothing() -> None:
    assert told({}) == []
