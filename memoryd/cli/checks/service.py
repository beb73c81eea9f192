"""The part of `memoryctl doctor` about the service manager: is memoryd installed, does it start by itself."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks, Remedy
from memoryd.cli.terminal import count
from memoryd.config.loading.load import Loaded
from memoryd.files.writing import replace_file
from memoryd.service.installing import ServiceFiles, changed_lines, installation_of
from memoryd.service.managers import ServiceManager, manager_here
from memoryd.service.steps import ServiceState, ServiceStep, carry_out
from memoryd.service.systemd import DROP_IN, MASKED

PART: Final = "service"
_INSTALL: Final = "memoryctl service install"
_EXEC: Final = re.compile(r"^ExecStart=[-@:+!]*(\"(?:[^\"\\]|\\.)*\"|\S+)", re.MULTILINE)


def units(examination: Examination) -> Iterator[Finding]:
    """Ask the manager how memoryd stands, and hold its units against what is there."""
    manager = manager_here()
    state = manager.state()
    if state.manager == "none":
        yield Finding(PART, "off", f"no service manager: {state.reason}", state.hint)
    elif not state.is_installed:
        yield Finding(PART, "off", "memoryd is not a service: it does not start by itself", _INSTALL)
    elif state.phase == MASKED:
        # somebody wants it so
        yield Finding(PART, "off", state.reason, state.hint)
    else:
        yield from unit_findings(state)
        yield from _other_process(state, examination)
        if examination.loaded is not None and not state.foreign:
            yield from _outdated(manager, state, examination.loaded)


def unit_findings(state: ServiceState) -> Iterator[Finding]:
    """Judge a service that is installed."""
    if state.reason:
        yield Finding(PART, "wrong", state.reason, state.hint or "read why: memoryctl service logs")
    for path in state.files:
        if (program := unit_program(path)) and shutil.which(program) is None:
            message = f"{path} starts {program}, which is not there"
            yield Finding(PART, "wrong", message, f"{_INSTALL}, from where memoryd is installed now")
    if not state.is_enabled:
        yield Finding(PART, "look", "it is installed, and does not start by itself", _INSTALL)
    if not state.is_running and not state.reason:
        hint = "a socket unit starts it when somebody asks; else: memoryctl service start"
        yield Finding(PART, "look", f"it is installed, and does not run ({state.phase})", hint)
    if state.lingers is False:
        yield Finding(PART, "look", "it ends when you log out", "keep it: loginctl enable-linger")
    if state.is_running and not state.reason:
        yield Finding(PART, "ok", f"{state.manager}: {state.phase}, pid {state.pid}")


def unit_program(path: Path) -> str:
    """Return the program that a unit of systemd starts; empty where it names none."""
    try:
        found = _EXEC.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found[1].strip('"').replace("%%", "%").replace("\\x20", " ") if found else ""


def _other_process(state: ServiceState, examination: Examination) -> Iterator[Finding]:
    status = examination.status
    if status is not None and state.pid is not None and status["pid"] != state.pid:
        message = f"the service runs as pid {state.pid}, and pid {status['pid']} answers"
        yield Finding(PART, "look", message, "stop the one that was started by hand")


def _outdated(manager: ServiceManager, state: ServiceState, loaded: Loaded) -> Iterator[Finding]:
    is_hardened = any(path.name == DROP_IN.name for path in state.files)
    wanted = installation_of(loaded.config, loaded.source, os.environ, is_hardened=is_hardened)
    files = manager.files(wanted)
    if not set(files.written) & set(state.files):
        # units of a package, which are not ours to write
        return
    for path, lines in changed_lines(files).items():
        message = f"{path} does not fit the configuration: {count(len(lines), 'line')} would change"
        hint = f"{_INSTALL}; --dry-run shows the lines"
        yield Finding(PART, "look", message, hint, _refreshed(manager, state, files))


def _refreshed(manager: ServiceManager, state: ServiceState, files: ServiceFiles) -> Remedy:
    def act() -> str:
        done: list[ServiceStep] = []
        carry_out(manager.install(files, state), write=replace_file, environment=os.environ, tell=done.append)
        return "; ".join(f"{step.kind} {step.what}" for step in done)

    return Remedy("write the files of the service anew (memoryctl service install)", act)


LOOKS: Looks = {"service.units": units}
