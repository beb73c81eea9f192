"""memoryctl sync: wait until what is on disk now can be found."""

from typing import get_args

import click

from memoryd.cli.number import Number
from memoryd.cli.settings import HELP, Settings, shared
from memoryd.cli.waiting import TIMEOUT_SECONDS, reach, report
from memoryd.client import Wait
from memoryd.wire import Exit


@click.command("sync", context_settings=HELP)
@click.option(
    "--wait",
    "goal",
    type=click.Choice(get_args(Wait)),
    default="indexed",
    show_default=True,
    help="For nothing, for words, or for words and meaning.",
)
@click.option(
    "--timeout",
    type=Number(min=0),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds to wait at most; then exit with 1.",
)
@shared
@click.pass_obj
def command(settings: Settings, goal: Wait, timeout: float) -> Exit:
    """Read what changed on disk and wait until it is indexed."""
    return report(settings, goal, reach(settings, goal, timeout))
