"""memoryctl sync: wait until what is on disk now can be found."""

from typing import get_args

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.waiting import reach, report, timeout_option
from memoryd.wire import Exit, SyncGoal


@click.command("sync", context_settings=HELP)
@click.option(
    "--wait",
    "goal",
    type=click.Choice(get_args(SyncGoal)),
    default="indexed",
    show_default=True,
    help="What to wait for: nothing, until it is found by words, or by words and meaning.",
)
@timeout_option
@shared
@click.pass_obj
def command(invocation: Invocation, goal: SyncGoal, timeout: float) -> Exit:
    """Read what changed on disk and wait until it is indexed."""
    return report(invocation, goal, reach(invocation, goal, timeout))
