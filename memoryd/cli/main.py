"""memoryctl: finds the command, runs it, and turns what goes wrong into one sentence and an exit code."""

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

    Only modules in `local`, whose commands all do without a running daemon, import rooms of the daemon.
    """

    name: str
    place: str
    purpose: str
    """What it is for, in the list of all commands: for that none is loaded."""

    @property
    def module(self) -> str:
        """The module that holds it."""
        return f"memoryd.cli.{self.place}"

    @property
    def needs_daemon(self) -> bool:
        """Whether it can only ask."""
        return not self.place.startswith("local.")

    def load(self) -> click.Command:
        """Import it."""
        command: click.Command = getattr(import_module(self.module), f"{self.name}_command")
        return command


COMMANDS = {name: Command(name, place, purpose) for group in GROUPS.values() for name, place, purpose in group}
INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is asked for: `search` must not pay for rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; raises UsageError, which names the one that is written nearly so."""
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            import difflib

            near = [f" Did you mean {name!r}?" for name in difflib.get_close_matches(args[0], COMMANDS, n=1)]
            ctx.fail("".join([f"No such command {args[0]!r}.", *near]))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options, or the commands with what each is for."""
        begun = [command for command in COMMANDS.values() if command.name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(command.name, help=command.purpose) for command in begun), *options]

    def get_help(self, ctx: click.Context) -> str:
        """Return the overview: who asks for nothing else is told it before all this is loaded."""
        return page()


@click.command(cls=LazyGroup, context_settings=HELP, help="\n\n".join(ABOUT))
@click.version_option(__version__, prog_name="memoryctl", message="%(prog)s %(version)s", help=OPTIONS["--version"])
@shared
def memoryctl() -> None:
    """Take the options that hold for all commands."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    invocation = Invocation()
    try:
        code = memoryctl.main(arguments, prog_name="memoryctl", standalone_mode=False, obj=invocation)
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as exc:
        # an option that does not exist is found before any other option is read
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
    """Run the command as its entry point."""
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
            raise  # of a file that was opened, not of the stream
        code = _report_unwritten(exc)
    gc.freeze()  # the interpreter would look through all that is imported once more
    sys.exit(code)


def _report_unwritten(error: OSError) -> int:
    """Say on stderr that the answer is not whole, and let go of the rest, which would be tried again at the end."""
    with contextlib.suppress(OSError):
        click.echo(f"memoryctl: the answer cannot be written to standard output: {error.strerror or error}", err=True)
    terminal.let_go_of_output()
    return Exit.ERROR


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
