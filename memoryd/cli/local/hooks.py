"""memoryctl hooks: has an agent program ask memoryd at its events; nothing else in its settings file is lost."""

import shlex
import sys
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import harmless
from memoryd.errors import MemorydError
from memoryd.hooks import hook_run
from memoryd.hooks.hosts import DEFAULT, HOSTS, Host
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.cli.local.hook_settings import SettingsFile

_PROBE_SECONDS = 2.0
_program = click.argument(
    "program", cls=Argument, type=click.Choice(tuple(HOSTS)), help="The agent program whose settings are meant."
)
_user = click.option("--user", "is_users", is_flag=True, help="The settings of the user, for all projects (default).")
_project = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The settings of one project that are not shared with others: "
    f"{' or '.join(f'DIR/{host.folder}/{host.project_settings}' for host in HOSTS.values())}.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Show the change, and change nothing.")


@click.group("hooks", context_settings=HELP)
def hooks_command() -> None:
    """Let an agent program ask memoryd at its own events, such as a new session or a prompt."""


@hooks_command.command("install")
@_program
@_user
@_project
@_dry_run
@shared
@click.pass_obj
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
@shared
@click.pass_obj
def remove(invocation: Invocation, program: str, is_users: bool, project: Path | None, dry_run: bool) -> Exit:
    """Take our hooks out of the settings of PROGRAM."""
    before = _settings(program, is_users, project)
    return _change(invocation, before, before.removed(), is_dry_run=dry_run, is_removal=True)


@hooks_command.command("status")
@_program
@_user
@_project
@shared
@click.pass_obj
def status(invocation: Invocation, program: str, is_users: bool, project: Path | None) -> Exit:
    """Tell whether our hooks stand in the settings of PROGRAM, and what they run."""
    found = _settings(program, is_users, project)
    commands = found.commands()
    if invocation.is_json:
        invocation.print_json(
            {"path": str(found.path), "installed": _installed(commands, program), "commands": commands}
        )
    else:
        click.echo(f"{_installed(commands, program)}  {harmless(str(found.path))}")
        for event, told in commands.items():
            click.echo(f"  {event}: {harmless(told)}")
    return Exit.DONE if commands else Exit.NOTHING_FOUND


@hooks_command.command("run", context_settings=HELP)
@click.argument(
    "event", cls=Argument, type=click.Choice(tuple(DEFAULT.events)), help=f"The event, as {DEFAULT.title} names it."
)
@click.option("--seconds", type=click.FloatRange(0.01, 60), help="Until a prompt goes on without memory (else 0.28).")
@shared
@click.pass_obj
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


def _installed(commands: Mapping[str, str], program: str) -> str:
    if not commands:
        return "not installed"
    return "installed" if commands.keys() == HOSTS[program].events.keys() else "installed in part"


def _change(invocation: Invocation, before: "SettingsFile", text: str, *, is_dry_run: bool, is_removal: bool) -> Exit:
    is_changed = text != before.text
    if is_changed and not is_dry_run:
        from memoryd.cli.local.hook_settings import write_settings

        write_settings(before, text, is_removal=is_removal)
    if invocation.is_json:
        told = {"path": str(before.path), "changed": is_changed, "dryRun": is_dry_run}
        invocation.print_json(told | {"installed": not is_removal})
    elif is_dry_run:
        old, new = (one.splitlines(keepends=True) for one in (before.text, text))
        click.echo(harmless("".join(unified_diff(old, new, str(before.path), str(before.path)))), nl=False)
    else:
        click.echo(f"{_done(is_changed, is_removal)}: {harmless(str(before.path))}")
    return Exit.DONE


def _done(is_changed: bool, is_removal: bool) -> str:
    if is_removal:
        return "removed" if is_changed else "there was nothing of memoryd"
    return "installed" if is_changed else "installed already"
