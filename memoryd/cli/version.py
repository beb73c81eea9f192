"""memoryctl version: which memoryctl this is, and which memoryd answers."""

import click

from memoryd import __version__
from memoryd.cli.settings import HELP, Settings, shared
from memoryd.errors import DaemonNotRunning
from memoryd.wire import Exit


@click.command("version", context_settings=HELP)
@shared
@click.pass_obj
def command(settings: Settings) -> Exit:
    """Print the version of memoryctl and of the running memoryd."""
    running = _running_version(settings)
    if settings.is_json:
        settings.print_json({"client": __version__, "daemon": running})
    else:
        click.echo(f"memoryctl {__version__}\nmemoryd   {running or 'not running'}")
    return Exit.DONE


def _running_version(settings: Settings) -> str | None:
    try:
        with settings.client(timeout=5) as client:
            return client.status()["version"]
    except DaemonNotRunning:
        return None
