"""launchd, which runs agents of one user on macOS: what `launchctl` is asked, and what its answers mean."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.config.paths import state_dir
from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.launchd_agent import LABEL, NOT_LOADED, agent_file, log_file
from memoryd.service.launchd_steps import (
    launchd_files,
    launchd_install,
    launchd_restart,
    launchd_start,
    launchd_stop,
    launchd_uninstall,
)
from memoryd.service.manager_programs import ManagerAnswer, ask_program
from memoryd.service.service_state import ManagerName, ServiceState
from memoryd.service.service_step import ServiceStep
from memoryd.service.systemd_units import is_ours

PID: Final = re.compile(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
PHASE: Final = re.compile(r"^\s*state = (.+?)\s*$", re.MULTILINE)
LAST_EXIT: Final = re.compile(r"^\s*last exit (?:code|status) = (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LaunchdManager:
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
