"""memoryctl qa: the questions and answers of conversations."""

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, Number, shared
from memoryd.cli.terminal import note
from memoryd.cli.turn_arguments import given_address, given_seqs, given_text
from memoryd.cli.turns import session_line, stats_lines, topic_line, turn_lines
from memoryd.replies.qa import QaAddReply, QaTurnReply
from memoryd.wire import SEQUENCE_MAX, SEQUENCE_TOKENS_MAX, SESSIONS_MAX, Exit

key_option = click.option(
    "--key",
    "--session-key",
    "key",
    metavar="KEY",
    help="The session key of the session, such as agent:main:discord:direct:peter.",
)
limit_option = click.option("--limit", type=click.IntRange(1, SESSIONS_MAX), metavar="N", help="How many at most.")


@click.group("qa", context_settings=HELP)
def command() -> None:
    """Add turns of conversations, and find them again in their order."""


@command.command("add", context_settings=HELP)
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
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print_added(reply, is_answered=answer is not None)
    return Exit.DONE


@command.command("show", context_settings=HELP)
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
        return _list(invocation, limit, key)
    if limit is not None:
        raise click.UsageError("--limit is for the list of sessions; give turns with --seq")
    found = given_address(address)
    seqs = given_seqs(found, seq)
    with invocation.client() as client:
        reply = client.qa_session(found.session, seq=seqs, grep=word, session_key=key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print_turns(reply["sequence"])
        if not reply["sequence"]:
            note(f"no such turn: the session has {reply['turns']}")
        if reply["nextSeq"] is not None:
            note(f"it goes on: --seq {reply['nextSeq']}-")
    return Exit.DONE if reply["sequence"] else Exit.NOTHING_FOUND


@command.command("context", context_settings=HELP)
@click.argument(
    "words",
    nargs=-1,
    cls=Argument,
    metavar="MESSAGE…",
    help='What was said now; "-": read it from standard input; without it the last turns come.',
)
@click.option("--session", metavar="ID", help="The current session (else the newest one of --key).")
@key_option
@click.option("-n", "turns", type=click.IntRange(1, SEQUENCE_MAX), help="How many turns (else qa.contextTurns).")
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
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print_turns(reply["sequence"])
        note(reply["why"])
    return Exit.DONE if reply["sequence"] else Exit.NOTHING_FOUND


@command.command("mark", context_settings=HELP)
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
    if invocation.is_json:
        invocation.print_json(turn)
    else:
        _print_turns([turn])
    return Exit.DONE


@command.command("topics", context_settings=HELP)
@limit_option
@key_option
@shared
@click.pass_obj
def topics(invocation: Invocation, limit: int | None, key: str | None) -> Exit:
    """List what was talked about, the most frequent first, and where last."""
    with invocation.client() as client:
        reply = client.qa_topics(limit=limit, session_key=key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        for topic in reply["topics"]:
            click.echo(topic_line(topic))
        _note_more(len(reply["topics"]), reply["total"], "topic")
    return Exit.DONE if reply["topics"] else Exit.NOTHING_FOUND


@command.command("stats", context_settings=HELP)
@key_option
@shared
@click.pass_obj
def stats(invocation: Invocation, key: str | None) -> Exit:
    """Count sessions, turns and kept answers, and name files that cannot be read."""
    with invocation.client() as client:
        reply = client.qa_stats(session_key=key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        for line in stats_lines(reply):
            click.echo(line)
        for problem in reply["problems"]:
            note(problem)
    return Exit.DONE


def _list(invocation: Invocation, limit: int | None, key: str | None) -> Exit:
    with invocation.client() as client:
        reply = client.qa_sessions(limit=limit, session_key=key, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        for session in reply["sessions"]:
            click.echo(session_line(session))
        _note_more(len(reply["sessions"]), reply["total"], "session")
    return Exit.DONE if reply["sessions"] else Exit.NOTHING_FOUND


def _print_turns(turns: list[QaTurnReply]) -> None:
    for number, turn in enumerate(turns):
        click.echo(("\n" if number else "") + "\n".join(turn_lines(turn)))


def _print_added(reply: QaAddReply, *, is_answered: bool) -> None:
    if not reply["remembered"]:
        note("nothing was stored: the session is marked not to be remembered")
        return
    click.echo(reply["citation"])
    if is_answered and not reply["kept"]:
        note(
            f"the answer is not significant enough ({reply['significance']}); it can be kept for seven days: "
            f"memoryctl qa mark {reply['citation']}"
        )


def _note_more(shown: int, total: int, noun: str) -> None:
    if not total:
        note(f"there is no {noun}")
    elif shown < total:
        note(f"{total - shown:,} more: --limit {min(total, SESSIONS_MAX)}")
