"""memoryctl: find the command, run it, and turn an error into one sentence and an exit code."""

import contextlib
import gc
import itertools
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from memoryd import __version__
from memoryd.cli import terminal
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.overview import ABOUT, GROUPS, OPTIONS, page
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.wire import Exit


class Command(NamedTuple):
    """A command: its function `NAME_command` is in the module `place` below `memoryd.cli`.

    Only modules in `local`, whose commands all work without a running daemon, import packages of the daemon.
    """

    name: str
    place: str
    purpose: str
    """The description in the list of all commands, which is shown without loading any of them."""

    @property
    def module(self) -> str:
        """The module that defines the command."""
        return f"memoryd.cli.{self.place}"

    @property
    def needs_daemon(self) -> bool:
        """Whether the command needs a running daemon."""
        return not self.place.startswith("local.")

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(import_module(self.module), f"{self.name}_command")
        return command


COMMANDS = {name: Command(name, place, purpose) for group in GROUPS.values() for name, place, purpose in group}
INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class LazyGroup(click.Group):
    """A group that imports the module of a command when it is used, so that `search` does not load rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` name; raise UsageError if there is none, with what may be meant.

        That is the same name in other groups, or else the most similar command.
        """
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            import difflib

            groups = ((name, command.load()) for name, command in COMMANDS.items())
            inner = [f"{name} {args[0]}" for name, group in groups if args[0] in getattr(group, "commands", ())]
            meant = " or ".join(map(repr, inner or difflib.get_close_matches(args[0], COMMANDS, n=1)))
            ctx.fail(f"No such command {args[0]!r}.{f' Did you mean {meant}?' if meant else ''}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, with their purpose, and the options that begin with `incomplete`."""
        commands = [command for command in COMMANDS.values() if command.name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(command.name, help=command.purpose) for command in commands), *options]

    def get_help(self, ctx: click.Context) -> str:
        """Return the overview, as `memoryd.cli.__main__` prints it when `--help` is the only argument."""
        return page()


@click.command(cls=LazyGroup, context_settings=HELP, help="\n\n".join(ABOUT))
@click.version_option(__version__, prog_name="memoryctl", message="%(prog)s %(version)s", help=OPTIONS["--version"])
@shared
def memoryctl() -> None:
    """Take the options of all commands."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    invocation = Invocation()
    try:
        code = memoryctl.main(arguments, prog_name="memoryctl", standalone_mode=False, obj=invocation)
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as exc:
        # click rejects an unknown option before it reads --json
        words = sys.argv[1:] if arguments is None else arguments
        invocation.is_json |= "--json" in itertools.takewhile(lambda word: word != "--", words)
        return _report_usage(exc, invocation)
    except click.ClickException as exc:
        return _report(MemorydError(exc.format_message()), invocation)
    except MemorydError as exc:
        return _report(exc, invocation)
    finally:
        invocation.close()
    return int(code or Exit.DONE)


def main() -> NoReturn:
    """Run memoryctl with the arguments of the process, and exit."""
    for stream in (sys.stdout, sys.stderr):
        # a terminal in another encoding, or a note with half a surrogate pair, must not end in a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as exc:
        if exc.filename is not None:
            raise  # about a file, not about standard output
        with contextlib.suppress(OSError):
            click.echo(f"memoryctl: the answer cannot be written to standard output: {exc.strerror or exc}", err=True)
        terminal.discard_output()
        code = Exit.ERROR
    gc.freeze()  # else the interpreter collects all imported modules once more at exit
    sys.exit(code)


def _report(error: MemorydError, invocation: Invocation) -> int:
    if invocation.is_json:
        invocation.print_json({"error": {"code": str(error.code), "message": str(error), "hint": error.hint}})
    else:
        click.echo(terminal.harmless(f"memoryctl: {error}"), err=True)
        if error.hint:
            click.echo(terminal.harmless(error.hint), err=True)
    return error.exit_code


def _report_usage(error: click.UsageError, invocation: Invocation) -> int:
    if invocation.is_json:
        _report(InvalidRequest(error.format_message()), invocation)
    else:
        error.show()
    return Exit.USAGE
