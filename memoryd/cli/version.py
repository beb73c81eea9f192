"""memoryctl version: which memoryctl this is, and which memoryd answers."""

import click

from memoryd import __version__
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.errors import DaemonNotRunning
from memoryd.wire import Exit


@click.command("version", context_settings=HELP)
@shared
@click.pass_obj
def command(invocation: Invocation) -> Exit:
    """Print the version of memoryctl and of the running memoryd."""
    running = _running_version(invocation)
    notes = ["memoryd is of another version: restart it"] if running not in (None, __version__) else []
    lines = [f"memoryctl {__version__}", f"memoryd   {running or 'not running'}"]
    invocation.show({"client": __version__, "daemon": running}, lines, notes)
    return Exit.DONE


def _running_version(invocation: Invocation) -> str | None:
    try:
        with invocation.client(timeout=5) as client:
            return client.status()["version"]
    except DaemonNotRunning:
        return None
