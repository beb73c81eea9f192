"""Every list of hosts of hooks has exactly the rows of the table; a hook imports only the standard library."""

import ast
import re
import sys
from pathlib import Path

import click
import pytest

from memoryd.cli.local.hooks import hooks_command
from memoryd.cli.local.init import next_steps
from memoryd.hooks.hosts import DEFAULT, HOSTS, Host
from tests.package_trees import TREES

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "agents.md").read_text(encoding="utf-8")


def choices(command: str, argument: str) -> tuple[str, ...]:
    (found,) = (param for param in hooks_command.commands[command].params if param.name == argument)
    assert isinstance(found.type, click.Choice)
    return tuple(found.type.choices)


def test_commands_accept_exactly_the_hosts() -> None:
    for command in ("install", "uninstall"):
        assert choices(command, "program") == tuple(HOSTS)
    assert choices("run", "event") == tuple(DEFAULT.events)


def table_row(host: Host) -> str:
    """Return the row of a host in the page."""
    files = f"`~/{host.folder}/{host.settings}`" + (f", `DIR/{host.project}`" if host.project else "")
    read, not_read = (
        " · ".join(
            moment.replace("_", " ") for moment in host.events.values() if (moment in host.read_moments) is is_read
        )
        for is_read in (True, False)
    )
    return (
        f"| [{host.title}]({host.source}) | `{host.name}` | {files} | {read} | {not_read} | {' '.join(host.cannot)} |"
    )


def test_page_has_exactly_the_rows_of_the_hosts() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| [")]
    assert rows == [table_row(host) for host in HOSTS.values()]
    for host in HOSTS.values():
        assert host.instructions in PAGE
    assert set(HOSTS) <= set(re.findall(r"`([a-z-]+)`", PAGE))


def test_installed_programs_are_offered_their_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    steps = dict(next_steps(is_started=True))
    for host in HOSTS.values():
        assert f"memoryctl hooks install {host.name}" not in steps
        (tmp_path / host.folder).mkdir(parents=True)
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


KINDS = {"str": str, "int": int, "float": float, "bool": bool}


def test_rows_have_known_columns_of_the_declared_type() -> None:
    for host in HOSTS.values():
        assert vars(host).keys() <= Host.__annotations__.keys()
        for name, kind in Host.__annotations__.items():
            value = getattr(host, name)
            assert isinstance(value, KINDS.get(str(getattr(kind, "__name__", kind)), object)), (host.name, name)
        assert set(host.fields or {}) <= {"session", "answer", "error", "transcript"}
        assert all(sentence.endswith((".", "true", "restart", "set")) for sentence in (*host.cannot, *host.then))
        assert host.source.startswith("https://")
