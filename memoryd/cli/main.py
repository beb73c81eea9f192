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


GROUPS = {
    "Ask": (
        Command("search", "memory.search", "Find what notes and conversations say about a question"),
        Command("recall", "memory.search", "Recall memories about a question, the current ones first"),
        Command("get", "memory.search", "Print a document of the memory, or cited lines, exactly"),
        Command("memories", "memory.memories", "Show memories one by one; pin, edit and delete them"),
        Command("entities", "memory.knowledge", "Show what memories are about; merge and split names"),
        Command("opinions", "memory.knowledge", "Show opinions, their confidence, and why they are held"),
        Command("sessions", "memory.conversations", "List, read and forget conversations and transcripts"),
    ),
    "Remember": (
        Command("remember", "memory.retain", "Remember a text: an important note in today's log"),
        Command("retain", "memory.retain", "State a memory as a bullet in today's log"),
        Command("capture", "memory.retain", "Keep what a message states, as in a turn of its owner"),
        Command("replace", "memory.retain", "Replace what a memory says"),
        Command("core", "memory.retain", "Show and edit MEMORY.md, which every session sees"),
        Command("qa", "memory.conversations", "Add turns of conversations, and find them in their order"),
        Command("team", "local.team", "Share memories with the people of a team"),
        Command("import", "memory.transfer", "Take in memories and notes of other programs"),
    ),
    "Look after": (
        Command("status", "memory.status", "Show what is well, at work or wrong, and what to do"),
        Command("web", "memory.index", "Open the page that shows the memory, in a browser"),
        Command("top", "memory.top", "Show requests, queues and caches as they change, until q"),
        Command("changes", "memory.changes", "List what memoryd wrote into the workspace"),
        Command("undo", "memory.changes", "Take back a change where its lines still stand"),
        Command("forget", "memory.changes", "Take a memory out of notes, indexes and turns for good"),
        Command("verify", "memory.changes", "Tell whether cited lines still stand, moved or are gone"),
        Command("reflect", "memory.knowledge", "Bring pages and opinions up to date, and make proposals"),
        Command("proposals", "memory.knowledge", "Look at what reflect proposes, and accept or reject it"),
        Command("disagreements", "memory.knowledge", "List memories that may contradict, and say which hold"),
        Command("conflicts", "memory.changes", "Show two versions of a note at once, and settle them"),
        Command("eval", "memory.evaluation", "Ask questions whose answers you know; try a change"),
        Command("sync", "memory.index", "Read what changed on disk and wait until it is indexed"),
        Command("index", "memory.index", "Index all notes, vectors included, and wait for it"),
        Command("reindex", "memory.index", "Bring the index in step with the disk"),
    ),
    "Connect": (
        Command("init", "local.init", "Write a first configuration, and say what comes next"),
        Command("config", "local.config", "Check and show the configuration, or write its schema"),
        Command("reload", "memory.index", "Read the configuration again while all goes on"),
        Command("service", "local.service", "Have systemd or launchd run memoryd for you"),
        Command("models", "local.models", "List, fetch, check and remove embedding models"),
        Command("mcp", "local.mcp", "Serve the memory to a client of Model Context Protocol"),
        Command("hooks", "local.hooks", "Let an agent program ask memoryd at its own events"),
        Command("http", "local.config", "Look after the port on loopback"),
        Command("qmd", "local.models", "Work with the qmd index of an agent by hand"),
        Command("completion", "local.completion", "Print the script by which a shell completes commands"),
    ),
    "Repair and move": (
        Command("doctor", "local.doctor", "Say what is missing or broken, and how to mend it"),
        Command("logs", "local.logs", "Show what memoryd said"),
        Command("backup", "local.backup", "Write all that cannot be made anew into one file"),
        Command("restore", "local.backup", "Bring a backup back"),
        Command("export", "memory.transfer", "Write every memory: JSON, Markdown or OKF"),
        Command("workspace", "local.backup", "Show workspaces, and move one with all of its history"),
        Command("version", "local.completion", "Print the versions of memoryctl and of memoryd"),
    ),
}
"""The commands by purpose, in the order in which help lists them."""
COMMANDS = {command.name: command for group in GROUPS.values() for command in group}
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each below what it is for."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(command.name.ljust(width), f"{command.purpose}.") for command in group])


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
