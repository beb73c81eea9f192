"""memoryctl sessions: conversations as a whole: list, read lines, read now, forget one, do not remember it."""

import shlex
import sys
import time
from collections.abc import Iterator
from datetime import datetime

import click

from memoryd.cli.invocation import Invocation, Note, argument, asks, flag, key_option, verb
from memoryd.cli.memory.changes import done_if_sure, dry_option, receipt_lines, sure_option
from memoryd.cli.memory.search import NEIGHBOURS, context_option
from memoryd.cli.terminal import ago, behind_gutter, count, harmless, harmless_line, is_terminal, note, size
from memoryd.cli.waiting import SLICE_SECONDS, timeout_option
from memoryd.client import Client
from memoryd.replies.conversations import (
    SessionEntryReply,
    SessionForgetReply,
    SessionLinesReply,
    SessionsReply,
    SessionSyncReply,
)
from memoryd.wire import NEIGHBOURS_MAX, SESSIONS_MAX, Exit

session_argument = argument(
    "session",
    metavar="ID",
    help="The conversation as `sessions list` names it, a citation of it, or the bare name of its session or file.",
)


@click.group("sessions")
def sessions_command() -> None:
    """List, read and forget conversations and transcripts."""


@sessions_command.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, SESSIONS_MAX),
    default=50,
    show_default=True,
    metavar="N",
    help="How many at most.",
)
@key_option
@asks(Client.sessions, found_at="sessions")
def list_sessions(reply: SessionsReply) -> Iterator[str]:
    """List conversations and transcripts, the latest first, and whether they can be searched."""
    now = datetime.now().astimezone()
    yield from (harmless_line(_row(one, now)) for one in reply["sessions"])
    if reply["total"] > len(reply["sessions"]):
        yield Note(f"{reply['total']:,} in all; --limit shows more")
    if reply["withheldKeys"]:
        marks = reply["agentsMarks"]
        of_agents = f"; {len(marks):,} by the agent itself, the last {ago(marks[0], now)}" if marks else ""
        yield Note(f'{count(reply["withheldKeys"], "session key")} marked "do not remember"{of_agents}')


@sessions_command.command("show")
@argument(
    "citation",
    help="What to read, as search cites it: sessions/main/a.jsonl#L120-L130, session:main-20261018#Q3, or a bare name.",
)
@context_option(type=click.IntRange(0, NEIGHBOURS_MAX))
@key_option
@verb
def show(invocation: Invocation, citation: str, around: int | None) -> Exit:
    """Print the lines of a citation, or a whole conversation, without secrets."""
    is_marked = is_terminal(sys.stdout) and not invocation.is_json
    wanted = around if around is not None else NEIGHBOURS if is_marked else 0
    reply = invocation.memory.session_lines(citation, context=wanted)
    following = reply.get("nextLine")
    # a range, for the very line may say nothing
    lines = f"{reply['id']}#L{following}-L{(following or 0) + 999}"
    rest = f"cut short; go on with: memoryctl sessions show {shlex.quote(lines)}"
    return invocation.show(reply, _lines(reply, is_marked=is_marked), [rest] * bool(following))


@sessions_command.command("sync")
@click.option("--wait/--no-wait", "is_waiting", default=True, show_default=True, help="Wait until all is indexed.")
@timeout_option
@verb
def sync(invocation: Invocation, is_waiting: bool, timeout: float) -> Exit:
    """Read now what was said, and wait until it can be searched."""
    reply = _sync(invocation, is_waiting, timeout)
    done = "read" if reply["complete"] and is_waiting else "asked for" if not is_waiting else "not finished"
    summary = f"{done}; {reply['indexed']:,} of {count(reply['conversations'], 'conversation')} can be searched"
    invocation.show(reply, [summary])
    if reason := reply.get("reason"):
        note(reason)
    return Exit.DONE if reply["complete"] else Exit.ERROR


@sessions_command.command("forget")
@session_argument
@dry_option
@sure_option
@key_option
@verb
def forget(invocation: Invocation, session: str, is_dry: bool, is_sure: bool) -> Exit:
    """Take a conversation out of everything: files, index, vectors, held answers, exports.

    A transcript belongs to another program: its file stays, and is not read again.
    """
    return done_if_sure(
        invocation,
        lambda: invocation.memory.forget_session(session, dry_run=True),
        # by its full name: nothing else can have got the bare one meanwhile
        lambda plan: invocation.memory.forget_session(plan["id"]),
        lambda receipt: receipt_lines(harmless_line(f"{receipt['id']}:"), receipt, _parts(receipt)),
        what="forget",
        is_dry=is_dry,
        is_sure=is_sure,
    )


@sessions_command.command("remember")
@argument(
    "session",
    metavar="[ID]",
    required=False,
    help="The conversation as `sessions list` names it; without it the turns given under --session-key, now and later, "
    "but no transcript.",
)
@click.option(
    "--yes/--no",
    "is_remembered",
    default=None,
    help="--no: nothing of it is stored, indexed or exported from now on; --yes takes that back.",
)
@flag(
    "--agents-marks",
    "is_of_agents",
    help="With --yes: all session keys that the agent marked itself.",
)
@key_option
@verb
def remember(invocation: Invocation, session: str | None, is_remembered: bool | None, is_of_agents: bool) -> Exit:
    """Mark a conversation "do not remember" (--no), or take that back (--yes)."""
    if is_remembered is None:
        raise click.UsageError("say --no to have it not remembered, or --yes to take that back")
    if not session and not invocation.session_key and not is_of_agents:
        raise click.UsageError("say which: an ID, or --session-key KEY")
    reply = invocation.memory.remember_session(session, remember=is_remembered, agents_marks=is_of_agents)
    if is_of_agents:
        return invocation.show(reply, [f"{count(reply['marks'], 'mark')} of session keys taken back"])
    what = reply["id"] or "what is said under this session key"
    rows = f"; {count(reply['rows'], 'part')} left the index" if reply["rows"] else ""
    summary = f"{what} is {'remembered' if reply['remembered'] else 'not remembered'}{rows}"
    return invocation.show(reply, [harmless_line(summary)])


def _sync(invocation: Invocation, is_waiting: bool, seconds: float) -> SessionSyncReply:
    """Wait in slices, so that a daemon that hangs is noticed, and say on a terminal how far it is."""
    deadline = time.monotonic() + seconds
    while True:
        left = max(0.0, min(SLICE_SECONDS, deadline - time.monotonic()))
        reply = invocation.memory.sync_sessions(wait=is_waiting, timeout_ms=max(1, int(left * 1000)))
        if reply["complete"] or reply.get("reason") or time.monotonic() >= deadline:
            return reply
        if is_terminal(sys.stderr):
            note(f"{reply['indexed']:,} of {count(reply['conversations'], 'conversation')} read")


def _row(one: SessionEntryReply, now: datetime) -> str:
    if one["kind"] == "qa":
        summary = f"{count(one['turns'] or 0, 'turn')}, {count(one['answers'] or 0, 'answer')}"
    else:
        lines = f"{count(one['lines'] or 0, 'line')}" if one["lines"] is not None else "no line read"
        summary = lines if one["bytes"] is None else f"{lines}, {size(one['bytes'])}"
    state = "can be searched" if one["indexed"] else one["reason"] or "cannot be searched"
    archived = ", archived" if one["archived"] else ""
    return f"{one['id']}  {summary}{archived}, {ago(one['lastActivity'], now)}: {state}"


def _lines(reply: SessionLinesReply, *, is_marked: bool) -> Iterator[str]:
    has_neighbours = any(not line["cited"] for line in reply["lines"])
    for line in reply["lines"]:
        text = f"{line['line']:>6}  {line['text']}"
        yield behind_gutter(text, is_marked=line["cited"]) if is_marked and has_neighbours else harmless(text)


def _parts(receipt: SessionForgetReply) -> Iterator[str]:
    yield from (f"with it {harmless_line(path)}" for path in receipt["conversations"] if path != receipt["id"])
    yield from map(harmless_line, receipt["remarks"])
    for number, one, many in (
        (receipt["files"], "file in the workspace", "files in the workspace"),
        (receipt["turns"], "turn", ""),
        (receipt["answers"], "kept answer", ""),
        (receipt["rows"], "part of the index, with words and vectors", "parts of the index, with words and vectors"),
        (receipt["heldAnswers"], "held answer", ""),
        (receipt["exports"], "export for qmd", "exports for qmd"),
    ):
        if number:
            yield count(number, one, many)
