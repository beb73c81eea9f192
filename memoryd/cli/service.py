"""memoryctl service: has systemd or launchd run memoryd for this user, and shows what it does for that."""

import os
import shutil

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.log_lines import LogFilter
from memoryd.cli.log_sources import JournalLog
from memoryd.cli.logs import LEVELS, print_log
from memoryd.cli.service_lines import difference_notes, left_lines, linger_note, state_lines, state_row
from memoryd.cli.service_work import ServiceWork, hardening_notes, is_hardened_now
from memoryd.config.loading.load import load
from memoryd.errors import ConfigError, MemorydError
from memoryd.files.writing import replace_file
from memoryd.service.installing import changed_lines, installation_of
from memoryd.service.managers import ServiceManager, manager_here
from memoryd.service.steps import ServiceState, kept_copies
from memoryd.wire import Exit

dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Show each step and write nothing.")
force_option = click.option(
    "--force", "is_forced", is_flag=True, help="Also files that memoryctl did not write; a copy of each is kept."
)


@click.group("service", context_settings=HELP)
def command() -> None:
    """Have systemd or launchd run memoryd for you: from login to logout, and again when it fails."""


@command.command("install", context_settings=HELP)
@dry_option
@click.option(
    "--hardened/--no-hardened",
    "hardened",
    default=None,
    help="Whether systemd shows it a read-only system but for its own folders and the workspaces; unset: as before, "
    "at first not.",
)
@force_option
@shared
@click.pass_obj
def install(invocation: Invocation, is_dry: bool, hardened: bool | None, is_forced: bool) -> Exit:
    """Write the unit files for this configuration, enable them and start; again after it has changed.

    Says each step. What is as it should be is left alone.
    """
    work = _work(invocation, is_dry=is_dry)
    wanted = work.installation(hardened)
    steps = list(work.manager.install(work.manager.files(wanted), work.state, is_forced=is_forced))
    notes = [*wanted.notes, *hardening_notes(wanted, work), *linger_note(work.state)]
    return work.do(steps, nothing="memoryd is installed and running as it should", notes=notes, starts=True)


@command.command("uninstall", context_settings=HELP)
@dry_option
@force_option
@shared
@click.pass_obj
def uninstall(invocation: Invocation, is_dry: bool, is_forced: bool) -> Exit:
    """Stop the service and remove all that `install` wrote; notes, indexes and the configuration stay."""
    work = _work(invocation, is_dry=is_dry)
    steps = list(work.manager.uninstall(work.state, is_forced=is_forced))
    kept = [f"left, for memoryctl did not write it: {path}" for path in work.state.foreign if not is_forced]
    return work.do(
        steps, nothing="no service is installed", notes=kept, left=left_lines(kept_copies(work.manager.places))
    )


@command.command("start", context_settings=HELP)
@dry_option
@shared
@click.pass_obj
def start(invocation: Invocation, is_dry: bool) -> Exit:
    """Start the service."""
    work = _work(invocation, is_dry=is_dry).installed()
    steps = [] if work.state.is_running else list(work.manager.start(work.state))
    return work.do(steps, nothing="memoryd is running", starts=True)


@command.command("stop", context_settings=HELP)
@dry_option
@shared
@click.pass_obj
def stop(invocation: Invocation, is_dry: bool) -> Exit:
    """Stop the service until it is started, or you log in again."""
    work = _work(invocation, is_dry=is_dry).installed()
    return work.do(list(work.manager.stop(work.state)), nothing="memoryd is not running")


@command.command("restart", context_settings=HELP)
@dry_option
@shared
@click.pass_obj
def restart(invocation: Invocation, is_dry: bool) -> Exit:
    """Stop the service in order and start it anew; who asks meanwhile waits."""
    work = _work(invocation, is_dry=is_dry).installed()
    return work.do(list(work.manager.restart(work.state)), nothing="", starts=True)


@command.command("status", context_settings=HELP)
@shared
@click.pass_obj
def status(invocation: Invocation) -> Exit:
    """Say whether the service is installed and runs, and whether its files still fit the configuration.

    Exit code 0 if it runs, 69 if not, 1 where there is no service manager.
    """
    manager = manager_here()
    state = manager.state()
    changes, notes = _differences(manager, state)
    invocation.show({**state_row(state), "outdated": changes}, state_lines(state), notes)
    if state.manager == "none":
        return Exit.ERROR
    return Exit.DONE if state.is_running else Exit.NOT_RUNNING


@command.command("logs", context_settings=HELP)
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(0), default=100, show_default=True, help="How many lines, the last.")
@shared
@click.pass_obj
def logs(invocation: Invocation, is_following: bool, lines: int) -> Exit:
    """Print what the service manager and memoryd said, a start that failed included.

    `memoryctl logs` has what memoryd said alone, wherever it runs.
    """
    manager = manager_here()
    words = manager.log_command(follow=is_following, lines=lines)
    if not words or shutil.which(words[0]) is None:
        reason = manager.state().reason or f"there is no {words[0]}"
        raise MemorydError(f"no service manager keeps a log here: {reason}", hint="memoryctl logs")
    if manager.name != "systemd":
        os.execvp(words[0], words)
    everything = LogFilter(LEVELS, None)
    print_log(invocation, JournalLog(), everything, lines=lines, is_following=is_following)
    return Exit.DONE


def _work(invocation: Invocation, *, is_dry: bool) -> ServiceWork:
    return ServiceWork.here(invocation, is_dry=is_dry, write=replace_file)


def _differences(manager: ServiceManager, state: ServiceState) -> tuple[dict[str, list[str]], list[str]]:
    """Return what an install would change now, and what to say of it."""
    if not state.is_installed or state.manager == "none":
        return {}, []
    try:
        loaded = load()
        wanted = installation_of(loaded.config, loaded.source, os.environ, is_hardened=is_hardened_now(state))
        changes = {str(path): lines for path, lines in changed_lines(manager.files(wanted)).items()}
    except ConfigError as exc:
        return {}, [f"{exc}; so it is not known whether the unit files fit"]
    return changes, [*difference_notes(changes), *linger_note(state)]
