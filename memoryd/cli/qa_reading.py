"""memoryctl qa show, context, topics, stats: what is kept of turns."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.listing import rest_notes
from memoryd.cli.turn_arguments import given_address, given_seqs, given_text, key_option, limit_option
from memoryd.cli.turns import session_line, stats_lines, topic_line, turn_lines
from memoryd.replies.conversations import QaSessionTurnsReply
from memoryd.wire import SEQUENCE_MAX, SEQUENCE_TOKENS_MAX, SESSIONS_MAX, Exit


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
