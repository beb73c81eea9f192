"""memoryctl http: the token of the loopback port."""

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.config.loading.load import load
from memoryd.files.token_file import TokenFile
from memoryd.wire import Exit


@click.group("http", context_settings=HELP)
def command() -> None:
    """Look after the port on loopback (http.enabled)."""


@command.command("token", context_settings=HELP)
@click.option("--rotate", "is_rotating", is_flag=True, help="Make a new token; the one before holds no more, at once.")
@shared
@click.pass_obj
def token(invocation: Invocation, is_rotating: bool) -> Exit:
    """Print the token and the file that holds it; it is made if there is none.

    Works without a daemon. Whoever has the token may ask as you.
    """
    file = TokenFile(load().config.http.token_path())
    secret = file.rotate() if is_rotating else file.ensure()
    if invocation.is_json:
        invocation.print_json({"tokenFile": str(file.path), "token": secret})
    else:
        click.echo(f"{file.path}\n{secret}")
    return Exit.DONE
