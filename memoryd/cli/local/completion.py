"""memoryctl completion and version: completing commands in a shell, and which memoryctl and memoryd these are."""

import click
from click.shell_completion import get_completion_class

from memoryd import __version__
from memoryd.cli.invocation import Invocation, argument, verb
from memoryd.errors import DaemonNotRunning, MemorydError
from memoryd.wire import Exit

PROGRAM = "memoryctl"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@argument("shell", type=click.Choice(SHELLS), help="The shell that completes.")
@verb
def completion_command(invocation: Invocation, shell: str) -> Exit:
    """Print the script that has a shell complete commands and options.

    It can be read at the start of each shell: `eval "$(memoryctl completion bash)"`; or be written to where the shell
    looks for such scripts: `memoryctl completion fish > ~/.config/fish/completions/memoryctl.fish`.
    """
    found = get_completion_class(shell)
    if found is None:
        raise MemorydError(f"there is no completion for {shell}")
    # the program is asked for by name alone when the shell completes, so what it can do is not needed here
    whole = found(click.Command(PROGRAM), {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    script = whole.source_template % whole.source_vars()
    return invocation.show({"shell": shell, "script": f"{script}\n"}, [script])


@click.command("version")
@verb
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
