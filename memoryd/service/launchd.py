"""launchd, the service manager on macOS: its files, the property list, `launchctl`, and the steps.

Planning only reads files and changes nothing.
"""

import os
import plistlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.paths import state_dir
from memoryd.domain.expressions import expression
from memoryd.service.installing import Installation, ServiceFiles, changed_lines
from memoryd.service.steps import (
    ManagerAnswer,
    ManagerName,
    ServiceState,
    ServiceStep,
    file_steps,
    removal_steps,
    run_program,
    run_step,
    state_of_files,
    unit_template,
    unit_text,
)

LABEL = "ai.memoryd"
NOT_LOADED = "not loaded"
PID = expression(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
PHASE = expression(r"^\s*state = (.+?)\s*$", re.MULTILINE)
LAST_EXIT = expression(r"^\s*last exit (?:code|status) = (\d+)", re.MULTILINE)
TRIES = 10
"""Tries to load an agent: right after `bootout` the first tries may fail."""
HEADER = "<!-- Written by `memoryctl service install`, which writes it anew. -->\n"
DOCTYPE_END = 'PropertyList-1.0.dtd">\n'


class LaunchdManager(Struct, frozen=True):
    """Asks the user's launchd. Plans have only the remaining steps: none if everything is as wanted."""

    environment: Mapping[str, str]
    name: ManagerName = "launchd"

    @property
    def domain(self) -> str:
        """The launchd domain of the agent: the graphical session, or the user's domain without a screen."""
        graphical = f"gui/{os.getuid()}"
        return graphical if self._print(graphical).is_success else f"user/{os.getuid()}"

    @property
    def places(self) -> tuple[Path, ...]:
        """The path of the agent file, which may not exist."""
        return (agent_file(),)

    def state(self) -> ServiceState:
        """Return the state of the service; never raises."""
        state = state_of_files("launchd", self.places)
        answer = self._print(f"{self.domain}/{LABEL}")
        if not answer.is_success:
            return replace(state, phase=NOT_LOADED)
        pid, phase, last = (pattern.search(answer.output) for pattern in (PID, PHASE, LAST_EXIT))
        code = int(last[1]) if last else 0
        return replace(
            state,
            is_enabled=state.has_files,
            is_running=pid is not None,
            pid=int(pid[1]) if pid else None,
            phase=phase[1] if phase else "loaded",
            reason=f"the last run ended with exit code {code}" if code and not pid else "",
            hint="read why: memoryctl service logs" if code and not pid else "",
        )

    def _print(self, target: str) -> ManagerAnswer:
        return run_program(("launchctl", "print", target), self.environment)

    def files(self, installation: Installation) -> ServiceFiles:
        """Return the agent file; the folder of its log must be created, since launchd does not do it."""
        text = launch_agent(
            unit_template(f"launchd/{LABEL}.plist"),
            installation.command,
            installation.environment,
            home=Path.home(),
            folders=installation.folders,
        )
        return ServiceFiles(written={agent_file(): text}, folders=(log_file().parent,))

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Yield the steps that install and start the agent.

        Raises NotPermitted for a file that memoryd did not write, unless `is_forced`.
        """
        changed = changed_lines(files)
        yield from file_steps(files, changed, state, is_forced=is_forced)
        if changed and state.phase != NOT_LOADED:
            yield self._do("launchd forgets the old one", "bootout", may_fail=True)
        if changed or not state.is_running:
            yield from self.start(replace(state, phase=NOT_LOADED) if changed else state)

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Yield the steps that stop the service and remove its files; with `is_forced` also foreign files."""
        removed = [path for path in state.files if is_forced or path not in state.foreign]
        if removed and state.phase != NOT_LOADED:
            yield self._do("it stops, and does not start again", "bootout", may_fail=True)
        yield from removal_steps(removed)

    def start(self, state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that start the service."""
        if state.phase != NOT_LOADED:
            yield self._do("it starts now", "kickstart")
            return
        agent = str(agent_file())
        yield self._do("launchd may start it", "enable", may_fail=True)
        yield run_step("launchd reads it and starts it", "launchctl", "bootstrap", self.domain, agent, tries=TRIES)

    def stop(self, state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that stop the service: it exits with success, so launchd does not restart it until login."""
        if state.is_running:
            yield self._do("it stays down until you log in again", "kill", "SIGTERM")

    def restart(self, state: ServiceState) -> Iterator[ServiceStep]:
        """Yield the steps that restart the service."""
        if state.phase == NOT_LOADED:
            yield from self.start(state)
        else:
            yield self._do("it stops and starts", "kickstart", "-k")

    def _do(self, why: str, *words: str, may_fail: bool = False) -> ServiceStep:
        return run_step(why, "launchctl", *words, f"{self.domain}/{LABEL}", may_fail=may_fail)

    def log_command(self, *, follow: bool, lines: int) -> tuple[str, ...]:
        """Return the command that shows launchd's log (output before memoryd's own log opens) and memoryd's own log."""
        own = state_dir() / "log" / "memoryd.log"
        # -F: follow by name, since memoryd rotates its log
        return ("tail", "-n", str(lines), *(("-F",) if follow else ()), str(log_file()), str(own))


def agent_file() -> Path:
    """Return the path of the agent's property list."""
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def log_file() -> Path:
    """Return the path of the file to which launchd writes the daemon's standard output and error."""
    return Path.home() / "Library" / "Logs" / "memoryd" / "memoryd.log"


def launch_agent(
    template: str, command: Sequence[str], environment: Mapping[str, str], *, home: Path, folders: Sequence[str] = ()
) -> str:
    """Return the text of the agent; `folders` come first in its PATH.

    Raises InvalidRequest for a path with characters that a property list cannot contain.
    """
    agent = plistlib.loads(template.encode())
    for key in ("StandardOutPath", "StandardErrorPath"):
        agent[key] = unit_text(agent[key].replace("@HOME@", str(home)))
    agent["ProgramArguments"] = [unit_text(word) for word in command]
    variables = agent["EnvironmentVariables"]
    variables["PATH"] = unit_text(":".join([*folders, variables["PATH"].replace("@HOME@", str(home))]))
    variables.update({name: unit_text(value) for name, value in environment.items()})
    text = plistlib.dumps(agent, sort_keys=False).decode()
    return text.replace(DOCTYPE_END, DOCTYPE_END + HEADER, 1)
