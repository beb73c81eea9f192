"""What the commands that state memories share: their options, and how what came of it is shown."""

from collections.abc import Callable
from typing import TypeVar

import click

from memoryd.cli.invocation import Invocation, Number
from memoryd.cli.listing import SHORT_ID, undo_notes
from memoryd.cli.terminal import harmless_line, styled
from memoryd.replies.memories import RetainedReply, RetainReply
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
    unsearchable = [] if reply["searchable"] else ["it is written, and not indexed yet: memoryctl status says why"]
    notes = [*undo_notes([reply["change"]]), *unsearchable, *reply["notes"]]
    invocation.show(reply, map(_line, reply["memories"]), notes)
    return Exit.DONE


def _line(one: RetainedReply) -> str:
    told = "retained" if one["created"] else "stands there already"
    return f"{styled(harmless_line(one['citation']), bold=True)}  {one['id'][:SHORT_ID]}  {told}"
