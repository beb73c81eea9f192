"""memoryctl undo: take back what was written."""

import sys

import click

from memoryd.cli.change_rows import change_lines
from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.domain.citations import is_conversation
from memoryd.wire import POSITION_MAX, Exit


class _ChangeNumber(click.IntRange):
    """The number of a change; a session is none, and is taken out otherwise."""

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raises BadParameter."""
        if is_conversation(str(value)):
            self.fail(f"a conversation is no change: memoryctl sessions forget {value}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("undo", context_settings=HELP)
@click.argument(
    "change", cls=Argument, type=_ChangeNumber(1, POSITION_MAX), required=False, help="The number of a change."
)
@click.option("--run", metavar="RUN", help="Take back all changes of one act that wrote several files.")
@click.option("--dry-run", is_flag=True, help="Say only what would be taken back.")
@shared
@click.pass_obj
def command(invocation: Invocation, change: int | None, run: str | None, dry_run: bool) -> Exit:
    """Take back a change where its lines still stand; that is a change too, and can be taken back.

    `memoryctl changes` lists the numbers.
    """
    if (change is None) == (run is None):
        raise click.UsageError("give the number of a change, or --run")
    with invocation.client() as memory:
        reply = memory.undo(change, run=run, dry_run=dry_run, agent=invocation.agent)
    lines = (line for one in reply["undone"] for line in change_lines(one["change"], most=sys.maxsize))
    again = [f"to have it again: memoryctl undo {one['undoneBy']}" for one in reply["undone"] if one["undoneBy"]]
    invocation.show(reply, lines, [*again, *["nothing was written: it would be taken back"] * dry_run])
    return Exit.DONE
