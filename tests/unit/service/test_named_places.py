"""Hardening hides no path of the configuration: every key is tried with a path below /tmp."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from memoryd.config.root import Config
from memoryd.config.section import Section
from memoryd.service.installing import installation_of, program_paths
from memoryd.service.needs import link_steps, needs_of
from memoryd.service.steps import unit_template
from memoryd.service.systemd import hardening_drop_in

PROBE = "/tmp/probe/one"
SPELLINGS: tuple[object, ...] = (PROBE, {"file": PROBE}, [PROBE], {"X-Key": {"file": PROBE}})
REQUIRED = {"id": "one", "path": "/x", "agent": "main"}
ON: dict[str, Any] = {
    "http": {"enabled": True},
    "team": {"remote": "git@host.example:acme", "name": "acme", "person": "ana"},
    "memory": {"backend": "qmd", "qmd": {"sessions": {"enabled": True}}},
}
"""Features that are off by default and write somewhere."""
WRITTEN = {
    "workspace": "/tmp/probe/one",
    "sockets.path": "/tmp/probe",
    "store.path": "/tmp/probe",
    "local.modelCacheDir": "/tmp/probe/one",
    "sessions.exportDir": "/tmp/probe/one",
    "http.tokenFile": "/tmp/probe",
    "team.remote": "/tmp/probe/one",
    "team.checkout": "/tmp/probe/one",
}
"""Endings of keys that name a written path, and the folder that must stay writable."""
READ = (
    *("extraPaths", "paths.path", "extraCollections.path", "folders.path", "embedder.local.model_dir"),
    *("local.modelPath", "rerank.modelPath", "llm.model", "vector.extensionPath", "qmd.command"),
    *("apiKey", "headers", "machines.secret"),
)
PATTERNS = ("memorySearch.exclude", "team.share")
PLAIN = (
    *("name", "memorySearch.model", "embedder.remote.model", "inputType", "queryInputType", "documentInputType"),
    *("queryInstruction", "query_instruction", "documentInstruction", "pattern", "serverName", "searchTool"),
    *("qa.interests", "match.keyPrefix", "match.rawKeyPrefix", "folders.agent", "providers.baseUrl", "team.agent"),
)
"""Texts that may look like a path: they cost some hardening and break nothing."""
KeyPath = tuple[str, ...]


def sections_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the sections in a type, alone, in a list or by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from sections_in(part)


def keys_of(section: type[BaseModel], key_path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the path of every key that is no section."""
    for name, field in section.model_fields.items():
        here = (*key_path, field.alias or name)
        inner = list(sections_in(field.annotation))
        for below in inner:
            yield from keys_of(below, here)
        if not inner:
            yield here


def nested(section: type[BaseModel], key_path: KeyPath, value: object) -> dict[str, Any]:
    """Return the smallest configuration in which a key has a value."""
    name, *rest = key_path
    fields = {field.alias or key: field for key, field in section.model_fields.items()}
    if not rest:
        written = value
    else:
        inner = next(sections_in(fields[name].annotation))
        written = nested(inner, tuple(rest), value)
        origin = str(fields[name].annotation)
        written = (
            [written] if origin.startswith("tuple") else {"openai": written} if origin.startswith("dict") else written
        )
    needed = {key: REQUIRED[key] for key, field in fields.items() if field.is_required() and key in REQUIRED}
    return {**needed, name: written}


def merged(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {key: merged(base[key], other[key]) for key in base.keys() & other.keys() if isinstance(base[key], dict)}
    return {**base, **other, **both}


@cache
def with_places() -> tuple[tuple[str, Config], ...]:
    """Return each key that accepts a path in some form, with a configuration that sets it."""
    found = []
    for key_path, value in product(keys_of(Config), SPELLINGS):
        with suppress(ValidationError):
            found.append((".".join(key_path), Config.model_validate(merged(ON, nested(Config, key_path, value)))))
    return tuple(found)


def ends_with_any(key: str, ends: Iterable[str]) -> bool:
    return any(key == end or key.endswith(f".{end}") for end in ends)


@pytest.fixture
def home_outside_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home outside /tmp."""
    monkeypatch.setenv("HOME", "/home/ada")
    for name in ("XDG_RUNTIME_DIR", "MEMORYD_SOCKET"):
        monkeypatch.setenv(name, "/run/user/7/memoryd.sock")


def test_no_path_of_any_key_is_hidden(home_outside_tmp: None) -> None:
    assert needs_of(Config.model_validate(ON), has_gpu=False).temporary == ""
    tried = dict(with_places())
    assert len(tried) > 40
    # a key may accept other forms too: the text of a secret is no path
    seen = {key for key, config in with_places() if needs_of(config, has_gpu=False).temporary}
    assert [key for key in tried if key not in seen and not ends_with_any(key, (*PATTERNS, *PLAIN))] == []


def test_every_key_that_accepts_a_path_is_listed(home_outside_tmp: None) -> None:
    """A new key that may be a path must be added to one of the lists above."""
    unknown = {key for key, _ in with_places() if not ends_with_any(key, (*WRITTEN, *READ, *PATTERNS, *PLAIN))}
    assert unknown == set()


def test_written_paths_stay_writable(home_outside_tmp: None) -> None:
    seen = set()
    for key, config in with_places():
        for end, folder in WRITTEN.items():
            if ends_with_any(key, [end]):
                seen.add(end)
                assert Path(folder) in needs_of(config, has_gpu=False).writable, key
    assert seen == set(WRITTEN)


def test_paths_of_variables_are_not_hidden(home_outside_tmp: None, tmp_path: Path) -> None:
    given = {"HF_HOME": "/tmp/hf", "PATH": "/usr/bin"}
    found = installation_of(Config(), None, given, is_hardened=True).needs.readable
    assert Path("/tmp/hf") in found


def test_program_below_tmp_is_not_hidden(
    home_outside_tmp: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """systemd would fail with 203/EXEC."""
    monkeypatch.setattr("memoryd.service.installing.daemon_command", lambda: ("/tmp/v/bin/memoryd",))
    found = installation_of(Config(), None, {"PATH": "/usr/bin"}, is_hardened=True).needs
    assert {*program_paths("/tmp/v/bin/memoryd")} <= set(found.readable)
    text = hardening_drop_in(unit_template("systemd/hardening.conf"), found)
    assert "left out, for" in text
    assert "\nPrivateTmp=yes" not in text


def test_qmd_behind_a_link_is_not_hidden(home_outside_tmp: None, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "real").write_text("#!/bin/sh\n")
    (tmp_path / "real").chmod(0o755)
    (tmp_path / "bin" / "qmd").symlink_to("../real")
    found = installation_of(Config.model_validate(ON), None, {"PATH": f"{tmp_path}/bin"}, is_hardened=True)
    assert {tmp_path / "bin" / "qmd", tmp_path / "real"} <= set(found.needs.readable)
    assert found.folders == (f"{tmp_path}/bin",)


def test_link_steps_include_every_intermediate_path(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "b").symlink_to("c")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    assert list(link_steps(tmp_path / "a" / "x")) == [tmp_path / name / "x" for name in "abc"]
    (tmp_path / "round").symlink_to("round")
    assert set(link_steps(tmp_path / "round")) == {tmp_path / "round"}


def test_sections_are_found_in_the_configuration() -> None:
    inner = {section for field in Config.model_fields.values() for section in sections_in(field.annotation)}
    assert inner
    assert all(issubclass(section, Section) for section in inner)
