"""memoryctl remember: note something that is to be remembered."""

import click

from memoryd.cli.bullet_arguments import BulletCommand, BulletText
from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.retained_rows import print_retained, statement_options
from memoryd.cli.turn_arguments import given_text
from memoryd.wire import Exit


@click.command("remember", cls=BulletCommand, context_settings=HELP)
@click.argument("text", cls=Argument, type=BulletText(), help="What is to be remembered; - reads standard input.")
@statement_options
@shared
@click.pass_obj
def command(
    invocation: Invocation,
    text: str,
    importance: float | None,
    scope: str | None,
    entities: tuple[str, ...],
    at: str | None,
) -> Exit:
    """Remember a text: a note of importance 0.8 in today's log, unless the text says otherwise."""
    with invocation.client() as memory:
        reply = memory.retain(
            given_text(text),
            remember=True,
            importance=importance,
            scope=scope,
            entities=list(entities),
            at=at,
            agent=invocation.agent,
        )
    return print_retained(invocation, reply)
