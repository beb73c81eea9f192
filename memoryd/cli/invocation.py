"""Shared parts of the commands: options that all of them take, kinds of arguments, the client, and output.

Also the wait until the index equals the disk, with a progress bar on a terminal.
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from memoryd.cli import terminal
from memoryd.cli.overview import OPTIONS
from memoryd.errors import MemorydError, UnknownAgent
from memoryd.wire import LISTED_MAX, Exit, SyncGoal

if TYPE_CHECKING:
    # imported at run time only where needed: help and completion work without these
    from memoryd.client import Client
    from memoryd.replies.conversations import SessionSyncReply
    from memoryd.replies.search import ReindexReply, SyncReply
    from memoryd.replies.status import AgentStatus, StatusReply

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., object])
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Reply = TypeVar("Reply", bound=Mapping[str, object])
Row = TypeVar("Row")
AnySync = TypeVar("AnySync", "SyncReply", "SessionSyncReply")
HELP = {"help_option_names": ["-h", "--help"]}


class Argument(click.Argument):
    """An argument with a help text; click 8.2 has this only for options."""

    def __init__(self, *names: Any, help: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.help = help

    def get_help_record(self, context: click.Context) -> tuple[str, str]:
        """Return the name and the help text."""
        return self.make_metavar(context), self.help or ""


argument = partial(click.argument, cls=Argument)
flag = partial(click.option, is_flag=True)


class Number(click.FloatRange):
    """A number within its range. NaN is rejected too: no comparison with a bound would reject it."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raises BadParameter."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def _fold_agent(agent: str) -> str:
    if not agent:
        return ""
    from memoryd.domain.access import folded_id

    return folded_id(agent)


class Note(str):
    """A line of an answer that goes to stderr, after the other lines."""


class Invocation:
    """The shared options of one invocation."""

    def __init__(self) -> None:
        self.is_json = False
        self.socket: Path | None = None
        self.agent = _fold_agent(os.environ.get("MEMORYD_AGENT_ID", "")) or None
        self.session_key: str | None = None

    def client(self, timeout: float = 30) -> "Client":
        """Return a client of the daemon at `--socket`; `timeout` in seconds without a reply."""
        from memoryd.client import Client

        return Client(self.socket, timeout)

    @cached_property
    def memory(self) -> "Client":
        """A client of the daemon at `--socket` that asks as `--agent` and in the session of `--key`."""
        from memoryd.client import Client

        return Client(self.socket, agent=self.agent, session_key=self.session_key)

    def close(self) -> None:
        """Close the connection to the daemon, if there is one."""
        if "memory" in vars(self):
            self.memory.close()

    def print_json(self, value: object) -> None:
        click.echo(terminal.to_json(value))

    def show(self, reply: object, lines: Iterable[str], notes: Iterable[str] = (), *, code: Exit = Exit.DONE) -> Exit:
        """Print a reply as JSON, or else its lines, then notes on stderr; return `code`.

        The caller makes the user's text in `lines` harmless for the terminal.
        """
        if self.is_json:
            self.print_json(reply)
            return code
        later = []
        for line in lines:
            if isinstance(line, Note):
                later.append(line)
            else:
                click.echo(line)
        for text in (*later, *notes):
            terminal.note(text)
        return code

    def chosen_agents(self, status: "StatusReply") -> "list[AgentStatus]":
        """Return the agent named by `--agent`, else all. Raises UnknownAgent."""
        if self.agent is None:
            return status["agents"]
        if chosen := [agent for agent in status["agents"] if agent["id"] == self.agent.lower()]:
            return chosen
        raise unknown_agent(self.agent, (agent["id"] for agent in status["agents"]))


def unknown_agent(agent: str | None, known: Iterable[str]) -> UnknownAgent:
    """Return the error about an agent that is not configured, with the `known` agents as hint."""
    return UnknownAgent(f"no agent {agent!r} is configured", hint=f"there is: {', '.join(known)}")


def exit_code_of(what: object) -> Exit:
    """Return DONE if `what` is true or not empty, else NOTHING_FOUND."""
    return Exit.DONE if what else Exit.NOTHING_FOUND


def _store(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Store the value of an option in the invocation; an option that is absent here may be given before the command.

    An empty value is stored too.
    """
    if value is not None and value is not False:
        setattr(context.ensure_object(Invocation), str(parameter.name), value)


_shared_option = partial(click.option, expose_value=False, callback=_store)
json_option = _shared_option(
    "--json",
    "is_json",
    is_flag=True,
    is_eager=True,  # parsed first, so that errors in other options are printed as JSON
    help=OPTIONS["--json"],
)
socket_option = _shared_option(
    "--socket", type=click.Path(path_type=Path), metavar="PATH", help=OPTIONS["--socket PATH"]
)
agent_option = _shared_option("--agent", type=_fold_agent, metavar="ID", help=OPTIONS["--agent ID"])
key_option = _shared_option(
    "--key",
    "--session-key",
    "session_key",
    metavar="KEY",
    help="The session that asks, such as agent:main:main.",
)


def shared(command: AnyCommand) -> AnyCommand:
    """Add `--json`, `--socket` and `--agent`."""
    return json_option(socket_option(agent_option(command)))


def with_invocation(command: Callable[Concatenate[Invocation, Parameters], Result]) -> Callable[Parameters, Result]:
    """Give a command the shared options, and pass it the invocation first."""
    return shared(click.pass_obj(command))


def command_from_call(
    call: "Callable[Concatenate[Client, ...], Reply]", *, found_at: str = ""
) -> Callable[[Callable[[Reply], Iterable[str]]], Callable[..., Exit]]:
    """Return a decorator that makes a command of a function from a reply to its lines.

    The options of the command are the arguments of `call`. If `found_at` is given and the value at this key of the
    reply is empty, the command exits with 3.
    """

    def command_of(lines: Callable[[Reply], Iterable[str]]) -> Callable[..., Exit]:
        def command(invocation: Invocation, **options: Any) -> Exit:
            reply = call(invocation.memory, **options)
            return invocation.show(reply, lines(reply), code=exit_code_of(reply[found_at]) if found_at else Exit.DONE)

        return with_invocation(update_wrapper(command, lines))

    return command_of


_MARK = "\0"
"""Prefix of a bullet while click parses options; no argument of a program can contain it."""


class BulletCommand(click.Command):
    """A command that takes texts which may be bullets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an argument that begins with a dash and a blank is a text, not an option."""
        return super().parse_args(ctx, [_MARK + text if text.startswith("- ") else text for text in args])


class BulletText(click.types.StringParamType):
    """A text that may be a bullet."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text without the mark of `BulletCommand`."""
        return str(super().convert(value, param, ctx)).removeprefix(_MARK)


def text_or_stdin(text: str) -> str:
    """Return the text; for `-`, read standard input."""
    return sys.stdin.read() if text == "-" else text


bullet_argument = partial(argument, type=BulletText())
text_argument = partial(bullet_argument, callback=lambda _context, _parameter, text: text_or_stdin(text))
words_argument = partial(argument, nargs=-1, callback=lambda _context, _parameter, words: " ".join(words))
unquoted_argument = partial(words_argument, required=True, type=BulletText(), metavar="TEXT…")
"""A text as the only argument, which may be typed without quotation marks."""


SHORT_ID = 8
"""Characters of an id that are shown; they are enough to name it in a command."""
limit_option = click.option(
    "-k", "--k", "--limit", "limit", type=click.IntRange(1, LISTED_MAX), metavar="N", help="How many at most."
)


scope_option = click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)


def list_rows(
    rows: Sequence[Row],
    line: Callable[[Row], str],
    total: int,
    noun: str,
    *,
    before: int = 0,
    option: str = "-k",
    most: int = LISTED_MAX,
) -> Iterator[str]:
    """Yield a line for each row, and a note with the option that shows more if `total` is larger.

    `before` rows were skipped; `option` can show at most `most` rows.
    """
    yield from map(line, rows)
    if not total:
        yield Note(f"there is no {noun}")
    elif (left := total - before - len(rows)) > 0:
        yield Note(f"{left:,} more: {option} {min(total, most)}")


def undo_notes(changes: Iterable[int | None], run: str | None = None) -> Iterator[str]:
    """Yield a note with the undo command of each change, or one for the complete `run`; None is no change."""
    targets = [run] if run else [number for number in changes if number is not None]
    yield from (Note(f"to take it back: {undo_hint(target)}") for target in targets)


def undo_hint(change: int | str) -> str:
    """Return the command that takes back a change, or all changes of a run, as the agent of this invocation."""
    from memoryd import client

    invocation = click.get_current_context().ensure_object(Invocation)
    return client.undo_command(change, invocation.agent, invocation.session_key)


SLICE_SECONDS = 10.0
"""Seconds that one call may wait, so that a daemon that hangs is noticed."""
TIMEOUT_SECONDS = 600.0
REFRESH_SECONDS = 0.2

timeout_option = click.option(
    "--timeout",
    type=Number(min=0),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds to wait at most; then exit with 1. The daemon continues its work.",
)


def wait_for(invocation: Invocation, goal: SyncGoal, seconds: float) -> "SyncReply":
    """Wait up to `seconds` for `goal` and return what is still pending; show a bar if stderr is a terminal."""
    if not terminal.is_terminal(sys.stderr) or goal == "none":
        return _wait(invocation, goal, seconds)
    # rich takes 50 ms to import and is needed for a bar only
    from memoryd.cli.bars import IndexBars

    outcome: list[SyncReply | MemorydError] = []

    def wait() -> None:
        try:
            outcome.append(_wait(invocation, goal, seconds))
        except MemorydError as exc:
            outcome.append(exc)

    # in a thread, so that the bar moves and Ctrl-C takes effect at once
    waiting = threading.Thread(target=wait, daemon=True)
    with invocation.client() as client, IndexBars(goal) as bars:
        waiting.start()
        while waiting.is_alive():
            bars.show_agents(invocation.chosen_agents(client.status()))
            waiting.join(REFRESH_SECONDS)
    result = outcome[0] if outcome else MemorydError("waiting for the index ended without a result")
    if isinstance(result, MemorydError):
        raise result
    return result


def report(invocation: Invocation, goal: SyncGoal, pending: "SyncReply") -> Exit:
    """Print the state of the index; return exit code 1 if the goal was not reached."""
    is_done = pending.get("complete", True)
    show_pending(invocation, goal, pending, is_done=is_done)
    if reason := pending.get("reason"):
        terminal.note(reason)
    return Exit.DONE if is_done else Exit.ERROR


def show_pending(invocation: Invocation, goal: SyncGoal, pending: "ReindexReply", *, is_done: bool) -> None:
    """Print whether `goal` is reached, and the pending work."""
    counts = (
        (pending["pendingFiles"], "file", "to index"),
        (pending["pendingEmbeddings"], "passage", "to embed"),
    )
    work = " and ".join(f"{terminal.count(number, noun)} {what}" for number, noun, what in counts if number)
    done = {"none": "asked for", "indexed": "indexed", "embedded": "indexed and embedded"}[goal]
    invocation.show(pending, ["; ".join(filter(None, [done if is_done else "not finished", work]))])


def _wait(invocation: Invocation, goal: SyncGoal, seconds: float) -> "SyncReply":
    with invocation.client() as client:
        return in_slices(seconds, lambda timeout_ms: client.sync(goal, timeout_ms, invocation.agent))


def in_slices(
    seconds: float, ask: Callable[[int], AnySync], on_progress: Callable[[AnySync], None] = lambda _reply: None
) -> AnySync:
    """Call `ask` until its reply is complete, or `seconds` are over, and return the last reply.

    `ask` takes the milliseconds that the daemon may wait. `on_progress` takes each reply that is not the last.
    """
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        slice_seconds = max(0.0, min(SLICE_SECONDS, deadline - began))
        reply = ask(max(1, int(slice_seconds * 1000)))
        took = time.monotonic() - began
        # if the daemon returned early, it cannot finish now: asking again at once would only spin
        is_refused = bool(reply.get("reason")) or took < slice_seconds / 2
        if reply.get("complete", True) or is_refused or time.monotonic() >= deadline:
            return reply
        on_progress(reply)
