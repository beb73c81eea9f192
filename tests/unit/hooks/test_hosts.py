"""Wherever hosts of hooks are named, these are the rows of the table; and a hook loads as little as it can."""

import ast
import sys
from pathlib import Path

import click
import pytest

from memoryd.cli.local.hooks import hooks_command
from memoryd.cli.local.init import next_steps
from memoryd.hooks.hosts import DEFAULT, HOSTS
from tests.package_trees import TREES

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "agents.md").read_text(encoding="utf-8")


def choices(command: str, argument: str) -> tuple[str, ...]:
    (found,) = (one for one in hooks_command.commands[command].params if one.name == argument)
    assert isinstance(found.type, click.Choice)
    return tuple(found.type.choices)


def test_commands_know_every_host_and_no_other() -> None:
    for command in ("install", "remove", "status"):
        assert choices(command, "program") == tuple(HOSTS)
    assert choices("run", "event") == tuple(DEFAULT.events)


def test_page_names_each_host_with_its_settings_and_session_key() -> None:
    for host in HOSTS.values():
        assert f"\n## {host.title}\n" in PAGE
        assert f"memoryctl hooks install {host.name}" in PAGE
        assert f"memoryctl hooks remove {host.name}" in PAGE
        assert f"`DIR/{host.project}`" in PAGE
        assert f":{host.name}:direct:" in PAGE


def test_programs_that_are_here_are_offered_their_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    steps = dict(next_steps(is_started=True))
    for host in HOSTS.values():
        assert f"memoryctl hooks install {host.name}" not in steps
        (tmp_path / host.folder).mkdir()
    steps = dict(next_steps(is_started=True))
    assert {name for name in HOSTS if f"memoryctl hooks install {name}" in steps} == HOSTS.keys()


def test_each_host_has_a_prompt_among_its_moments() -> None:
    for host in HOSTS.values():
        assert "prompt" in host.events.values()
        assert len(set(host.events.values())) == len(host.events)


def test_hook_loads_the_standard_library_and_its_own_room_only() -> None:
    trees = [tree for module, tree in TREES.items() if module.startswith("hooks/")]
    found = [node for tree in trees for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {str(getattr(node, "module", node.names[0].name)) for node in found}
    ours = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    assert {name for name in ours if not name.startswith("memoryd.hooks.")} == set()
