"""Every command, option and argument says what it is for, so that the reference can be made of it."""

from collections.abc import Iterator

import click
import pytest

from memoryd.cli.main import memoryctl
from memoryd.daemon.main import main as memoryd


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from commands(found, f"{name} {below}")


ALL = dict([*commands(memoryd, "memoryd"), *commands(memoryctl, "memoryctl")])


@pytest.mark.parametrize("name", ALL)
def test_command_and_each_of_its_parameters_has_a_sentence(name: str) -> None:
    assert (ALL[name].help or "").strip()
    said = {one.name: getattr(one, "help", None) or "" for one in ALL[name].params}
    assert [parameter for parameter, text in said.items() if not text.endswith(".")] == []


def test_there_are_commands() -> None:
    assert len(ALL) > 15
    assert "memoryctl models pull" in ALL
