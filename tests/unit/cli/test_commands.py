"""Help, completion and reference match the table of commands, and every command is in it and described."""

import re
from importlib import import_module

import click
import pytest
from click.shell_completion import ShellComplete

from memoryd.cli import overview
from memoryd.cli.main import COMMANDS, memoryctl
from memoryd.daemon.main import main as memoryd
from tests.docs.commands import page, walk
from tests.package_trees import TREES

NAMES = list(COMMANDS)


ALL = dict([*walk(memoryd, "memoryd"), *walk(memoryctl, "memoryctl")])


@pytest.mark.parametrize("name", ALL)
def test_command_and_its_parameters_have_help(name: str) -> None:
    assert (ALL[name].help or "").strip()
    texts = {parameter.name: getattr(parameter, "help", None) or "" for parameter in ALL[name].params}
    assert [parameter for parameter, text in texts.items() if not text.endswith(".")] == []


def test_subcommands_are_walked() -> None:
    assert len(ALL) > 15
    assert "memoryctl models pull" in ALL


def test_help_completion_and_reference_list_the_commands_in_order() -> None:
    context = click.Context(memoryctl, **memoryctl.context_settings)
    assert memoryctl.list_commands(context) == NAMES
    described = memoryctl.get_help(context).partition("Ask:")[2]
    assert re.findall(r"^  (\w+)", described, re.MULTILINE) == NAMES
    assert [line.rpartition("  ")[2] for line in described.splitlines() if line.startswith("  ")] == [
        f"{row.purpose}." for row in COMMANDS.values()
    ], "each on one line"
    assert ["Ask", *re.findall(r"^(\w[\w ]+):$", described, re.MULTILINE)] == list(overview.GROUPS)
    completed = ShellComplete(memoryctl, {}, "memoryctl", "_MEMORYCTL_COMPLETE").get_completions([], "")
    assert [completion.value for completion in completed] == NAMES
    assert re.findall(r"^## memoryctl (\w+)$", page(), re.MULTILINE) == NAMES


def test_unknown_command_suggests_the_nearest_or_that_of_a_group() -> None:
    with pytest.raises(click.UsageError, match=r"No such command 'searhc'\. Did you mean 'search'\?$"):
        memoryctl.main(["searhc", "x"], standalone_mode=False)
    with pytest.raises(click.UsageError, match=r"Did you mean 'service uninstall' or 'hooks uninstall'\?$"):
        memoryctl.main(["uninstall"], standalone_mode=False)
    with pytest.raises(click.UsageError, match=r"No such command 'zzz'\.$"):
        memoryctl.main(["zzz"], standalone_mode=False)


def test_row_and_help_start_with_the_same_verb() -> None:
    assert [row.purpose.split()[0] for row in COMMANDS.values()] == [
        (row.load().help or "").split()[0] for row in COMMANDS.values()
    ]


def test_row_loads_the_command_of_its_name() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert [command.load().name for command in COMMANDS.values()] == NAMES
    assert memoryctl.get_command(click.Context(memoryctl), "nonsense") is None


def test_every_command_is_in_the_table() -> None:
    known = {id(command) for command in ALL.values()}
    modules = [f"memoryd.{file.removesuffix('.py').replace('/', '.')}" for file in TREES if file.startswith("cli/")]
    unlisted = [
        f"{module}:{name}"
        for module in modules
        for name, value in vars(import_module(module)).items()
        if isinstance(value, click.Command) and id(value) not in known
    ]
    assert unlisted == []


@pytest.mark.parametrize(("columns", "width"), [("20", 50), ("60", 58), ("80", 78), ("200", 78), ("9" * 5000, 78)])
def test_overview_is_as_wide_as_the_terminal(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = overview.page().split("\n")
    assert max(map(len, lines[:20])) <= width
    monkeypatch.setenv("COLUMNS", "80")
    assert " ".join(lines).split() == overview.page().split()
