"""memoryctl sessions: conversations as a whole: list, read lines, read now, forget one, do not remember it."""

import sys
import time
from datetime import datetime

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import ago, behind_gutter, count, harmless, harmless_line, is_terminal, note, size
from memoryd.cli.waiting import SLICE_SECONDS, timeout_option
from memoryd.replies.conversations import (
    SessionEntryReply,
    SessionForgetReply,
    SessionLinesReply,
    SessionsReply,
    SessionSyncReply,
)
from memoryd.wire import NEIGHBOURS_MAX, SESSIONS_MAX, Exit

NEIGHBOURS = 3
"""Lines before and after those of a citation, on a terminal."""

session_argument = click.argument(
    "session",
    cls=Argument,
    metavar="ID",
    help="The conversation as `sessions list` names it, a citation of it, or the bare name of its session or file.",
)
key_option = click.option(
    "--key", "--session-key", "session_key", metavar="KEY", help="The session that asks, such as agent:main:main."
)


@click.group("sessions", context_settings=HELP)
def sessions_command() -> None:
    """List, read and forget conversations and transcripts."""


@sessions_command.command("list", context_settings=HELP)
@click.option(
    "--limit",
    type=click.IntRange(1, SESSIONS_MAX),
    default=50,
    show_default=True,
    metavar="N",
    help="How many at most.",
)
@key_option
@shared
@click.pass_obj
def list_sessions(invocation: Invocation, limit: int, session_key: str | None) -> Exit:
    """List conversations and transcripts, the latest first, and whether they can be searched."""
    with invocation.client() as client:
        reply = client.sessions(limit=limit, session_key=session_key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print_list(reply)
    return Exit.DONE if reply["sessions"] else Exit.NOTHING_FOUND


@sessions_command.command("show", context_settings=HELP)
@click.argument(
    "citation",
    cls=Argument,
    help="What to read, as search cites it: sessions/main/a.jsonl#L120-L130, session:main-20261018#Q3, or a bare name.",
)
@click.option(
    "-C",
    "--context",
    "around",
    type=click.IntRange(0, NEIGHBOURS_MAX),
    metavar="N",
    help=f"So many lines before and after those of the citation too (else {NEIGHBOURS} on a terminal, 0 elsewhere).",
)
@key_option
@shared
@click.pass_obj
def show(invocation: Invocation, citation: str, around: int | None, session_key: str | None) -> Exit:
    """Print the lines of a citation, or a whole conversation, without secrets."""
    is_marked = is_terminal(sys.stdout) and not invocation.is_json
    wanted = around if around is not None else NEIGHBOURS if is_marked else 0
    with invocation.client() as client:
        reply = client.session_lines(citation, context=wanted, session_key=session_key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print_lines(reply, is_marked=is_marked)
    return Exit.DONE


@sessions_command.command("sync", context_settings=HELP)
@click.option("--wait/--no-wait", "is_waiting", default=True, show_default=True, help="Wait until all is indexed.")
@timeout_option
@shared
@click.pass_obj
def sync(invocation: Invocation, is_waiting: bool, timeout: float) -> Exit:
    """Read now what was said, and wait until it can be searched."""
    reply = _synced(invocation, is_waiting, timeout)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        done = "read" if reply["complete"] and is_waiting else "asked for" if not is_waiting else "not finished"
        click.echo(f"{done}; {reply['indexed']:,} of {count(reply['conversations'], 'conversation')} can be searched")
    if reason := reply.get("reason"):
        note(reason)
    return Exit.DONE if reply["complete"] else Exit.ERROR


@sessions_command.command("forget", context_settings=HELP)
@session_argument
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would go.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@key_option
@shared
@click.pass_obj
def forget(invocation: Invocation, session: str, is_dry: bool, is_sure: bool, session_key: str | None) -> Exit:
    """Take a conversation out of everything: files, index, vectors, held answers, exports.

    A transcript belongs to another program: its file stays, and is not read again.
    """
    can_ask = is_terminal(sys.stdin) and is_terminal(sys.stdout) and not invocation.is_json
    if not (is_dry or is_sure or can_ask):
        raise click.UsageError("nobody can be asked here: say --yes to forget it, or --dry-run to see what would go")
    with invocation.client() as client:
        plan = client.forget_session(session, dry_run=True, session_key=session_key, agent=invocation.agent)
        if is_dry:
            return _tell_receipt(invocation, plan)
        if not is_sure:
            _print_receipt(plan)
            click.confirm("Forget it?", abort=True, err=True)
        # by its full name: nothing else can have got the bare one meanwhile
        done = client.forget_session(plan["id"], session_key=session_key, agent=invocation.agent)
    return _tell_receipt(invocation, done)


@sessions_command.command("remember", context_settings=HELP)
@click.argument(
    "session",
    cls=Argument,
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
@click.option(
    "--agents-marks",
    "is_of_agents",
    is_flag=True,
    help="With --yes: all session keys that the agent marked itself.",
)
@key_option
@shared
@click.pass_obj
def remember(
    invocation: Invocation,
    session: str | None,
    is_remembered: bool | None,
    is_of_agents: bool,
    session_key: str | None,
) -> Exit:
    """Mark a conversation "do not remember" (--no), or take that back (--yes)."""
    if is_remembered is None:
        raise click.UsageError("say --no to have it not remembered, or --yes to take that back")
    if not session and not session_key and not is_of_agents:
        raise click.UsageError("say which: an ID, or --session-key KEY")
    with invocation.client() as client:
        reply = client.remember_session(
            session,
            remember=is_remembered,
            agents_marks=is_of_agents,
            session_key=session_key,
            agent=invocation.agent,
        )
    if invocation.is_json:
        invocation.print_json(reply)
    elif is_of_agents:
        click.echo(f"{count(reply['marks'], 'mark')} of session keys taken back")
    else:
        what = reply["id"] or "what is said under this session key"
        rows = f"; {count(reply['rows'], 'part')} left the index" if reply["rows"] else ""
        click.echo(harmless_line(f"{what} is {'remembered' if reply['remembered'] else 'not remembered'}{rows}"))
    return Exit.DONE


def _synced(invocation: Invocation, is_waiting: bool, seconds: float) -> SessionSyncReply:
    """Wait in slices, so that a daemon that hangs is noticed, and say on a terminal how far it is."""
    deadline = time.monotonic() + seconds
    with invocation.client() as client:
        while True:
            left = max(0.0, min(SLICE_SECONDS, deadline - time.monotonic()))
            reply = client.sync_sessions(wait=is_waiting, timeout_ms=max(1, int(left * 1000)), agent=invocation.agent)
            if reply["complete"] or reply.get("reason") or time.monotonic() >= deadline:
                return reply
            if is_terminal(sys.stderr):
                note(f"{reply['indexed']:,} of {count(reply['conversations'], 'conversation')} read")


def _print_list(reply: SessionsReply) -> None:
    now = datetime.now().astimezone()
    for one in reply["sessions"]:
        click.echo(harmless_line(_row(one, now)))
    if reply["total"] > len(reply["sessions"]):
        note(f"{reply['total']:,} in all; --limit shows more")
    if reply["withheldKeys"]:
        marks = reply["agentsMarks"]
        of_agents = f"; {len(marks):,} by the agent itself, the last {ago(marks[0], now)}" if marks else ""
        note(f'{count(reply["withheldKeys"], "session key")} marked "do not remember"{of_agents}')


def _row(one: SessionEntryReply, now: datetime) -> str:
    if one["kind"] == "qa":
        told = f"{count(one['turns'] or 0, 'turn')}, {count(one['answers'] or 0, 'answer')}"
    else:
        lines = f"{count(one['lines'] or 0, 'line')}" if one["lines"] is not None else "no line read"
        told = lines if one["bytes"] is None else f"{lines}, {size(one['bytes'])}"
    state = "can be searched" if one["indexed"] else one["reason"] or "cannot be searched"
    archived = ", archived" if one["archived"] else ""
    return f"{one['id']}  {told}{archived}, {ago(one['lastActivity'], now)}: {state}"


def _print_lines(reply: SessionLinesReply, *, is_marked: bool) -> None:
    has_neighbours = any(not line["cited"] for line in reply["lines"])
    for line in reply["lines"]:
        text = f"{line['line']:>6}  {line['text']}"
        is_gutter = is_marked and has_neighbours
        click.echo(behind_gutter(text, is_marked=line["cited"]) if is_gutter else harmless(text))
    if following := reply.get("nextLine"):
        # a range, for the very line may say nothing
        note(f"cut short; go on with: memoryctl sessions show '{reply['id']}#L{following}-L{following + 999}'")


def _tell_receipt(invocation: Invocation, receipt: SessionForgetReply) -> Exit:
    if invocation.is_json:
        invocation.print_json(receipt)
    else:
        _print_receipt(receipt)
    return Exit.ERROR if receipt["unfinished"] else Exit.DONE


def _print_receipt(receipt: SessionForgetReply) -> None:
    left = "forgotten, but for what follows" if receipt["unfinished"] else "would be forgotten"
    click.echo(harmless_line(f"{receipt['id']}: {'forgotten' if receipt['forgotten'] else left}"))
    for sentence in receipt["unfinished"]:
        click.echo(f"  ! {harmless_line(sentence)}")
    for path in receipt["conversations"]:
        if path != receipt["id"]:
            click.echo(f"  with it {harmless_line(path)}")
    for sentence in receipt["remarks"]:
        click.echo(f"  {harmless_line(sentence)}")
    parts = [
        (receipt["files"], "file in the workspace", "files in the workspace"),
        (receipt["turns"], "turn", "turns"),
        (receipt["answers"], "kept answer", "kept answers"),
        (receipt["rows"], "part of the index, with words and vectors", "parts of the index, with words and vectors"),
        (receipt["heldAnswers"], "held answer", "held answers"),
        (receipt["exports"], "export for qmd", "exports for qmd"),
    ]
    for number, one, many in parts:
        if number:
            click.echo(f"  {number:,} {one if number == 1 else many}")
    click.echo("  out of reach:")
    for sentence in receipt["stays"]:
        click.echo(f"  - {harmless_line(sentence)}")
