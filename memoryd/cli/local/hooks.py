"""memoryctl hooks: install hooks so that agent programs ask memoryd at their events; other settings stay."""

import copy
import shlex
import sys
from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from memoryd.cli.invocation import Invocation, argument, flag, with_invocation
from memoryd.cli.terminal import harmless
from memoryd.errors import MemorydError
from memoryd.hooks import hook_run
from memoryd.hooks.hosts import DEFAULT, HOSTS, Host, is_installed
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.cli.local.hook_settings import Part, SettingsChange

_PROBE_SECONDS = 2.0
# -P: no imports from the agent's working folder. Not -E, -S or -s, which would save milliseconds, but ignore a
# PYTHONPATH, the packages of a venv or of the user, where memoryd may be installed. The arguments `-m memoryd.hooks`
# only mark the hook as memoryd's: running the module instead of the code of -c starts a third slower
HOOK_COMMAND = (
    *(sys.executable, "-P", "-c", "import sys; from memoryd.hooks.hook_run import main; main(sys.argv[3:])"),
    *("-m", "memoryd.hooks"),
)
_program = argument("program", type=click.Choice(tuple(HOSTS)), help="The agent program.")
_user = flag("--user", "is_users", help="The settings of the user, for all projects (default).")
_project = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The settings of one project, below DIR.",
)
_dry_run = flag("--dry-run", help="Show the change, and change nothing.")


@click.group("hooks")
def hooks_command() -> None:
    """Let agent programs ask memoryd at their own events, such as a new session or a prompt."""


@hooks_command.command("list")
@with_invocation
def list_hosts(invocation: Invocation) -> Exit:
    """List the agent programs that memoryd supports: is it here, are our hooks in its settings, what cannot it do."""
    # here, since a running hook does not need the file layer
    from memoryd.cli.local.hook_settings import commands_in

    rows = []
    for host in HOSTS.values():
        try:
            events = commands_in(host, None)[1].keys()
            is_complete = events == host.events.keys()
            state = "installed" if is_complete else "installed in part" if events else "not installed"
        except MemorydError as exc:
            state = str(exc)
        rows.append({"name": host.name, "title": host.title, "here": is_installed(host), "hooks": state})
        rows[-1] |= {"cannot": list(host.cannot), "source": host.source}
    lines = [
        line
        for row in rows
        for line in (
            f"{row['name']:12} {row['title']}: {'' if row['here'] else 'not '}found here, hooks {row['hooks']}",
            *(f"  {sentence}" for sentence in HOSTS[str(row["name"])].cannot),
        )
    ]
    return invocation.show({"hosts": rows}, map(harmless, lines))


@hooks_command.command("install")
@_program
@_user
@_project
@flag("--skill", help="Also install a skill that tells the agent when to ask and what to store.")
@flag("--mcp", help="Also add memoryctl mcp, which only reads, as an MCP server.")
@_dry_run
@with_invocation
def install(
    invocation: Invocation, program: str, is_users: bool, project: Path | None, skill: bool, mcp: bool, dry_run: bool
) -> Exit:
    """Put memoryd's hooks into the settings of PROGRAM; its other settings do not change."""
    from memoryd.cli.local.hook_settings import installation, others_server, places

    host = _host(program, is_users, project)
    wanted: set[Part] = {"hooks"}
    if skill:
        wanted.add("instructions" if project else "skill")
    if mcp:
        wanted.add("server")
    notes = [] if wanted <= places(host, project).keys() else ["there is no file for an MCP server"]
    changes = installation(host, project, _commands(invocation, host), wanted)
    # Claude Code itself excludes its settings for one person from commits
    own = [str(change.before.path) for change in changes if sys.executable in (change.text or "")]
    own = [name for name in own if not (host is DEFAULT and name.endswith(host.project))]
    if project and own:
        notes.append(f"keep out of what you commit, for it names a program of this machine: {', '.join(own)}")
    if mcp and (others := others_server(host, project)):
        notes.append(f"an MCP server of this name that is not ours stays unchanged: {others}")
    path = places(host, project)["hooks"][0]
    return _change(invocation, path, changes, [*notes, *host.then], is_dry_run=dry_run, is_removal=False)


@hooks_command.command("uninstall")
@_program
@_user
@_project
@_dry_run
@with_invocation
def uninstall(invocation: Invocation, program: str, is_users: bool, project: Path | None, dry_run: bool) -> Exit:
    """Remove memoryd from the settings of PROGRAM: hooks, MCP server and skill."""
    from memoryd.cli.local.hook_settings import places, removal

    host = _host(program, is_users, project)
    path = places(host, project)["hooks"][0]
    return _change(invocation, path, removal(host, project), [], is_dry_run=dry_run, is_removal=True)


_former = copy.copy(uninstall)
_former.hidden = True
hooks_command.add_command(_former, "remove")


@hooks_command.command("run")
@argument("event", type=click.Choice(tuple(DEFAULT.events)), help=f"The event, as {DEFAULT.title} names it.")
@click.option("--seconds", type=click.FloatRange(0.01, 60), help="How long a prompt waits for memory (else 1).")
@with_invocation
def run(invocation: Invocation, event: str, seconds: float | None) -> NoReturn:
    """Run a hook: JSON on standard input, text for the agent on standard output, and always exit code 0."""
    options = {"--agent": invocation.agent, "--socket": invocation.socket, "--seconds": seconds}
    hook_run.main([event, *(str(word) for option in options.items() if option[1] is not None for word in option)])


def _host(program: str, is_users: bool, project: Path | None) -> Host:
    if is_users and project is not None:
        raise click.UsageError("--user and --project: one of them")
    return HOSTS[program]


def _commands(invocation: Invocation, host: Host) -> dict[str, str]:
    """Return the command of each event; it runs Python directly, since memoryctl starts slower than memoryd answers."""
    options = {
        "--host": None if host is DEFAULT else host.name,
        # a session key contains its agent
        "--agent": None if host.has_keys else _agent(invocation),
        "--socket": invocation.socket and invocation.socket.absolute(),
    }
    words = [str(word) for option in options.items() if option[1] for word in option]
    return {event: shlex.join([*HOOK_COMMAND, event, *words]) for event in host.events}


def _agent(invocation: Invocation) -> str | None:
    """Return the agent of --agent, else the only agent of the daemon, else None for the daemon's default agent."""
    if invocation.agent is not None:
        return invocation.agent
    try:
        with invocation.client(_PROBE_SECONDS) as client:
            agents = client.status()["agents"]
    except MemorydError:
        return None
    return agents[0]["id"] if len(agents) == 1 else None


def _change(
    invocation: Invocation,
    path: Path,
    changes: list["SettingsChange"],
    notes: Iterable[str],
    *,
    is_dry_run: bool,
    is_removal: bool,
) -> Exit:
    from memoryd.cli.local.hook_settings import write

    already = "there was nothing of memoryd" if is_removal else "installed already"
    lines = [] if changes or is_dry_run else [f"{already}: {path}"]
    for change in changes:
        name, before, text = str(change.before.path), change.before.text, change.text
        if is_dry_run:
            lines += unified_diff(before.splitlines(), (text or "").splitlines(), name, name, lineterm="")
        else:
            write(change, is_removal=is_removal)
            done = "installed" if not is_removal else "removed" if text is None else "taken out of"
            lines.append(f"{done}: {name}")
    reply = {"path": str(path), "changed": bool(changes), "dryRun": is_dry_run, "installed": not is_removal}
    reply["files"] = [str(change.before.path) for change in changes]
    return invocation.show(reply, map(harmless, lines), notes)
