"""launchd, which runs agents of one user on macOS: its files, its property list, `launchctl`, and the steps.

Planning looks at files and changes nothing.
"""

import os
import plistlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from memoryd.config.paths import state_dir
from memoryd.domain.expressions import expression
from memoryd.service.installing import Installation, ServiceFiles, changed_lines
from memoryd.service.steps import (
    ManagerAnswer,
    ManagerName,
    ServiceState,
    ServiceStep,
    ask_program,
    file_steps,
    removal_steps,
    run_step,
    unit_template,
)
from memoryd.service.systemd import held, is_ours

LABEL: Final = "ai.memoryd"
NOT_LOADED: Final = "not loaded"
PID: Final = expression(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
PHASE: Final = expression(r"^\s*state = (.+?)\s*$", re.MULTILINE)
LAST_EXIT: Final = expression(r"^\s*last exit (?:code|status) = (\d+)", re.MULTILINE)
TRIES: Final = 10
"""An agent that was just thrown out may not come back at once."""
HEADER: Final = "<!-- Written by `memoryctl service install`, which writes it anew. -->\n"
DOCTYPE_END: Final = 'PropertyList-1.0.dtd">\n'


class LaunchdManager(Struct, frozen=True):
    """Asks the user's launchd."""

    environment: Mapping[str, str]
    name: ManagerName = "launchd"

    @property
    def domain(self) -> str:
        """Where agents run: in the session of the screen, or in that of the user where nobody sits at one."""
        graphical = f"gui/{os.getuid()}"
        return graphical if self.ask("print", graphical).is_done else f"user/{os.getuid()}"

    @property
    def places(self) -> tuple[Path, ...]:
        """Where our agent lies, whether it is there or not."""
        return (agent_file(),)

    def state(self) -> ServiceState:
        """Return how the service stands."""
        files = tuple(filter(os.path.lexists, self.places))
        foreign = tuple(path for path in files if not is_ours(path))
        answer = self.ask("print", f"{self.domain}/{LABEL}")
        if not answer.is_done:
            return ServiceState("launchd", files=files, foreign=foreign, phase=NOT_LOADED)
        pid, phase, last = (pattern.search(answer.output) for pattern in (PID, PHASE, LAST_EXIT))
        code = int(last[1]) if last else 0
        return ServiceState(
            "launchd",
            files=files,
            foreign=foreign,
            is_enabled=bool(files),
            is_running=pid is not None,
            pid=int(pid[1]) if pid else None,
            phase=phase[1] if phase else "loaded",
            reason=f"the last run ended with exit code {code}" if code and not pid else "",
            hint="read why: memoryctl service logs" if code and not pid else "",
        )

    def ask(self, *words: str) -> ManagerAnswer:
        """Ask launchctl."""
        return ask_program(("launchctl", *words), self.environment)

    def files(self, installation: Installation) -> ServiceFiles:
        """Return the agent as it should be."""
        return launchd_files(installation)

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what is left to do until the agent runs as it should."""
        return launchd_install(files, state, self.domain, is_forced=is_forced)

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what removes all that the installer put there."""
        return launchd_uninstall(state, self.domain, is_forced=is_forced)

    def start(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what starts it."""
        return launchd_start(state, self.domain)

    def stop(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what stops it."""
        return launchd_stop(state, self.domain)

    def restart(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what starts it anew."""
        return launchd_restart(state, self.domain)

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return how the logs are read: what was said before memoryd kept a log of its own, and that log."""
        own = state_dir() / "log" / "memoryd.log"
        # -F: by name, for a log is put aside when it is long
        return ("tail", "-n", str(lines), *(("-F",) if follow else ()), str(log_file()), str(own))


def agent_file() -> Path:
    """Tell where the property list of our agent lies."""
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def log_file() -> Path:
    """Tell where launchd puts what the daemon writes to its streams."""
    return Path.home() / "Library" / "Logs" / "memoryd" / "memoryd.log"


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


def launch_agent(
    template: str, command: Sequence[str], environment: Mapping[str, str], *, home: Path, folders: Sequence[str] = ()
) -> str:
    """Return the agent; `folders` come first in its PATH. Raises InvalidRequest for a path that no list can hold."""
    agent = plistlib.loads(template.encode())
    for key in ("StandardOutPath", "StandardErrorPath"):
        agent[key] = held(agent[key].replace("@HOME@", str(home)))
    agent["ProgramArguments"] = [held(word) for word in command]
    told = agent["EnvironmentVariables"]
    told["PATH"] = held(":".join([*folders, told["PATH"].replace("@HOME@", str(home))]))
    told.update({name: held(value) for name, value in environment.items()})
    text = plistlib.dumps(agent, sort_keys=False).decode()
    return text.replace(DOCTYPE_END, DOCTYPE_END + HEADER, 1)
