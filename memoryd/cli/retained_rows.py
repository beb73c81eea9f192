"""What the commands that state memories share: their options, and how what came of it is shown."""

from collections.abc import Callable
from typing import TypeVar

import click

from memoryd.cli.invocation import Invocation, Number
from memoryd.cli.terminal import harmless_line, styled
from memoryd.replies.retained import RetainReply
from memoryd.wire import Exit

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])


def statement_options(command: AnyFunction) -> AnyFunction:
    """Add what may be said of a memory beside its text."""
    for add in (
        click.option("--at", metavar="DATE", help="When it was so: 2026-11-18, 2026-11 or 2026-11-18..2026-11-20."),
        click.option(
            "--entity", "-e", "entities", metavar="NAME", multiple=True, help="What it is about; may be repeated."
        ),
        click.option(
            "--scope", metavar="SCOPE", help="Whom it is for: agent:ID, agent:ID:CHANNEL or global (default: all here)."
        ),
        click.option("--importance", "-i", type=Number(0, 1), metavar="0..1", help="How important it is."),
    ):
        command = add(command)
    return command


def print_retained(invocation: Invocation, reply: RetainReply) -> Exit:
    """Print where memories stand, and to stderr what is to be known of them."""
    if invocation.is_json:
        invocation.print_json(reply)
        return Exit.DONE
    for one in reply["memories"]:
        told = "retained" if one["created"] else "stands there already"
        click.echo(f"{styled(harmless_line(one['citation']), bold=True)}  {one['id'][:8]}  {told}")
    if reply["change"] is not None:
        click.echo(f"to take it back: memoryctl undo {reply['change']}", err=True)
    if not reply["searchable"]:
        click.echo("it is written, and not indexed yet: memoryctl status says why", err=True)
    for note in reply["notes"]:
        click.echo(f"note: {harmless_line(note)}", err=True)
    return Exit.DONE
