"""The steps by which launchd runs memoryd for a user, and no longer does. Looks at files, changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.service.installing import Installation, ServiceFiles, changed_lines
from memoryd.service.launchd_agent import LABEL, NOT_LOADED, agent_file, log_file
from memoryd.service.plist import launch_agent
from memoryd.service.service_state import ServiceState
from memoryd.service.service_step import ServiceStep
from memoryd.service.unit_templates import unit_template
from memoryd.service.writing_steps import file_steps, removal_steps, run_step

TRIES: Final = 10
"""An agent that was just thrown out may not come back at once."""


def launchd_files(installation: Installation) -> ServiceFiles:
    """Return the agent; its log's folder must be there, for launchd makes none."""
    text = launch_agent(
        unit_template(f"launchd/{LABEL}.plist"),
        installation.command,
        installation.environment,
        home=Path.home(),
        folders=installation.folders,
    )
    return ServiceFiles(written={agent_file(): text}, folders=(log_file().parent,))


def launchd_install(files: ServiceFiles, state: ServiceState, domain: str, *, is_forced: bool) -> Iterator[ServiceStep]:
    """Yield what is left to do until the agent runs as it should."""
    changed = changed_lines(files)
    yield from file_steps(files, changed, state, is_forced=is_forced)
    is_loaded = state.phase != NOT_LOADED
    if changed and is_loaded:
        yield run_step("launchd forgets the old one", "launchctl", "bootout", f"{domain}/{LABEL}", may_fail=True)
    if changed or not is_loaded:
        yield from _load(domain)
    elif not state.is_running:
        yield run_step("it starts now", "launchctl", "kickstart", f"{domain}/{LABEL}")


def launchd_uninstall(state: ServiceState, domain: str, *, is_forced: bool) -> Iterator[ServiceStep]:
    """Yield what removes all that the installer put there."""
    removed = [path for path in state.files if is_forced or path not in state.foreign]
    if removed and state.phase != NOT_LOADED:
        yield run_step("it stops, and starts no more", "launchctl", "bootout", f"{domain}/{LABEL}", may_fail=True)
    yield from removal_steps(removed)


def launchd_start(state: ServiceState, domain: str) -> Iterator[ServiceStep]:
    """Yield what starts it."""
    if state.phase == NOT_LOADED:
        yield from _load(domain)
    else:
        yield run_step("it starts now", "launchctl", "kickstart", f"{domain}/{LABEL}")


def launchd_stop(state: ServiceState, domain: str) -> Iterator[ServiceStep]:
    """Yield what stops it: it ends with success, upon which launchd lets it be until the next login."""
    if state.is_running:
        yield run_step("it stays down until you log in again", "launchctl", "kill", "SIGTERM", f"{domain}/{LABEL}")


def launchd_restart(state: ServiceState, domain: str) -> Iterator[ServiceStep]:
    """Yield what starts it anew."""
    if state.phase == NOT_LOADED:
        yield from _load(domain)
    else:
        yield run_step("it stops and starts", "launchctl", "kickstart", "-k", f"{domain}/{LABEL}")


def _load(domain: str) -> Iterator[ServiceStep]:
    yield run_step("launchd may start it", "launchctl", "enable", f"{domain}/{LABEL}", may_fail=True)
    yield run_step("launchd reads it and starts it", "launchctl", "bootstrap", domain, str(agent_file()), tries=TRIES)
