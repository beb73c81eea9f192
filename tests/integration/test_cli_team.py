"""memoryctl team with a fake server: what is written into the configuration, and what is printed."""

import json
from pathlib import Path

import pytest

from memoryd.cli.local import team_server
from memoryd.cli.main import run
from memoryd.wire import Exit

SERVER = "postgresql://ana@h/memory"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.json5"
    path.write_text("{}")
    monkeypatch.setenv("MEMORYD_CONFIG", str(path))
    monkeypatch.setattr(team_server, "check_server", lambda _server, _name: "ana")
    monkeypatch.setattr(team_server, "begin", lambda _server, _name: None)
    monkeypatch.setattr(team_server, "roles", lambda _server, _name: {})
    monkeypatch.setattr(team_server, "set_role", lambda *_values: False)
    return path


def test_second_team_of_a_server_is_refused(config: Path, capsys: Captured) -> None:
    assert run(["team", "join", SERVER, "--name", "one"]) == Exit.DONE
    written = config.read_text()
    assert json.loads(written)["team"]["name"] == "one"
    assert run(["team", "join", SERVER, "--name", "two"]) == Exit.ERROR
    assert "you are in team one already" in capsys.readouterr().err
    assert config.read_text() == written
    # copies of previous files are named by the second: make room for the next
    for kept in config.parent.glob("config.json5?*"):
        kept.unlink()
    assert run(["team", "join", SERVER, "--name", "One"]) == Exit.DONE


@pytest.mark.parametrize("server", ["postgresql://h/memory", "postgresql://ana:p@ss@h/memory"])
def test_join_command_for_members_has_server_address(config: Path, capsys: Captured, server: str) -> None:
    assert run(["team", "init", server, "--name", "one", "--member", "ben"]) == Exit.DONE
    assert "memoryctl team join postgresql://ben@h/memory --name one" in capsys.readouterr().err
