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
    if invocation.is_json:
        invocation.print_json({"client": __version__, "daemon": running})
    else:
        click.echo(f"memoryctl {__version__}\nmemoryd   {running or 'not running'}")
    return Exit.DONE


def _running_version(invocation: Invocation) -> str | None:
    try:
        with invocation.client(timeout=5) as client:
            return client.status()["version"]
    except DaemonNotRunning:
        return None
