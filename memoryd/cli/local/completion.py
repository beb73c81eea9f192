"""memoryctl completion and version: completing commands in a shell, and which memoryctl and memoryd these are."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from memoryd import __version__
from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import harmless_line
from memoryd.errors import DaemonNotRunning, MemorydError
from memoryd.wire import Exit

PROGRAM = "memoryctl"
SHELLS = ("bash", "zsh", "fish")
NEXT = {
    "bash": "new shells have it, if bash-completion is installed",
    "zsh": "new shells have it, if this stands in ~/.zshrc before compinit: fpath=({folder} $fpath)",
    "fish": "new shells have it",
}


@click.command("completion", context_settings=HELP)
@click.argument("shell", cls=Argument, type=click.Choice(SHELLS), help="The shell that completes.")
@click.option("--install", "is_installing", is_flag=True, help="Put the script where the shell looks for it.")
@shared
@click.pass_obj
def completion_command(invocation: Invocation, shell: str, is_installing: bool) -> Exit:
    """Print the script that has a shell complete commands and options, or install it.

    Without --install it can be read at the start of each shell: `eval "$(memoryctl completion bash)"`.
    """
    script = _script(shell)
    path = _path(shell)
    if is_installing:
        # here: only this needs a room that touches files
        from memoryd.cli.written_file import put

        is_changed = put(path, script)
        told = {"shell": shell, "path": str(path), "changed": is_changed}
        line = f"{'installed' if is_changed else 'installed already'}: {harmless_line(str(path))}"
        invocation.show(told, (line,), (NEXT[shell].format(folder=path.parent), f"to take it out: rm {path}"))
    elif invocation.is_json:
        invocation.print_json({"shell": shell, "path": str(path), "script": script})
    else:
        click.echo(script, nl=False)
    return Exit.DONE


def _script(shell: str) -> str:
    found = get_completion_class(shell)
    if found is None:
        raise MemorydError(f"there is no completion for {shell}")
    # the program is asked for by name alone when the shell completes, so what it can do is not needed here
    whole = found(click.Command(PROGRAM), {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    return whole.source_template % whole.source_vars() + "\n"


def _path(shell: str) -> Path:
    """Tell where a shell looks for scripts of a user."""
    data = _folder("XDG_DATA_HOME", ".local/share")
    if shell == "bash":
        named = os.environ.get("BASH_COMPLETION_USER_DIR", "").split(":")[0]
        return (Path(named) if named else data / "bash-completion") / "completions" / PROGRAM
    if shell == "zsh":
        return data / "zsh" / "site-functions" / f"_{PROGRAM}"
    return _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / f"{PROGRAM}.fish"


def _folder(variable: str, usual: str) -> Path:
    found = Path(os.environ.get(variable, ""))
    return found if found.is_absolute() else Path.home() / usual


@click.command("version", context_settings=HELP)
@shared
@click.pass_obj
def version_command(invocation: Invocation) -> Exit:
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
