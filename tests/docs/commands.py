"""`reference/commands.md`: the help of every command, and the slash commands."""

from collections.abc import Iterator
from typing import Any

import click

from memoryd.cli.invocation import HELP
from memoryd.cli.main import memoryctl
from memoryd.daemon.main import main as memoryd
from memoryd.domain.sessions.turns import SLASH_COMMANDS
from tests.docs.tables import table

HEAD = """# Commands

`memoryd` is the daemon, `memoryctl` asks it. Every command of `memoryctl` also takes the [options](#memoryctl)
`--json`, `--socket`, `--agent` and `--help`; only `models list`, `pull`, `remove` and `verify` take no `--socket`.
Answers go to stdout, notes to stderr. Output has colours only on a terminal, and none with `NO_COLOR`.
[Codes](codes.md) says what the exit codes mean.
"""
SLASH = """
## In a message

What a user of an agent may write; it is carried out without a model.

"""


def page() -> str:
    """Return the page."""
    parts = [_entry(command, name) for name, command in walk(memoryd, "memoryd")]
    parts += [_entry(command, name) for name, command in walk(memoryctl, "memoryctl")]
    slashes = [(f"`{f'/{row.name} {row.takes}'.strip()}`", row.help) for row in SLASH_COMMANDS]
    return HEAD + "".join(parts) + SLASH + table(("command", "meaning"), slashes)


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and its subcommands, with their full names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name, **command.context_settings)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from walk(found, f"{name} {child}")


def _entry(command: click.Command, name: str) -> str:
    # like within memoryctl, whose help options its commands inherit
    settings: dict[str, Any] = {**HELP, **command.context_settings}
    context = click.Context(command, info_name=name, **settings)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    shared = [] if command in (memoryd, memoryctl) else _records(memoryctl, context)
    rows = [
        (f"`{option}`", _escaped(text)) for option, text in _records(command, context) if (option, text) not in shared
    ]
    options = f"\n{table(('option', 'meaning'), rows)}" if rows else ""
    return f"\n## {name}\n\n`{usage}`\n\n{_paragraphs(command.help)}\n{options}"


def _records(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    return [record for param in command.get_params(context) if (record := param.get_help_record(context))]


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").replace("\b", "").split("\n\n"))


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")
