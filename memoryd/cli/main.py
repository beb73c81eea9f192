"""memoryctl: finds the command, runs it, and turns what goes wrong into one sentence and an exit code."""

import contextlib
import itertools
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from memoryd import __version__
from memoryd.cli import terminal
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.errors import MemorydError
from memoryd.wire import ErrorCode, Exit

COMMANDS = (
    "status",
    "top",
    "search",
    "get",
    "recall",
    "capture",
    "retain",
    "remember",
    "memories",
    "core",
    "changes",
    "undo",
    "sync",
    "reindex",
    "index",
    "forget",
    "verify",
    "opinions",
    "entities",
    "qa",
    "sessions",
    "reflect",
    "proposals",
    "mcp",
    "hooks",
    "models",
    "qmd",
    "http",
    "init",
    "config",
    "reload",
    "service",
    "logs",
    "doctor",
    "completion",
    "backup",
    "restore",
    "export",
    "import",
    "workspace",
    "version",
)
MODULES = {
    "status": "memory.status",
    "top": "memory.top",
    "search": "memory.search",
    "get": "memory.search",
    "recall": "memory.recall",
    "capture": "memory.retain",
    "retain": "memory.retain",
    "remember": "memory.retain",
    "memories": "memory.memories",
    "core": "memory.core",
    "changes": "memory.changes",
    "undo": "memory.changes",
    "sync": "memory.index",
    "reindex": "memory.index",
    "index": "memory.index",
    "forget": "memory.forget",
    "verify": "memory.forget",
    "opinions": "memory.opinions",
    "entities": "memory.entities",
    "qa": "memory.qa",
    "sessions": "memory.sessions",
    "reflect": "memory.reflect",
    "proposals": "memory.reflect",
    "mcp": "local.mcp",
    "hooks": "local.hooks",
    "models": "local.models",
    "qmd": "local.models",
    "http": "local.config",
    "init": "local.init",
    "config": "local.config",
    "reload": "local.config",
    "service": "local.service",
    "logs": "local.logs",
    "doctor": "local.doctor",
    "completion": "local.completion",
    "backup": "local.backup",
    "restore": "local.backup",
    "export": "memory.export",
    "import": "memory.export",
    "workspace": "local.workspace",
    "version": "local.completion",
}
"""Where the function `<name>_command` of each stands."""
INTERRUPTED = 130
"""128 + SIGINT, as shells count."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is asked for: `search` must not pay for rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"memoryd.cli.{MODULES[cmd_name]}"), f"{cmd_name}_command")
        return command


@click.command(cls=LazyGroup, context_settings=HELP)
@click.version_option(__version__, prog_name="memoryctl", message="%(prog)s %(version)s")
@shared
def memoryctl() -> None:
    """Ask memoryd, the long-term memory of your agents.

    Exit codes: 0 done, 1 error, 2 usage, 3 nothing found that answers, 4 incomplete answer with --strict, 69 memoryd
    is not running, 77 not permitted, 78 wrong configuration.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    invocation = Invocation()
    invocation.name_agent(os.environ.get("MEMORYD_AGENT_ID"))
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
        message = error.format_message()
        invocation.print_json({"error": {"code": str(ErrorCode.INVALID_REQUEST), "message": message, "hint": ""}})
    else:
        error.show()
    return Exit.USAGE
