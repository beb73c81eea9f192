"""Options that every command takes, before or after its name, and what commands share through them.

Among it the wait until the index equals the disk, with a bar on a terminal.
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
    # loaded by who asks: help and completion are told without it
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
    """An argument that says what it is; in click 8.2 only options do."""

    def __init__(self, *names: Any, help: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.help = help

    def get_help_record(self, context: click.Context) -> tuple[str, str]:
        """Return its name and what it is."""
        return self.make_metavar(context), self.help or ""


argument = partial(click.argument, cls=Argument)
flag = partial(click.option, is_flag=True)


class Number(click.FloatRange):
    """A number within its range; nan compares with nothing, so that no range keeps it out."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raises BadParameter."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def _folded(agent: str) -> str:
    if not agent:
        return ""
    from memoryd.domain.access import folded_id

    return folded_id(agent)


class Note(str):
    """One of the lines of an answer that goes to stderr, behind the others."""


class Invocation:
    """The shared options of one invocation."""

    def __init__(self) -> None:
        self.is_json = False
        self.socket: Path | None = None
        self.agent = _folded(os.environ.get("MEMORYD_AGENT_ID", "")) or None
        self.session_key: str | None = None

    def client(self, timeout: float = 30) -> "Client":
        """Return a client of the daemon that was asked for; `timeout` in seconds of silence."""
        from memoryd.client import Client

        return Client(self.socket, timeout)

    @cached_property
    def memory(self) -> "Client":
        """The daemon that was asked for, asked by the agent and in the session that were given."""
        from memoryd.client import Client

        return Client(self.socket, agent=self.agent, session_key=self.session_key)

    def close(self) -> None:
        """Let go of the daemon."""
        if "memory" in vars(self):
            self.memory.close()

    def print_json(self, value: object) -> None:
        click.echo(terminal.encoded(value))

    def show(self, reply: object, lines: Iterable[str], notes: Iterable[str] = (), *, code: Exit = Exit.DONE) -> Exit:
        """Print a reply: as JSON, or else its lines, with notes to stderr. What it holds of the owner is harmless."""
        if self.is_json:
            self.print_json(reply)
            return code
        later = []
        for line in lines:
            if isinstance(line, Note):
                later.append(line)
            else:
                click.echo(line)
        for one in (*later, *notes):
            terminal.note(one)
        return code

    def chosen_agents(self, status: "StatusReply") -> "list[AgentStatus]":
        """Return the agent named by `--agent`, else all. Raises UnknownAgent."""
        if self.agent is None:
            return status["agents"]
        if chosen := [agent for agent in status["agents"] if agent["id"] == self.agent.lower()]:
            return chosen
        raise unknown_agent(self.agent, (agent["id"] for agent in status["agents"]))


def unknown_agent(agent: str | None, known: Iterable[str]) -> UnknownAgent:
    """Return the error about an agent that is none of those that are known."""
    return UnknownAgent(f"no agent {agent!r} is configured", hint=f"there is: {', '.join(known)}")


def found(what: object) -> Exit:
    """Return the exit code of a question that something was found for, or nothing."""
    return Exit.DONE if what else Exit.NOTHING_FOUND


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep an option in the invocation; where it is not given, what another place said holds. An empty one is given."""
    if value is not None and value is not False:
        setattr(context.ensure_object(Invocation), str(parameter.name), value)


_kept_option = partial(click.option, expose_value=False, callback=_keep)
json_option = _kept_option(
    "--json",
    "is_json",
    is_flag=True,
    is_eager=True,  # known before another option is found wrong
    help=OPTIONS["--json"],
)
socket_option = _kept_option(
    "--socket",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help=OPTIONS["--socket PATH"],
)
agent_option = _kept_option(
    "--agent",
    type=_folded,
    metavar="ID",
    help=OPTIONS["--agent ID"],
)
key_option = _kept_option(
    "--key",
    "--session-key",
    "session_key",
    metavar="KEY",
    help="The session that asks, such as agent:main:main.",
)


def shared(command: AnyCommand) -> AnyCommand:
    """Add `--json`, `--socket` and `--agent`."""
    return json_option(socket_option(agent_option(command)))


def verb(command: Callable[Concatenate[Invocation, Parameters], Result]) -> Callable[Parameters, Result]:
    """Have a command take its invocation, and the options of every command."""
    return shared(click.pass_obj(command))


def asks(
    call: "Callable[Concatenate[Client, ...], Reply]", *, found_at: str = ""
) -> Callable[[Callable[[Reply], Iterable[str]]], Callable[..., Exit]]:
    """Make a command of a function that yields the lines of a reply: its options are what the call takes.

    It exits with 3 where nothing stands `found_at` this key of the reply.
    """

    def command_of(lines: Callable[[Reply], Iterable[str]]) -> Callable[..., Exit]:
        def command(invocation: Invocation, **options: Any) -> Exit:
            reply = call(invocation.memory, **options)
            code = found(reply[found_at]) if found_at else Exit.DONE
            return invocation.show(reply, lines(reply), code=code)

        return verb(update_wrapper(command, lines))

    return command_of


_BULLET = "- "
_MARK = "\0"
"""Precedes such a text while options are looked for; no argument of a program can hold it."""


class BulletCommand(click.Command):
    """A command that takes texts which may be bullets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what begins with a dash and a blank is none of the options."""
        return super().parse_args(ctx, [_MARK + one if one.startswith(_BULLET) else one for one in args])


class BulletText(click.types.StringParamType):
    """A text that may be a bullet."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it was given."""
        return str(super().convert(value, param, ctx)).removeprefix(_MARK)


def text_or_stdin(given: str) -> str:
    """Return a text, for `-` that of standard input."""
    return sys.stdin.read() if given == "-" else given


bullet_argument = partial(argument, type=BulletText())
text_argument = partial(bullet_argument, callback=lambda _context, _parameter, text: text_or_stdin(text))
words_argument = partial(argument, nargs=-1, callback=lambda _context, _parameter, words: " ".join(words))
said_argument = partial(words_argument, required=True, type=BulletText(), metavar="TEXT…")
"""A text alone: nobody who types it thinks of quotation marks."""


SHORT_ID = 8
"""Signs of an id that are shown; as many name it in a command."""
limit_option = click.option(
    "-k", "--k", "--limit", "limit", type=click.IntRange(1, LISTED_MAX), metavar="N", help="How many at most."
)


scope_option = click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)


def listed(
    rows: Sequence[Row],
    line: Callable[[Row], str],
    total: int,
    noun: str,
    *,
    before: int = 0,
    option: str = "-k",
    most: int = LISTED_MAX,
) -> Iterator[str]:
    """Yield the lines of a part of what there is, and the option that shows more, up to `most`; so many came before."""
    yield from map(line, rows)
    if not total:
        yield Note(f"there is no {noun}")
    elif (left := total - before - len(rows)) > 0:
        yield Note(f"{left:,} more: {option} {min(total, most)}")


def undo_notes(changes: Iterable[int | None], run: str | None = None) -> Iterator[str]:
    """Yield the commands that take back what was written; None: that wrote nothing. A `run` takes back all of it."""
    undo = [run] if run else [number for number in changes if number is not None]
    yield from (Note(f"to take it back: {undo_hint(one)}") for one in undo)


def undo_hint(change: int | str) -> str:
    """Return the command by which the agent of this invocation takes back a change, or all of a run."""
    from memoryd import client

    invocation = click.get_current_context().ensure_object(Invocation)
    return client.undo_command(change, invocation.agent, invocation.session_key)


SLICE_SECONDS = 10.0
"""How long one call may wait, so that a daemon that hangs is noticed."""
TIMEOUT_SECONDS = 600.0
REFRESH_SECONDS = 0.2

timeout_option = click.option(
    "--timeout",
    type=Number(min=0),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds to wait at most; then exit with 1. The work goes on.",
)


def wait_for(invocation: Invocation, goal: SyncGoal, seconds: float) -> "SyncReply":
    """Wait for `goal` and return what is still pending then; show a bar if stderr is a terminal."""
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

    # in the background, so that the bar moves and Ctrl-C is answered at once
    waiting = threading.Thread(target=wait, daemon=True)
    with invocation.client() as client, IndexBars(goal) as bars:
        waiting.start()
        while waiting.is_alive():
            bars.show_agents(invocation.chosen_agents(client.status()))
            waiting.join(REFRESH_SECONDS)
    found = outcome[0] if outcome else MemorydError("waiting for the index ended without a result")
    if isinstance(found, MemorydError):
        raise found
    return found


def report(invocation: Invocation, goal: SyncGoal, pending: "SyncReply") -> Exit:
    """Print how far the index is; return exit code 1 if the goal was not reached."""
    is_done = pending.get("complete", True)
    tell(invocation, goal, pending, is_done=is_done)
    if reason := pending.get("reason"):
        terminal.note(reason)
    return Exit.DONE if is_done else Exit.ERROR


def tell(invocation: Invocation, goal: SyncGoal, pending: "ReindexReply", *, is_done: bool) -> None:
    """Print what is left to do on the way to `goal`."""
    counted = (
        (pending["pendingFiles"], "file", "to index"),
        (pending["pendingEmbeddings"], "passage", "to embed"),
    )
    left = " and ".join(f"{terminal.count(number, noun)} {what}" for number, noun, what in counted if number)
    verb = {"none": "asked for", "indexed": "indexed", "embedded": "indexed and embedded"}[goal]
    invocation.show(pending, ["; ".join(filter(None, [verb if is_done else "not finished", left]))])


def _wait(invocation: Invocation, goal: SyncGoal, seconds: float) -> "SyncReply":
    with invocation.client() as client:
        return in_slices(seconds, lambda timeout_ms: client.sync(goal, timeout_ms, invocation.agent))


def in_slices(
    seconds: float, ask: Callable[[int], AnySync], tell: Callable[[AnySync], None] = lambda _reply: None
) -> AnySync:
    """Ask until it is complete, or so many seconds are over; `tell` takes each reply after which it is asked again.

    Each time it is asked to wait for so many milliseconds.
    """
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        slice_seconds = max(0.0, min(SLICE_SECONDS, deadline - began))
        reply = ask(max(1, int(slice_seconds * 1000)))
        took = time.monotonic() - began
        # a daemon that gives up before its time has its reasons: asking again at once would only spin
        is_refused = bool(reply.get("reason")) or took < slice_seconds / 2
        if reply.get("complete", True) or is_refused or time.monotonic() >= deadline:
            return reply
        tell(reply)
