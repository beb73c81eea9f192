"""memoryctl status: what the daemon knows, does and lacks."""

import time
from datetime import UTC, datetime

import click
from rich.console import RenderableType
from rich.live import Live

from memoryd.cli.bars import console, print_view
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.memory.status_screen import is_degraded, screen_view
from memoryd.cli.terminal import encoded
from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, DeadlineExceeded
from memoryd.replies.status import StatusReply
from memoryd.wire import Exit

REFRESH_SECONDS = 1.0
SILENCE_SECONDS = 15.0
"""How long it may take to tell how it does, which takes a fraction of a second."""


@click.command("status", context_settings=HELP)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Show all that is known of each part.")
@click.option("--strict", "is_strict", is_flag=True, help="Exit 4 if anything does less than it should.")
@click.option(
    "--watch",
    "is_watching",
    is_flag=True,
    help="Keep showing it, every second, until Ctrl-C; with --json one line each time.",
)
@shared
@click.pass_obj
def status_command(invocation: Invocation, is_watching: bool, is_verbose: bool, is_strict: bool) -> Exit:
    """Show on one screen what is well, at work or wrong, and what to do about it.

    Of one agent each part is shown, of several a line each; --agent ID or --verbose shows more.
    """
    with invocation.client(SILENCE_SECONDS) as client:

        def look() -> StatusReply:
            return _status(invocation, client)

        def view(status: StatusReply) -> RenderableType:
            return screen_view(status, datetime.now(UTC), is_verbose=is_verbose)

        status = look()
        if is_watching and invocation.is_json:
            while True:
                click.echo(encoded(status, indent=None))
                time.sleep(REFRESH_SECONDS)
                status = look()
        if is_watching:
            with Live(view(status), console=console(), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH_SECONDS)
                    live.update(view(look()), refresh=True)
        if invocation.is_json:
            invocation.print_json(status)
        else:
            print_view(view(status))
    return Exit.INCOMPLETE if is_strict and is_degraded(status) else Exit.DONE


def _status(invocation: Invocation, client: Client) -> StatusReply:
    try:
        status = client.status()
    except DeadlineExceeded as exc:
        # for whoever watches over it one that hangs is down
        silence = f"memoryd has not answered for {SILENCE_SECONDS:.0f} s"
        raise DaemonNotRunning(silence, hint="memoryctl logs, then memoryctl service restart") from exc
    status["agents"] = invocation.chosen_agents(status)
    return status
