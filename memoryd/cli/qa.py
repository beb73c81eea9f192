"""memoryctl qa: the questions and answers of conversations."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, Number, shared
from memoryd.cli.qa_reading import context, show, stats, topics
from memoryd.cli.turn_arguments import given_address, given_text, key_option
from memoryd.cli.turns import turn_lines
from memoryd.replies.conversations import QaAddReply
from memoryd.wire import Exit


@click.group("qa", context_settings=HELP)
def command() -> None:
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
    command.add_command(one)
