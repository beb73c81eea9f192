"""memoryctl qa: the questions and answers of conversations."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import click

from memoryd.cli.invocation import (
    Invocation,
    Note,
    Number,
    argument,
    asks,
    flag,
    found,
    key_option,
    listed,
    text_or_stdin,
    verb,
    words_argument,
)
from memoryd.cli.terminal import bold, count, harmless, harmless_line, minute, percent, size
from memoryd.client import Client
from memoryd.domain.documents import TurnAddress, parse_address, parse_seqs
from memoryd.replies.conversations import (
    QaAddReply,
    QaSessionReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicReply,
    QaTopicsReply,
    QaTurnReply,
)
from memoryd.wire import SEQUENCE_MAX, SEQUENCE_TOKENS_MAX, SESSIONS_MAX, Exit

limit_option = click.option("--limit", type=click.IntRange(1, SESSIONS_MAX), metavar="N", help="How many at most.")
SHOWN_PLACES = 3
"""Addresses of a topic."""


Read = TypeVar("Read")
_listed = partial(listed, option="--limit", most=SESSIONS_MAX)


@click.group("qa")
def qa_command() -> None:
    """Add turns of conversations, and find them again in their order."""


def _parse(parse: Callable[[str], Read], text: str) -> Read:
    """Read a text; raises UsageError."""
    try:
        return parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


def _requested_turns(address: TurnAddress, seq: str | None) -> str | None:
    """Return which turns are meant, by the address or by the option; raises UsageError."""
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
@click.option("--grep", "word", metavar="WORD", help="Only turns in which this stands.")
@limit_option
@key_option
@verb
def show(invocation: Invocation, address: str | None, seq: str | None, word: str | None, limit: int | None) -> Exit:
    """Show the turns of a session, one in the archive too; without ID list the sessions."""
    if address is None:
        if seq or word:
            raise click.UsageError("which session: memoryctl qa show ID --seq 10-20")
        every = invocation.memory.qa_sessions(limit=limit)
        rows = every["sessions"]
        return invocation.show(every, _listed(rows, _session_line, every["total"], "session"), code=found(rows))
    if limit is not None:
        raise click.UsageError("--limit is for the list of sessions; give turns with --seq")
    named = _parse(parse_address, address)
    reply = invocation.memory.qa_session(named.session, seq=_requested_turns(named, seq), grep=word)
    return invocation.show(reply, _session_lines(reply), code=found(reply["sequence"]))


@qa_command.command("context")
@words_argument(
    "message",
    metavar="MESSAGE…",
    help='What was said now; "-": read it from standard input; without it the last turns come.',
)
@click.option("--session", metavar="ID", help="The current session (else the newest one of --key).")
@key_option
@click.option("-n", type=click.IntRange(1, SEQUENCE_MAX), help="How many turns (else memory.qa.contextTurns).")
@click.option(
    "--budget", type=click.IntRange(1, SEQUENCE_TOKENS_MAX), metavar="TOKENS", help="What it may cost (else 1200)."
)
@verb
def context(invocation: Invocation, message: str, session: str | None, n: int | None, budget: int | None) -> Exit:
    """Show the turns that a message takes up again, in order, and say why these."""
    text = text_or_stdin(message) or None
    reply = invocation.memory.qa_context(text, session=session, n=n, budget=budget)
    return invocation.show(reply, _turn_lines(reply["sequence"]), [reply["why"]], code=found(reply["sequence"]))


@qa_command.command("topics")
@limit_option
@key_option
@asks(Client.qa_topics, found_at="topics")
def topics(reply: QaTopicsReply) -> Iterator[str]:
    """List what was talked about, the most frequent first, and where last."""
    return _listed(reply["topics"], _topic_line, reply["total"], "topic")


@qa_command.command("stats")
@key_option
@asks(Client.qa_stats)
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
@argument("words", nargs=-1, metavar="QUESTION…", help='What was asked; "-": read it from standard input.')
@click.option("--answer", metavar="TEXT", help='What was answered; "-": read it from standard input.')
@click.option("--session", metavar="ID", help="The session, by any name (else the one of --key that goes on).")
@key_option
@click.option("--timestamp", metavar="TIME", help="When it was said, ISO 8601 (else now).")
@click.option("--significance", type=Number(0, 1), help="How significant the answer is (else by the rules).")
@click.option(
    "--topic", "topics", multiple=True, metavar="TAG", help="What it is about (else by the rules); repeatable."
)
@verb
def add(
    invocation: Invocation,
    words: tuple[str, ...],
    answer: str | None,
    session: str | None,
    timestamp: str | None,
    significance: float | None,
    topics: tuple[str, ...],
) -> Exit:
    """Add a turn to a session; the question is kept, and the answer if it is significant."""
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
@verb
def mark(invocation: Invocation, address: str, drop: bool, answer: str | None) -> Exit:
    """Keep the answer of a turn, or drop it; one that was not kept comes back for seven days."""
    if drop and answer is not None:
        raise click.UsageError("give --drop or --answer, not both")
    if _parse(parse_address, address).seq is None:
        raise click.UsageError(f"not one turn: {address} (expected session:<id>#Q17)")
    given = None if answer is None else text_or_stdin(answer)
    turn = invocation.memory.qa_mark(address, keep=not drop, answer=given)
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
    """Yield turns: address, when it was and what about, then the question and the answer that is kept."""
    for number, turn in enumerate(turns):
        if number:
            yield ""
        about = [harmless_line(topic) for topic in turn["topics"]]
        yield "  ".join([bold(turn["citation"]), minute(turn["timestamp"]), *about])
        yield f"  Q: {_indent(turn['q'])}"
        if turn["a"] is not None:
            yield f"  A: {_indent(turn['a'])}"


def _session_line(session: QaSessionReply) -> str:
    parts = [
        minute(session["lastActivity"]),
        count(session["turns"], "turn"),
        count(session["answers"], "answer") + " kept",
    ]
    if not session["remembered"]:
        parts.append("not remembered")
    return "  ".join([bold(session["session"]), *parts])


def _topic_line(topic: QaTopicReply) -> str:
    places = [harmless_line(place) for place in topic["citations"][-SHOWN_PLACES:]]
    more = "  …" if topic["turns"] > len(places) else ""
    return "  ".join([bold(topic["topic"]), count(topic["turns"], "turn"), *places]) + more


def _indent(text: str) -> str:
    return "\n     ".join(harmless(text).rstrip().split("\n"))
