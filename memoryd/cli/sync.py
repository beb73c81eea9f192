"""memoryctl sync: wait until what is on disk now can be found."""

from typing import get_args

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.waiting import reach, report, timeout_option
from memoryd.client import Wait
from memoryd.wire import Exit


@click.command("sync", context_settings=HELP)
@click.option(
    "--wait",
    "goal",
    type=click.Choice(get_args(Wait)),
    default="indexed",
    show_default=True,
    help="What to wait for: nothing, until it is found by words, or by words and meaning.",
)
@timeout_option
@shared
@click.pass_obj
def command(invocation: Invocation, goal: Wait, timeout: float) -> Exit:
    """Read what changed on disk and wait until it is indexed."""
    return report(invocation, goal, reach(invocation, goal, timeout))
