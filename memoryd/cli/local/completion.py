"""memoryctl completion and version: shell completion, and the versions of memoryctl and the running memoryd."""

import click
from click.shell_completion import get_completion_class

from memoryd import __version__
from memoryd.cli.invocation import Invocation, argument, with_invocation
from memoryd.errors import DaemonNotRunning, MemorydError
from memoryd.wire import Exit

PROGRAM = "memoryctl"


@click.command("completion")
@argument("shell", type=click.Choice(("bash", "zsh", "fish")), help="The shell that completes.")
@with_invocation
def completion_command(invocation: Invocation, shell: str) -> Exit:
    """Print the script that completes commands and options in a shell.

    It can be read at the start of each shell: `eval "$(memoryctl completion bash)"`; or be written to where the shell
    looks for such scripts: `memoryctl completion fish > ~/.config/fish/completions/memoryctl.fish`.
    """
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise MemorydError(f"there is no completion for {shell}")
    # the script only contains the name of the program, so an empty command suffices
    completion = completion_class(click.Command(PROGRAM), {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    script = completion.source_template % completion.source_vars()
    return invocation.show({"shell": shell, "script": f"{script}\n"}, [script])


@click.command("version")
@with_invocation
def version_command(invocation: Invocation) -> Exit:
    """Print the version of memoryctl and of the running memoryd."""
    running = _running_version(invocation)
    notes = ["memoryd is of another version: restart it"] if running not in (None, __version__) else []
    lines = [f"memoryctl {__version__}", f"memoryd   {running or 'not running'}"]
    return invocation.show({"client": __version__, "daemon": running}, lines, notes)


def _running_version(invocation: Invocation) -> str | None:
    try:
        with invocation.client(timeout=5) as client:
            return client.status()["version"]
    except DaemonNotRunning:
        return None
