"""memoryctl qa: the questions and answers of conversations."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, Number, rest_notes, shared
from memoryd.cli.terminal import count, harmless, harmless_line, percent, size, styled
from memoryd.domain.citations import TurnAddress, parse_address, parse_seqs
from memoryd.replies.conversations import (
    QaAddReply,
    QaSessionReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicReply,
    QaTurnReply,
)
from memoryd.wire import SEQUENCE_MAX, SEQUENCE_TOKENS_MAX, SESSIONS_MAX, Exit

key_option = click.option(
    "--key",
    "--session-key",
    "key",
    metavar="KEY",
    help="The session key of the session, such as agent:main:discord:direct:peter.",
)
limit_option = click.option("--limit", type=click.IntRange(1, SESSIONS_MAX), metavar="N", help="How many at most.")
SHOWN_PLACES = 3
"""Addresses of a topic."""


def given_text(given: str) -> str:
    """Return a text, for `-` that of standard input."""
    return sys.stdin.read() if given == "-" else given


def given_address(text: str) -> TurnAddress:
    """Read the address of turns; raises UsageError."""
    try:
        return parse_address(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


def given_seqs(address: TurnAddress, seq: str | None) -> str | None:
    """Return which turns are meant, by the address or by the option; raises UsageError."""
    is_named = address != TurnAddress(address.session)
    if seq is None:
        return str(address.seqs) if is_named else None
    if is_named:
        raise click.UsageError("give the turns in the address or with --seq, not both")
    try:
        return str(parse_seqs(seq))
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


@click.command("show", context_settings=HELP)
@click.argument(
    "address",
    cls=Argument,
    required=False,
    metavar="ID",
    help="The session, or turns of it: session:<id>#Q10-Q20; without it sessions are listed, the newest first.",
)
@click.option("--seq", metavar="RANGE", help="Which turns: 17, 10-20, 10- or -20.")
@click.option("--grep", "word", metavar="WORD", help="Only turns in which this stands.")
@limit_option
@key_option
@shared
@click.pass_obj
def show(
    invocation: Invocation, address: str | None, seq: str | None, word: str | None, limit: int | None, key: str | None
) -> Exit:
    """Show the turns of a session, one in the archive too; without ID list the sessions."""
    if address is None:
        if seq or word:
            raise click.UsageError("which session: memoryctl qa show ID --seq 10-20")
        return _list_sessions(invocation, limit, key)
    if limit is not None:
        raise click.UsageError("--limit is for the list of sessions; give turns with --seq")
    found = given_address(address)
    seqs = given_seqs(found, seq)
    with invocation.client() as client:
        reply = client.qa_session(found.session, seq=seqs, grep=word, session_key=key, agent=invocation.agent)
    invocation.show(reply, turn_lines(reply["sequence"]), _shown_notes(reply))
    return Exit.DONE if reply["sequence"] else Exit.NOTHING_FOUND


@click.command("context", context_settings=HELP)
@click.argument(
    "words",
    nargs=-1,
    cls=Argument,
    metavar="MESSAGE…",
    help='What was said now; "-": read it from standard input; without it the last turns come.',
)
@click.option("--session", metavar="ID", help="The current session (else the newest one of --key).")
@key_option
@click.option("-n", "turns", type=click.IntRange(1, SEQUENCE_MAX), help="How many turns (else memory.qa.contextTurns).")
@click.option(
    "--budget", type=click.IntRange(1, SEQUENCE_TOKENS_MAX), metavar="TOKENS", help="What it may cost (else 1200)."
)
@shared
@click.pass_obj
def context(
    invocation: Invocation,
    words: tuple[str, ...],
    session: str | None,
    key: str | None,
    turns: int | None,
    budget: int | None,
) -> Exit:
    """Show the turns that a message takes up again, in order, and say why these."""
    with invocation.client() as client:
        reply = client.qa_context(
            given_text(" ".join(words)) or None,
            session=session,
            n=turns,
            budget=budget,
            session_key=key,
            agent=invocation.agent,
        )
    invocation.show(reply, turn_lines(reply["sequence"]), [reply["why"]])
    return Exit.DONE if reply["sequence"] else Exit.NOTHING_FOUND


@click.command("topics", context_settings=HELP)
@limit_option
@key_option
@shared
@click.pass_obj
def topics(invocation: Invocation, limit: int | None, key: str | None) -> Exit:
    """List what was talked about, the most frequent first, and where last."""
    with invocation.client() as client:
        reply = client.qa_topics(limit=limit, session_key=key, agent=invocation.agent)
    rest = rest_notes(len(reply["topics"]), reply["total"], "topic", option="--limit", most=SESSIONS_MAX)
    invocation.show(reply, map(topic_line, reply["topics"]), rest)
    return Exit.DONE if reply["topics"] else Exit.NOTHING_FOUND


@click.command("stats", context_settings=HELP)
@key_option
@shared
@click.pass_obj
def stats(invocation: Invocation, key: str | None) -> Exit:
    """Count sessions, turns and kept answers, and name files that cannot be read."""
    with invocation.client() as client:
        reply = client.qa_stats(session_key=key, agent=invocation.agent)
    invocation.show(reply, stats_lines(reply), reply["problems"])
    return Exit.DONE


def _list_sessions(invocation: Invocation, limit: int | None, key: str | None) -> Exit:
    with invocation.client() as client:
        reply = client.qa_sessions(limit=limit, session_key=key, agent=invocation.agent)
    rest = rest_notes(len(reply["sessions"]), reply["total"], "session", option="--limit", most=SESSIONS_MAX)
    invocation.show(reply, map(session_line, reply["sessions"]), rest)
    return Exit.DONE if reply["sessions"] else Exit.NOTHING_FOUND


def _shown_notes(reply: QaSessionTurnsReply) -> Iterator[str]:
    if not reply["sequence"]:
        yield f"no such turn: the session has {reply['turns']}"
    if reply["nextSeq"] is not None:
        yield f"it goes on: --seq {reply['nextSeq']}-"


@click.group("qa", context_settings=HELP)
def qa_command() -> None:
    """Add turns of conversations, and find them again in their order."""


@click.command("add", context_settings=HELP)
@click.argument(
    "words", nargs=-1, cls=Argument, metavar="QUESTION…", help='What was asked; "-": read it from standard input.'
)
@click.option("--answer", metavar="TEXT", help='What was answered; "-": read it from standard input.')
@click.option("--session", metavar="ID", help="The session, by any name (else the one of --key that goes on).")
@key_option
@click.option("--timestamp", metavar="TIME", help="When it was said, ISO 8601 (else now).")
@click.option("--significance", type=Number(0, 1), help="How significant the answer is (else by the rules).")
@click.option(
    "--topic", "topics", multiple=True, metavar="TAG", help="What it is about (else by the rules); repeatable."
)
@shared
@click.pass_obj
def add(
    invocation: Invocation,
    words: tuple[str, ...],
    answer: str | None,
    session: str | None,
    key: str | None,
    timestamp: str | None,
    significance: float | None,
    topics: tuple[str, ...],
) -> Exit:
    """Add a turn to a session; the question is kept, and the answer if it is significant."""
    if not (session or key):
        raise click.UsageError("which session: give --session ID, or --key with its session key")
    if words == ("-",) and answer == "-":
        raise click.UsageError("only one of question and answer can come from standard input")
    question = given_text(" ".join(words)).strip()
    if not question:
        raise click.UsageError('no question: memoryctl qa add "which port?" --answer 18790 --session ports')
    with invocation.client() as client:
        reply = client.add_turn(
            question,
            None if answer is None else given_text(answer),
            session=session,
            session_key=key,
            timestamp=timestamp,
            significance=significance,
            topics=list(topics) or None,
            agent=invocation.agent,
        )
    lines = [] if reply["citation"] is None else [reply["citation"]]
    invocation.show(reply, lines, _added_notes(reply, is_answered=answer is not None))
    return Exit.DONE


@click.command("mark", context_settings=HELP)
@click.argument("address", cls=Argument, metavar="ADDRESS", help="The turn: session:<id>#Q17.")
@click.option("--drop", is_flag=True, help="Drop the answer instead of keeping it; the question stays.")
@click.option("--answer", metavar="TEXT", help='Keep this answer; "-": read it from standard input.')
@key_option
@shared
@click.pass_obj
def mark(invocation: Invocation, address: str, drop: bool, answer: str | None, key: str | None) -> Exit:
    """Keep the answer of a turn, or drop it; one that was not kept comes back for seven days."""
    if drop and answer is not None:
        raise click.UsageError("give --drop or --answer, not both")
    if given_address(address).seq is None:
        raise click.UsageError(f"not one turn: {address} (expected session:<id>#Q17)")
    given = None if answer is None else given_text(answer)
    with invocation.client() as client:
        turn = client.qa_mark(address, keep=not drop, answer=given, session_key=key, agent=invocation.agent)
    invocation.show(turn, turn_lines([turn]))
    return Exit.DONE


def _added_notes(reply: QaAddReply, *, is_answered: bool) -> Iterator[str]:
    if not reply["remembered"]:
        yield "nothing was stored: the session is marked not to be remembered"
    elif is_answered and not reply["kept"]:
        yield (
            f"the answer is not kept (significance {reply['significance']}); for seven days this brings it back: "
            f"memoryctl qa mark {reply['citation']}"
        )


for one in (add, show, context, mark, topics, stats):
    qa_command.add_command(one)


def turn_lines(turns: Sequence[QaTurnReply]) -> Iterator[str]:
    """Yield turns with an empty line between them."""
    for number, turn in enumerate(turns):
        yield ("\n" if number else "") + "\n".join(_turn_lines(turn))


def _turn_lines(turn: QaTurnReply) -> Iterator[str]:
    """Yield a turn: its address, when it was and what about, then the question and the answer that is kept."""
    about = [harmless_line(topic) for topic in turn["topics"]]
    yield "  ".join([styled(harmless_line(turn["citation"]), bold=True), _minute(turn["timestamp"]), *about])
    yield f"  Q: {_indented(turn['q'])}"
    if turn["a"] is not None:
        yield f"  A: {_indented(turn['a'])}"


def session_line(session: QaSessionReply) -> str:
    """Return a session on one line."""
    told = [
        _minute(session["lastActivity"]),
        count(session["turns"], "turn"),
        count(session["answers"], "answer") + " kept",
    ]
    if not session["remembered"]:
        told.append("not remembered")
    return "  ".join([styled(harmless_line(session["session"]), bold=True), *told])


def topic_line(topic: QaTopicReply) -> str:
    """Return a topic with the places where it was talked about last."""
    places = [harmless_line(place) for place in topic["citations"][-SHOWN_PLACES:]]
    more = "  …" if topic["turns"] > len(places) else ""
    return "  ".join([styled(harmless_line(topic["topic"]), bold=True), count(topic["turns"], "turn"), *places]) + more


def stats_lines(stats: QaStatsReply) -> Iterator[str]:
    """Yield how much there is."""
    turns, answers = stats["turns"], stats["answers"]
    yield f"sessions  {stats['sessions']:,} and {stats['archived']:,} in the archive"
    yield f"turns     {turns:,}"
    yield f"answers   {answers:,} kept ({percent(answers, turns)})"
    yield f"files     {size(stats['bytes'])} and {size(stats['archiveBytes'])} in the archive"


def _minute(moment: str) -> str:
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return harmless_line(moment)


def _indented(text: str) -> str:
    return "\n     ".join(harmless(text).rstrip().split("\n"))
