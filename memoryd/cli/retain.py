"""memoryctl retain: state a memory in today's log."""

import click

from memoryd.cli.bullet_arguments import BulletCommand, BulletText
from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.retained_rows import print_retained, statement_options
from memoryd.cli.turn_arguments import given_text
from memoryd.wire import Exit


@click.command("retain", cls=BulletCommand, context_settings=HELP)
@click.argument(
    "text", cls=Argument, type=BulletText(), help='A bullet, "W @Peter: …", or plain text; - reads standard input.'
)
@click.option("--kind", metavar="KIND", help="The kind of plain text: W, B, O, S or a word such as fact (default W).")
@statement_options
@shared
@click.pass_obj
def command(
    invocation: Invocation,
    text: str,
    kind: str | None,
    importance: float | None,
    scope: str | None,
    entities: tuple[str, ...],
    at: str | None,
) -> Exit:
    """State a memory: it becomes a bullet below the Retain heading of today's log.

    From standard input every bullet is a memory of its own, and all are written at once.
    """
    with invocation.client() as memory:
        reply = memory.retain(
            given_text(text),
            each=text == "-",
            kind=kind,
            importance=importance,
            scope=scope,
            entities=list(entities),
            at=at,
            agent=invocation.agent,
        )
    return print_retained(invocation, reply)
