"""What is made of the table of commands has its rows, and no command stands outside of it."""

import re
from collections.abc import Iterator
from importlib import import_module

import click
import pytest
from click.shell_completion import ShellComplete

from memoryd.cli import overview
from memoryd.cli.main import COMMANDS, memoryctl
from tests.docs.commands import page
from tests.package_trees import TREES

NAMES = list(COMMANDS)


def with_those_below(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from with_those_below(below)


def test_help_completion_and_reference_have_the_rows_in_their_order() -> None:
    context = click.Context(memoryctl, **memoryctl.context_settings)
    assert memoryctl.list_commands(context) == NAMES
    described = memoryctl.get_help(context).partition("Ask:")[2]
    assert re.findall(r"^  (\w+)", described, re.MULTILINE) == NAMES
    assert [line.rpartition("  ")[2] for line in described.splitlines() if line.startswith("  ")] == [
        f"{row.purpose}." for row in COMMANDS.values()
    ], "each on one line"
    assert ["Ask", *re.findall(r"^(\w[\w ]+):$", described, re.MULTILINE)] == list(overview.GROUPS)
    completed = ShellComplete(memoryctl, {}, "memoryctl", "_MEMORYCTL_COMPLETE").get_completions([], "")
    assert [one.value for one in completed] == NAMES
    assert re.findall(r"^## memoryctl (\w+)$", page(), re.MULTILINE) == NAMES


def test_misspelt_command_is_told_the_nearest() -> None:
    with pytest.raises(click.UsageError, match=r"No such command 'searhc'\. Did you mean 'search'\?$"):
        memoryctl.main(["searhc", "x"], standalone_mode=False)
    with pytest.raises(click.UsageError, match=r"No such command 'zzz'\.$"):
        memoryctl.main(["zzz"], standalone_mode=False)


def test_row_says_what_the_command_says_of_itself() -> None:
    assert [row.purpose.split()[0] for row in COMMANDS.values()] == [
        (row.load().help or "").split()[0] for row in COMMANDS.values()
    ]


def test_row_leads_to_the_command_of_its_name() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert [command.load().name for command in COMMANDS.values()] == NAMES
    assert memoryctl.get_command(click.Context(memoryctl), "nonsense") is None


def test_no_command_stands_outside_of_the_table() -> None:
    known = {id(one) for row in COMMANDS.values() for one in with_those_below(row.load())}
    modules = [f"memoryd.{file.removesuffix('.py').replace('/', '.')}" for file in TREES if file.startswith("cli/")]
    outside = [
        f"{module}:{name}"
        for module in modules
        for name, one in vars(import_module(module)).items()
        if isinstance(one, click.Command) and one is not memoryctl and id(one) not in known
    ]
    assert outside == []


@pytest.mark.parametrize(("columns", "width"), [("20", 50), ("60", 58), ("80", 78), ("200", 78), ("9" * 5000, 78)])
def test_overview_is_as_wide_as_the_terminal(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = overview.page().split("\n")
    assert max(map(len, lines[:20])) <= width
    monkeypatch.setenv("COLUMNS", "80")
    assert " ".join(lines).split() == overview.page().split()
