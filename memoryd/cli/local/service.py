"""memoryctl service: install memoryd as a service of systemd or launchd for this user, and show each step."""

import getpass
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click
from msgspec import Struct, to_builtins

from memoryd.cli.invocation import Invocation, flag, with_invocation
from memoryd.cli.local.logs import LEVELS, JournalLog, LogFilter, print_log
from memoryd.cli.terminal import harmless_line, style
from memoryd.config.loading.load import load
from memoryd.config.paths import cache_dir, config_file, state_dir
from memoryd.domain.settings_text import BACKUP_SUFFIX
from memoryd.errors import AlreadyRunning, ConfigError, MemorydError
from memoryd.files.writing import replace_file
from memoryd.service.installing import Installation, changed_lines, installation_of
from memoryd.service.launchd import LaunchdManager
from memoryd.service.managers import STOP, NoManager, ServiceManager, manager_here
from memoryd.service.steps import ServiceState, ServiceStep, backup_copies, carry_out_steps
from memoryd.service.systemd import DROP_IN, SystemdManager, unit_folder, why_no_namespaces
from memoryd.wire import Exit

SHOWN: int = 6
"""Lines of a difference that are shown."""
dry_option = flag("--dry-run", "is_dry", help="Show each step and write nothing.")
force_option = flag("--force", "is_forced", help="Also files that memoryctl did not write; a copy of each is kept.")


class ServiceWork(Struct, frozen=True):
    """One invocation for one manager, and the state of the service before it."""

    invocation: Invocation
    manager: ServiceManager
    state: ServiceState
    is_dry: bool
    why_no_manager: str = ""

    @classmethod
    def here(cls, invocation: Invocation, *, is_dry: bool, is_installed: bool = False) -> "ServiceWork":
        """Return the work for this machine's manager; without one, a dry run plans for systemd or launchd.

        With `is_installed` this raises MemorydError if the service is not installed.
        """
        manager = manager_here()
        reason = manager.why if isinstance(manager, NoManager) else ""
        if reason and is_dry:
            manager = LaunchdManager(os.environ) if sys.platform == "darwin" else SystemdManager(os.environ)
        state = manager.state()
        if is_installed and not state.has_files and state.manager != "none":
            raise MemorydError("memoryd is not installed as a service", hint="memoryctl service install")
        return cls(invocation, manager, state, is_dry, reason)

    def do(
        self,
        steps: Iterable[ServiceStep],
        *,
        nothing: str,
        notes: Iterable[str] = (),
        after: Iterable[str] = (),
        starts: bool = False,
    ) -> Exit:
        """Carry out or show the steps, and print the result: `nothing` without steps, and `after` what is done."""
        steps, remarks = [*steps], [*notes]
        if self.why_no_manager:
            consequence = ("these are the steps for one" if self.is_dry else "none was informed") if steps else STOP
            remarks.append(f"there is no service manager here: {self.why_no_manager}; {consequence}")
        lines = [] if steps else [nothing, *after]
        if steps and self.is_dry:
            lines = [line for step in steps for line in step_lines(step)]
            lines.append("nothing was done: this is a dry run")
        elif steps:
            if starts:
                self._refuse_second()
            remarks += carry_out_steps(steps, write=replace_file, tell=self._print_step)
            lines = [*after]
        reply = {"manager": self.manager.name, "isDone": not self.is_dry, "steps": [step_row(step) for step in steps]}
        self.invocation.show({**reply, "notes": remarks}, lines, remarks)
        return Exit.DONE

    def _print_step(self, step: ServiceStep) -> None:
        if not self.invocation.is_json:
            click.echo(f"{step.kind:<7} {step.what}  ({step.why})")

    def _refuse_second(self) -> None:
        """Raise AlreadyRunning if a memoryd runs outside of the manager: two would compete for the socket."""
        if self.state.is_running:
            return
        try:
            with self.invocation.client(timeout=5) as client:
                pid = client.status()["pid"]
        except MemorydError:
            return
        if self.manager.state().pid != pid:
            raise AlreadyRunning(
                f"a memoryd runs already, process {pid}, and not as this service", hint=f"stop it first: kill {pid}"
            )


@click.group("service")
def service_command() -> None:
    """Have systemd or launchd run memoryd for you: from login to logout, and again when it fails."""


@service_command.command("install")
@dry_option
@click.option(
    "--hardened/--no-hardened",
    "hardened",
    default=None,
    help="Whether systemd makes the system read-only for memoryd except its own folders and the workspaces; unset: as "
    "before, at first not.",
)
@force_option
@with_invocation
def install(invocation: Invocation, is_dry: bool, hardened: bool | None, is_forced: bool) -> Exit:
    """Write the unit files for this configuration, enable them and start; run it again after a change.

    Prints each step. Files that are up to date are not changed.
    """
    work = ServiceWork.here(invocation, is_dry=is_dry)
    wanted = _wanted(work.state, hardened)
    steps = work.manager.install(work.manager.files(wanted), work.state, is_forced=is_forced)
    notes = [*wanted.notes, *hardening_notes(wanted, work), *linger_note(work.state)]
    return work.do(steps, nothing="memoryd is installed and running as it should", notes=notes, starts=True)


@service_command.command("uninstall")
@dry_option
@force_option
@with_invocation
def uninstall(invocation: Invocation, is_dry: bool, is_forced: bool) -> Exit:
    """Stop the service and remove all that `install` wrote; notes, indexes and the configuration stay."""
    work = ServiceWork.here(invocation, is_dry=is_dry)
    steps = work.manager.uninstall(work.state, is_forced=is_forced)
    notes = [f"left, for memoryctl did not write it: {path}" for path in work.state.foreign if not is_forced]
    after = remaining_lines(backup_copies(work.manager.places))
    return work.do(steps, nothing="no service is installed", notes=notes, after=after)


@service_command.command("start")
@dry_option
@with_invocation
def start(invocation: Invocation, is_dry: bool) -> Exit:
    """Start the service."""
    work = ServiceWork.here(invocation, is_dry=is_dry, is_installed=True)
    steps = () if work.state.is_running else work.manager.start(work.state)
    return work.do(steps, nothing="memoryd is running", starts=True)


@service_command.command("stop")
@dry_option
@with_invocation
def stop(invocation: Invocation, is_dry: bool) -> Exit:
    """Stop the service until it is started, or you log in again."""
    work = ServiceWork.here(invocation, is_dry=is_dry, is_installed=True)
    return work.do(work.manager.stop(work.state), nothing="memoryd is not running")


@service_command.command("restart")
@dry_option
@with_invocation
def restart(invocation: Invocation, is_dry: bool) -> Exit:
    """Stop the service in order and start it again; clients wait until then."""
    work = ServiceWork.here(invocation, is_dry=is_dry, is_installed=True)
    return work.do(work.manager.restart(work.state), nothing="", starts=True)


@service_command.command("status")
@with_invocation
def status(invocation: Invocation) -> Exit:
    """Say whether the service is installed and runs, and whether its files still fit the configuration.

    Exit code 0 if it runs, 69 if not, 1 without a service manager.
    """
    manager = manager_here()
    state = manager.state()
    changes, notes = _differences(manager, state)
    row = {"isInstalled": state.has_files, **to_builtins(state, enc_hook=str), "outdated": changes}
    invocation.show(row, state_lines(state), notes)
    if state.manager == "none":
        return Exit.ERROR
    return Exit.DONE if state.is_running else Exit.NOT_RUNNING


@service_command.command("logs")
@flag("-f", "--follow", "is_following", help="Go on with new lines, until Ctrl-C.")
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=100, show_default=True, help="How many of the last lines."
)
@with_invocation
def logs(invocation: Invocation, is_following: bool, lines: int) -> Exit:
    """Print the log of the service manager and memoryd, including failed starts.

    `memoryctl logs` shows the log of memoryd alone, also if it is not a service.
    """
    manager = manager_here()
    if isinstance(manager, LaunchdManager):
        words = manager.log_command(follow=is_following, lines=lines)
        os.execvp(words[0], words)
    if isinstance(manager, NoManager) or shutil.which("journalctl") is None:
        reason = manager.state().reason or "there is no journalctl"
        raise MemorydError(f"no service manager keeps a log here: {reason}", hint="memoryctl logs")
    print_log(invocation, JournalLog(), LogFilter(LEVELS), lines=lines, is_following=is_following)
    return Exit.DONE


def _wanted(state: ServiceState, hardened: bool | None = None) -> Installation:
    """Return the installation for the configuration; raises ConfigError, since such a service could not start."""
    loaded = load()
    if hardened is None:
        hardened = any(path.name == DROP_IN.name and path not in state.foreign for path in state.files)
    return installation_of(loaded.config, loaded.source, os.environ, is_hardened=hardened)


def _differences(manager: ServiceManager, state: ServiceState) -> tuple[dict[str, list[str]], list[str]]:
    """Return the changes that an install would make now, and notes about them."""
    if not state.has_files or state.manager == "none":
        return {}, []
    try:
        changes = {str(path): lines for path, lines in changed_lines(manager.files(_wanted(state))).items()}
    except ConfigError as exc:
        return {}, [f"{exc}; so it is not known whether the unit files fit"]
    return changes, [*difference_notes(changes), *linger_note(state)]


def step_lines(step: ServiceStep) -> Iterator[str]:
    """Yield the lines of a step, with the text that it would write."""
    yield f"{step.kind:<7} {harmless_line(step.what)}  ({step.why})"
    if step.kind == "write":
        yield from (f"        {harmless_line(line)}".rstrip() for line in step.text.expandtabs(4).splitlines())


def step_row(step: ServiceStep) -> dict[str, object]:
    """Return a step as a JSON object."""
    row: dict[str, object] = {"kind": step.kind, "what": step.what, "why": step.why}
    return row | {"text": step.text} if step.kind == "write" else row


def state_lines(state: ServiceState) -> Iterator[str]:
    """Yield the state of the service as lines."""
    colour, word = ("green", "running") if state.is_running else ("red", "not running")
    if not state.has_files:
        colour, word = "yellow", "not installed"
    pid = f", process {state.pid}" if state.pid else ""
    yield f"memoryd is {style(word, colour=colour)}{pid}"
    if state.has_files and state.manager == "none":
        yield "  its files exist, but no service manager reads them; to remove them: memoryctl service uninstall"
        yield from (f"  {path}" for path in state.files)
    elif state.has_files:
        yield f"  {state.manager}: {state.phase or 'unknown'}, {'' if state.is_enabled else 'not '}started at login"
        yield from (f"  {path}{' (not ours)' if path in state.foreign else ''}" for path in state.files)
    elif state.manager != "none":
        yield "  install it: memoryctl service install"
    if state.reason:
        yield f"  {harmless_line(state.reason)}"
        yield f"  {state.hint}"


def difference_notes(changes: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a note for each unit file that does not fit the configuration, with its differences."""
    for path, lines in changes.items():
        shown_lines = [line for line in lines if not line[1:].startswith("#")]
        more = f" and {len(shown_lines) - SHOWN} more" if len(shown_lines) > SHOWN else ""
        yield (
            f"{path} does not fit the configuration, the environment or this version any more "
            f"({'; '.join(shown_lines[:SHOWN])}{more}): memoryctl service install"
        )


def linger_note(state: ServiceState) -> Iterator[str]:
    """Yield a note if the service ends at logout, with the command that changes it."""
    if state.manager == "systemd" and not state.lingers:
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = Path.home().name
        yield (
            "it stops when you log out and does not start before you log in; to change that: "
            f"loginctl enable-linger {shlex.quote(user)}"
        )


def remaining_lines(copies: Iterable[Path]) -> Iterator[str]:
    """Yield what an uninstall does not remove, and how to remove it; `copies` are backups of a forced installation."""
    places = {
        "indexes and history": state_dir(),
        "models": cache_dir(),
        "the configuration": config_file(),
        "drop-ins that are not of memoryctl": (unit_folder(os.environ) / DROP_IN).parent,
    }
    existing = {what: path for what, path in places.items() if path.exists()}
    yield "left as they are: your notes" + (", and" if existing else "")
    yield from (f"  {path}  ({what})" for what, path in existing.items())
    if existing:
        yield f"to remove these too, for good: rm -r {shlex.join(map(str, existing.values()))}"
    for copy in copies:
        original = str(copy).partition(BACKUP_SUFFIX)[0]
        yield f"the file from before `install --force` is in {harmless_line(str(copy))}; to have it back:"
        yield f"  {harmless_line(shlex.join(['mv', str(copy), original]))}"


def hardening_notes(wanted: Installation, work: ServiceWork) -> Iterator[str]:
    """Yield why hardening has no effect; raises MemorydError if the hardened service could not start."""
    if not wanted.is_hardened:
        return
    if work.manager.name == "launchd":
        yield "--hardened is systemd's; launchd has nothing like it"
    elif reason := why_no_namespaces():
        if not work.is_dry:
            raise MemorydError(reason, hint="memoryctl service install --no-hardened")
        yield reason
