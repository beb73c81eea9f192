"""memoryctl hooks: has an agent program ask memoryd at its events; nothing else in its settings file is lost."""

import shlex
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from memoryd.cli.invocation import Invocation, argument, found, verb
from memoryd.cli.terminal import harmless
from memoryd.errors import MemorydError
from memoryd.hooks import hook_run
from memoryd.hooks.hosts import DEFAULT, HOSTS, Host
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.cli.local.hook_settings import SettingsFile

_PROBE_SECONDS = 2.0
_DONE = (("installed", "installed already"), ("removed", "there was nothing of memoryd"))
"""What an install, and a removal, has done: where it changed the file, and where it did not."""
_program = argument("program", type=click.Choice(tuple(HOSTS)), help="The agent program whose settings are meant.")
_user = click.option("--user", "is_users", is_flag=True, help="The settings of the user, for all projects (default).")
_project = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The settings of one project that are not shared with others: "
    f"{' or '.join(f'DIR/{host.project}' for host in HOSTS.values())}.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Show the change, and change nothing.")


@click.group("hooks")
def hooks_command() -> None:
    """Let an agent program ask memoryd at its own events, such as a new session or a prompt."""


@hooks_command.command("install")
@_program
@_user
@_project
@_dry_run
@verb
def install(invocation: Invocation, program: str, is_users: bool, project: Path | None, dry_run: bool) -> Exit:
    """Put our hooks into the settings of PROGRAM; what else stands there stays as it is."""
    before = _settings(program, is_users, project)
    text = before.installed(_commands(invocation, HOSTS[program]))
    return _change(invocation, before, text, is_dry_run=dry_run, is_removal=False)


@hooks_command.command("remove")
@_program
@_user
@_project
@_dry_run
@verb
def remove(invocation: Invocation, program: str, is_users: bool, project: Path | None, dry_run: bool) -> Exit:
    """Take our hooks out of the settings of PROGRAM."""
    before = _settings(program, is_users, project)
    return _change(invocation, before, before.removed(), is_dry_run=dry_run, is_removal=True)


@hooks_command.command("status")
@_program
@_user
@_project
@verb
def status(invocation: Invocation, program: str, is_users: bool, project: Path | None) -> Exit:
    """Tell whether our hooks stand in the settings of PROGRAM, and what they run."""
    settings = _settings(program, is_users, project)
    commands = settings.commands()
    state = "not installed"
    if commands:
        state = "installed" if commands.keys() == HOSTS[program].events.keys() else "installed in part"
    reply = {"path": str(settings.path), "installed": state, "commands": commands}
    lines = [f"  {event}: {harmless(command)}" for event, command in commands.items()]
    return invocation.show(reply, [f"{state}  {harmless(str(settings.path))}", *lines], code=found(commands))


@hooks_command.command("run")
@argument("event", type=click.Choice(tuple(DEFAULT.events)), help=f"The event, as {DEFAULT.title} names it.")
@click.option("--seconds", type=click.FloatRange(0.01, 60), help="Until a prompt goes on without memory (else 1).")
@verb
def run(invocation: Invocation, event: str, seconds: float | None) -> NoReturn:
    """Run a hook: JSON on standard input, what the agent is told on standard output, and always exit code 0."""
    options = {"--agent": invocation.agent, "--socket": invocation.socket, "--seconds": seconds}
    hook_run.main([event, *(str(one) for pair in options.items() if pair[1] is not None for one in pair)])


def _settings(program: str, is_users: bool, project: Path | None) -> "SettingsFile":
    if is_users and project is not None:
        raise click.UsageError("--user and --project: one of them")
    # here, since a hook that runs needs no room that touches files
    from memoryd.cli.local.hook_settings import read_settings, settings_path

    return read_settings(settings_path(HOSTS[program], project))


def _commands(invocation: Invocation, host: Host) -> dict[str, str]:
    """Return what runs at each event: Python itself, for memoryctl takes longer to load than an answer to come."""
    options = {
        "--host": None if host is DEFAULT else host.name,
        "--agent": _agent(invocation),
        "--socket": invocation.socket and invocation.socket.absolute(),
    }
    given = [str(one) for pair in options.items() if pair[1] for one in pair]
    # -P: the folder that the agent works in is no place to import from. -E, -S and -s would save milliseconds, and lose
    # a PYTHONPATH, the packages of a venv, or those of the user, where memoryd itself may lie
    return {event: shlex.join([sys.executable, "-P", "-m", "memoryd.hooks", event, *given]) for event in host.events}


def _agent(invocation: Invocation) -> str | None:
    """Return the agent that is named, else the only one there is, else none: then the daemon asks its default one."""
    if invocation.agent is not None:
        return invocation.agent
    try:
        with invocation.client(_PROBE_SECONDS) as client:
            agents = client.status()["agents"]
    except MemorydError:
        return None
    return agents[0]["id"] if len(agents) == 1 else None


def _change(invocation: Invocation, before: "SettingsFile", text: str, *, is_dry_run: bool, is_removal: bool) -> Exit:
    is_changed = text != before.text
    if is_changed and not is_dry_run:
        from memoryd.cli.local.hook_settings import write_settings

        write_settings(before, text, is_removal=is_removal)
    path = str(before.path)
    done, already = _DONE[is_removal]
    lines = [f"{done if is_changed else already}: {path}"]
    if is_dry_run:
        lines = [*unified_diff(before.text.splitlines(), text.splitlines(), path, path, lineterm="")]
    reply = {"path": path, "changed": is_changed, "dryRun": is_dry_run, "installed": not is_removal}
    return invocation.show(reply, map(harmless, lines))
