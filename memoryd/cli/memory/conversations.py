"""memoryctl sessions and qa: complete conversations, and their single questions and answers."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import click

from memoryd.cli.invocation import (
    Invocation,
    Note,
    Number,
    argument,
    command_from_call,
    exit_code_of,
    flag,
    in_slices,
    key_option,
    list_rows,
    text_or_stdin,
    timeout_option,
    with_invocation,
    words_argument,
)
from memoryd.cli.memory.changes import dry_option, receipt_lines, run_confirmed, sure_option
from memoryd.cli.memory.search import NEIGHBOURS, context_option
from memoryd.cli.terminal import (
    ago,
    bold,
    count,
    harmless,
    harmless_line,
    in_columns,
    is_terminal,
    minute,
    note,
    percent,
    size,
    with_gutter,
)
from memoryd.client import Client
from memoryd.domain.documents import TurnAddress, conversation_cited, parse_address, parse_seqs
from memoryd.replies.conversations import (
    QaAddReply,
    QaContextReply,
    QaSessionReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicReply,
    QaTopicsReply,
    QaTurnReply,
    SessionEntryReply,
    SessionForgetReply,
    SessionLinesReply,
    SessionsReply,
    SessionSyncReply,
)
from memoryd.wire import NEIGHBOURS_MAX, SEQUENCE_MAX, SEQUENCE_TOKENS_MAX, SESSIONS_MAX, Exit

limit_option = click.option(
    "--limit", type=click.IntRange(1, SESSIONS_MAX), metavar="N", help="How many at most (default 50)."
)


@click.group("sessions")
def sessions_command() -> None:
    """List, read and forget conversations and transcripts."""


@sessions_command.command("list")
@limit_option
@key_option
@command_from_call(Client.sessions, found_at="sessions")
def list_sessions(reply: SessionsReply) -> Iterator[str]:
    """List conversations and transcripts, the latest first, and whether they can be searched."""
    now = datetime.now().astimezone()
    yield from (harmless_line(_row(session, now)) for session in reply["sessions"])
    if not reply["total"]:
        yield Note("there is no conversation, and no transcript")
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
@with_invocation
def show(invocation: Invocation, citation: str, around: int | None) -> Exit:
    """Print the lines of a citation, or a whole conversation, without secrets."""
    is_marked = is_terminal(sys.stdout) and not invocation.is_json
    neighbours = around if around is not None else NEIGHBOURS if is_marked else 0
    reply = invocation.memory.session_lines(citation, context=neighbours)
    following = reply.get("nextLine")
    cited = conversation_cited(citation)
    end = cited.start_line + cited.line_count if cited is not None and cited.start_line is not None else None
    is_cut = following is not None and (end is None or following < end)
    # a range of lines, because the next line alone may have no text
    lines = f"{reply['id']}#L{following}-L{(following or 0) + 999}"
    rest = f"cut short; go on with: memoryctl sessions show {shlex.quote(lines)}"
    return invocation.show(reply, _lines(reply, is_marked=is_marked), [rest] * is_cut)


@sessions_command.command("sync")
@click.option("--wait/--no-wait", "is_waiting", default=True, show_default=True, help="Wait until all is indexed.")
@timeout_option
@with_invocation
def sync(invocation: Invocation, is_waiting: bool, timeout: float) -> Exit:
    """Read new parts of conversations now, and wait until they can be searched."""
    reply = _sync(invocation, is_waiting, timeout)
    done = "read" if reply["complete"] and is_waiting else "asked for" if not is_waiting else "not finished"
    summary = f"{done}; {reply['indexed']:,} of {count(reply['conversations'], 'conversation')} can be searched"
    invocation.show(reply, [summary])
    if reason := reply.get("reason"):
        note(reason)
    return Exit.DONE if reply["complete"] else Exit.ERROR


@sessions_command.command("forget")
@argument(
    "session",
    metavar="ID",
    help="The conversation as `sessions list` names it, a citation of it, or the bare name of its session or file.",
)
@dry_option
@sure_option
@key_option
@with_invocation
def forget(invocation: Invocation, session: str, is_dry: bool, is_sure: bool) -> Exit:
    """Delete a conversation from files, index, vectors, held answers and exports.

    A transcript belongs to another program: its file stays, and is not read again.
    """
    return run_confirmed(
        invocation,
        lambda: invocation.memory.forget_session(session, dry_run=True),
        # by the full id: since the plan was made, another conversation may match the bare name
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
    help="The conversation as `sessions list` names it; without it all turns under --session-key, now and later, "
    "but no transcript.",
)
@click.option(
    "--yes/--no",
    "is_remembered",
    default=None,
    help="--no: do not store, index or export it from now on; --yes takes that back.",
)
@flag(
    "--agents-marks",
    "is_of_agents",
    help="With --yes: all session keys that were marked by the agent itself.",
)
@key_option
@with_invocation
def remember(invocation: Invocation, session: str | None, is_remembered: bool | None, is_of_agents: bool) -> Exit:
    """Mark a conversation "do not remember" (--no), or take that back (--yes)."""
    if is_remembered is None:
        raise click.UsageError("say --no to have it not remembered, or --yes to take that back")
    if not session and not invocation.session_key and not is_of_agents:
        raise click.UsageError("say which: an ID, or --session-key KEY")
    reply = invocation.memory.remember_session(session, remember=is_remembered, agents_marks=is_of_agents)
    if is_of_agents:
        return invocation.show(reply, [f"{count(reply['marks'], 'mark')} of session keys taken back"])
    what = reply["id"] or "any conversation under this session key"
    rows = f"; {count(reply['rows'], 'part')} left the index" if reply["rows"] else ""
    summary = f"{what} is {'remembered' if reply['remembered'] else 'not remembered'}{rows}"
    return invocation.show(reply, [harmless_line(summary)])


def _sync(invocation: Invocation, is_waiting: bool, seconds: float) -> SessionSyncReply:
    """Synchronise within `seconds`; on a terminal, report the progress on stderr."""

    def show_progress(reply: SessionSyncReply) -> None:
        if is_terminal(sys.stderr):
            note(f"{reply['indexed']:,} of {count(reply['conversations'], 'conversation')} read")

    return in_slices(
        seconds,
        lambda timeout_ms: invocation.memory.sync_sessions(wait=is_waiting, timeout_ms=timeout_ms),
        show_progress,
    )


def _row(session: SessionEntryReply, now: datetime) -> str:
    if session["kind"] == "qa":
        summary = f"{count(session['turns'] or 0, 'turn')}, {count(session['answers'] or 0, 'answer')}"
    else:
        lines = "no line read" if session["lines"] is None else count(session["lines"], "line")
        summary = lines if session["bytes"] is None else f"{lines}, {size(session['bytes'])}"
    state = "can be searched" if session["indexed"] else session["reason"] or "cannot be searched"
    archived = ", archived" if session["archived"] else ""
    return f"{session['id']}  {summary}{archived}, {ago(session['lastActivity'], now)}: {state}"


def _lines(reply: SessionLinesReply, *, is_marked: bool) -> Iterator[str]:
    has_neighbours = any(not line["cited"] for line in reply["lines"])
    for line in reply["lines"]:
        text = f"{line['line']:>6}  {line['text']}"
        yield with_gutter(text, is_marked=line["cited"]) if is_marked and has_neighbours else harmless(text)


def _parts(receipt: SessionForgetReply) -> Iterator[str]:
    yield from (f"with it {harmless_line(path)}" for path in receipt["conversations"] if path != receipt["id"])
    yield from map(harmless_line, receipt["remarks"])
    for number, singular, plural in (
        (receipt["files"], "file in the workspace", "files in the workspace"),
        (receipt["turns"], "turn", ""),
        (receipt["answers"], "kept answer", ""),
        (receipt["rows"], "part of the index, with words and vectors", "parts of the index, with words and vectors"),
        (receipt["heldAnswers"], "held answer", ""),
        (receipt["exports"], "export for qmd", "exports for qmd"),
    ):
        if number:
            yield count(number, singular, plural)


SHOWN_PLACES = 3
"""Citations shown of each topic."""


Parsed = TypeVar("Parsed")
_list_lines = partial(list_rows, option="--limit", most=SESSIONS_MAX)


@click.group("qa")
def qa_command() -> None:
    """Add turns of conversations, and show them in their order."""


def _parse(parse: Callable[[str], Parsed], text: str) -> Parsed:
    """Return `parse(text)`; raise UsageError instead of ValueError."""
    try:
        return parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


def _requested_turns(address: TurnAddress, seq: str | None) -> str | None:
    """Return the turns that the address or `--seq` names, None for all; raise UsageError if both name turns."""
    is_named = address != TurnAddress(address.session)
    if seq is None:
        return str(address.seqs) if is_named else None
    if is_named:
        raise click.UsageError("give the turns in the address or with --seq, not both")
    return str(_parse(parse_seqs, seq))


@qa_command.command("show")
@argument(
    "address",
    required=False,
    metavar="ID",
    help="The session, or turns of it: session:<id>#Q10-Q20; without it sessions are listed, the newest first.",
)
@click.option("--seq", metavar="RANGE", help="Which turns: 17, 10-20, 10- or -20.")
@click.option("--grep", "word", metavar="WORD", help="Only turns that contain this word.")
@limit_option
@key_option
@with_invocation
def show_turns(
    invocation: Invocation, address: str | None, seq: str | None, word: str | None, limit: int | None
) -> Exit:
    """Show the turns of a session, archived or not; without ID list the sessions."""
    if address is None:
        if seq or word:
            raise click.UsageError("which session: memoryctl qa show ID --seq 10-20")
        sessions = invocation.memory.qa_sessions(limit=limit)
        rows = sessions["sessions"]
        return invocation.show(
            sessions, _list_lines(rows, _session_line, sessions["total"], "session"), code=exit_code_of(rows)
        )
    if limit is not None:
        raise click.UsageError("--limit is for the list of sessions; give turns with --seq")
    turns = _parse(parse_address, address)
    reply = invocation.memory.qa_session(turns.session, seq=_requested_turns(turns, seq), grep=word)
    return invocation.show(reply, _session_lines(reply), code=exit_code_of(reply["sequence"]))


@qa_command.command("context")
@words_argument(
    "message",
    metavar="MESSAGE…",
    callback=lambda _context, _parameter, words: text_or_stdin(" ".join(words)) or None,
    help='The present message; "-": read it from standard input; without it the last turns are shown.',
)
@click.option("--session", metavar="ID", help="The current session (else the newest one of --key).")
@key_option
@click.option("-n", type=click.IntRange(1, SEQUENCE_MAX), help="How many turns at most (else memory.qa.contextTurns).")
@click.option(
    "--budget",
    type=click.IntRange(1, SEQUENCE_TOKENS_MAX),
    metavar="TOKENS",
    help="How many tokens at most (else 1200).",
)
@command_from_call(Client.qa_context, found_at="sequence")
def context(reply: QaContextReply) -> Iterator[str]:
    """Show the earlier turns that a message refers to, in order, and say why they were chosen."""
    yield from _turn_lines(reply["sequence"])
    yield Note(reply["why"])


@qa_command.command("topics")
@limit_option
@key_option
@command_from_call(Client.qa_topics, found_at="topics")
def topics(reply: QaTopicsReply) -> Iterator[str]:
    """List topics of the conversations, the most frequent first, each with its last turns."""
    return _list_lines(reply["topics"], _topic_line, reply["total"], "topic")


@qa_command.command("stats")
@key_option
@command_from_call(Client.qa_stats)
def stats(reply: QaStatsReply) -> Iterator[str]:
    """Count sessions, turns and kept answers, and name files that cannot be read."""
    turns, answers = reply["turns"], reply["answers"]
    yield f"sessions  {reply['sessions']:,} and {reply['archived']:,} in the archive"
    yield f"turns     {turns:,}"
    yield f"answers   {answers:,} kept ({percent(answers, turns)})"
    yield f"files     {size(reply['bytes'])} and {size(reply['archiveBytes'])} in the archive"
    yield from map(Note, reply["problems"])


def _session_lines(reply: QaSessionTurnsReply) -> Iterator[str]:
    yield from _turn_lines(reply["sequence"])
    if not reply["sequence"]:
        yield Note(f"no such turn: the session has {reply['turns']}")
    if reply["nextSeq"] is not None:
        yield Note(f"it goes on: --seq {reply['nextSeq']}-")


@qa_command.command("add")
@argument("words", nargs=-1, metavar="QUESTION…", help='The question; "-": read it from standard input.')
@click.option("--answer", metavar="TEXT", help='The answer; "-": read it from standard input.')
@click.option("--session", metavar="ID", help="The session, under any name (else the current session of --key).")
@key_option
@click.option("--timestamp", metavar="TIME", help="The time of the turn, ISO 8601 (else now).")
@click.option("--significance", type=Number(0, 1), help="How significant the answer is (else by the rules).")
@click.option(
    "--topic", "topics", multiple=True, metavar="TAG", help="What it is about (else by the rules); repeatable."
)
@with_invocation
def add(
    invocation: Invocation,
    words: tuple[str, ...],
    answer: str | None,
    session: str | None,
    timestamp: str | None,
    significance: float | None,
    topics: tuple[str, ...],
) -> Exit:
    """Add a turn to a session; the question is stored, and the answer too if it is significant."""
    if not (session or invocation.session_key):
        raise click.UsageError("which session: give --session ID, or --key with its session key")
    if words == ("-",) and answer == "-":
        raise click.UsageError("only one of question and answer can come from standard input")
    question = text_or_stdin(" ".join(words)).strip()
    if not question:
        raise click.UsageError('no question: memoryctl qa add "which port?" --answer 18790 --session ports')
    reply = invocation.memory.add_turn(
        question,
        None if answer is None else text_or_stdin(answer),
        session=session,
        timestamp=timestamp,
        significance=significance,
        topics=topics,
    )
    return invocation.show(reply, _added_lines(reply, is_answered=answer is not None))


@qa_command.command("mark")
@argument("address", metavar="ADDRESS", help="The turn: session:<id>#Q17.")
@flag("--drop", help="Drop the answer instead of keeping it; the question stays.")
@click.option("--answer", metavar="TEXT", help='Keep this answer; "-": read it from standard input.')
@key_option
@with_invocation
def mark(invocation: Invocation, address: str, drop: bool, answer: str | None) -> Exit:
    """Keep the answer of a turn, or drop it; an answer that was not kept can be restored for seven days."""
    if drop and answer is not None:
        raise click.UsageError("give --drop or --answer, not both")
    if _parse(parse_address, address).seq is None:
        raise click.UsageError(f"not one turn: {address} (expected session:<id>#Q17)")
    turn = invocation.memory.qa_mark(address, keep=not drop, answer=None if answer is None else text_or_stdin(answer))
    return invocation.show(turn, _turn_lines([turn]))


def _added_lines(reply: QaAddReply, *, is_answered: bool) -> Iterator[str]:
    if reply["citation"] is not None:
        yield reply["citation"]
    if not reply["remembered"]:
        yield Note("nothing was stored: the session is marked not to be remembered")
    elif is_answered and not reply["kept"]:
        yield Note(
            f"the answer is not kept (significance {reply['significance']}); for seven days this brings it back: "
            f"memoryctl qa mark {reply['citation']}"
        )


def _turn_lines(turns: Sequence[QaTurnReply]) -> Iterator[str]:
    """Yield the lines that show turns: citation, time and topics, then the question and the stored answer."""
    for number, turn in enumerate(turns):
        if number:
            yield ""
        yield in_columns(bold(turn["citation"]), minute(turn["timestamp"]), *map(harmless_line, turn["topics"]))
        yield f"  Q: {_indent(turn['q'])}"
        if turn["a"] is not None:
            yield f"  A: {_indent(turn['a'])}"


def _session_line(session: QaSessionReply) -> str:
    return in_columns(
        bold(session["session"]),
        minute(session["lastActivity"]),
        count(session["turns"], "turn"),
        f"{count(session['answers'], 'answer')} kept",
        "" if session["remembered"] else "not remembered",
    )


def _topic_line(topic: QaTopicReply) -> str:
    places = [harmless_line(place) for place in topic["citations"][-SHOWN_PLACES:]]
    more = "…" if topic["turns"] > len(places) else ""
    return in_columns(bold(topic["topic"]), count(topic["turns"], "turn"), *places, more)


def _indent(text: str) -> str:
    return "\n     ".join(harmless(text).rstrip().split("\n"))
