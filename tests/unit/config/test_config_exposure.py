"""Warnings about files, keys and addresses that other people could read."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memoryd.config.loading.exposure import exposures
from memoryd.config.loading.keys import secret_paths
from memoryd.config.loading.load import load
from memoryd.config.root import Config
from memoryd.config.section import Section, subclasses
from memoryd.config.team import without_credentials

SECRETS = pytest.mark.parametrize("path", secret_paths(Config), ids=".".join)
"""Each path of a secret."""


def warnings_of(config: dict[str, object], source: Path | None = None) -> list[str]:
    return [str(exposure) for exposure in exposures(Config.model_validate(config), source)]


def with_search(**search: object) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": search}}}


def written_at(path: Sequence[str], value: object) -> Any:
    """Return a configuration with a value at a path of `secret_paths`."""
    if not path:
        return value
    below = written_at(path[1:], value)
    if path[0] == "list":
        below = [{"id": "one", **below}]
    return {"openai" if path[0] == "*" else path[0]: below}


def test_every_field_of_a_secret_type_is_a_secret_path() -> None:
    fields = (pair for kind in subclasses(Section) for pair in kind.model_fields.items())
    written = {field.alias or name for name, field in fields if "Secret" in repr(field)}
    assert {next(name for name in reversed(path) if name != "*") for path in secret_paths(Config)} == written


@pytest.mark.parametrize(
    ("mode", "what"),
    [(0o666, "changed"), (0o620, "changed"), (0o644, "read"), (0o640, "read"), (0o600, ""), (0o400, "")],
)
@SECRETS
def test_key_file_open_to_others_is_reported(tmp_path: Path, mode: int, what: str, path: Sequence[str]) -> None:
    key = tmp_path / "key"
    key.write_text("sk-1")
    key.chmod(mode)
    expected = [f"the key in {key} can be {what} by other users: chmod 600 {key}"] if what else []
    assert warnings_of(written_at(path, {"file": str(key)})) == expected


def test_suggested_command_quotes_the_path(tmp_path: Path) -> None:
    folder = tmp_path / "my keys; it's"
    folder.mkdir()
    key, source = folder / "key", folder / "config.json5"
    for file in (key, source):
        file.write_text("{}")
        file.chmod(0o666)
    place = ("models", "providers", "openai", "apiKey")
    found = [*warnings_of(written_at(place, {"file": str(key)})), *warnings_of(written_at(place, "sk-1"), source)]
    commands = [warning.partition("users: ")[2].partition(", or")[0] for warning in (*found, *load(source).notices)]
    assert [shlex.split(command)[2] for command in commands] == [str(key), str(source), str(source)]


@pytest.mark.parametrize(
    ("key", "mode", "is_reported"),
    [("sk-1", 0o644, True), ("sk-1", 0o600, False), ({"env": "A"}, 0o644, False), (None, 0o644, False)],
)
@SECRETS
def test_plain_key_in_a_readable_file_is_reported(
    tmp_path: Path, key: object, mode: int, is_reported: bool, path: Sequence[str]
) -> None:
    source = tmp_path / "config.json5"
    source.write_text("{}")
    source.chmod(mode)
    found = warnings_of(written_at(path, key) if key else {}, source)
    place = ".".join(path).replace("*", "openai").replace("list", "list[0]")
    assert [line for line in found if f"chmod 600 {source}" in line and place in line] == (found if is_reported else [])
    assert "sk-1" not in str(found)
    assert bool(found) == is_reported


@pytest.mark.parametrize(
    ("address", "is_reported"),
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
def test_notes_sent_unencrypted_are_reported(address: str, is_reported: bool, place: str) -> None:
    entry = {"models": {"providers": {"ollama": {"baseUrl": address}, "openai": {"baseUrl": "http://unused.example"}}}}
    config = {
        "remote": with_search(provider="openai", remote={"baseUrl": address}),
        "entry": with_search(provider="ollama") | entry,
        "fallback": with_search(provider="local", fallback="ollama") | entry,
    }[place]
    found = warnings_of(config)
    assert bool(found) == is_reported
    assert all(
        "notes of agent main, and the key, if there is one, go to" in line and "https://" in line for line in found
    )


def test_unused_address_is_not_reported() -> None:
    config = with_search(provider="none", remote={"baseUrl": "http://models.example.org"})
    assert warnings_of(config | {"models": {"providers": {"openai": {"baseUrl": "http://unused.example"}}}}) == []


def test_default_configuration_exposes_nothing() -> None:
    assert warnings_of({}) == []


@pytest.mark.parametrize(
    ("remote", "shown"),
    [
        ("https://ghp_abc@git.example/x.git", "https://***@git.example/x.git"),
        ("postgresql://ada:a/b@host/memory", "postgresql://ada:***@host/memory"),
        (
            "postgresql://ada@host/memory?sslmode=require&password=pw",
            "postgresql://ada@host/memory?sslmode=require&password=***",
        ),
        ("postgresql://ada@host:5432/memory?sslmode=verify-full", None),
        ("ssh://git@host:22/acme@home.git", None),
        ("git@host:acme/memory.git", None),
        ("/shared/acme.git", None),
    ],
)
def test_credentials_in_the_team_address_are_reported_and_hidden(
    tmp_path: Path, remote: str, shown: str | None
) -> None:
    source = tmp_path / "config.json5"
    source.write_text("{}")
    source.chmod(0o644)
    found = warnings_of({"team": {"remote": remote, "name": "acme", "person": "ada"}}, source)
    assert without_credentials(remote) == (shown or remote)
    assert [f"chmod 600 {source}" in warning and "(team.remote)" in warning for warning in found] == [True] * (
        shown is not None
    )
    assert remote not in str(found)
