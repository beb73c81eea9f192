"""launchd, which runs agents of one user on macOS: what `launchctl` is asked, and what its answers mean."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.service.manager_programs import ManagerAnswer, ask_program
from memoryd.service.service_state import ManagerName, ServiceState
from memoryd.service.systemd_manager import is_ours

LABEL: Final = "ai.memoryd"
PID: Final = re.compile(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
PHASE: Final = re.compile(r"^\s*state = (.+?)\s*$", re.MULTILINE)
LAST_EXIT: Final = re.compile(r"^\s*last exit (?:code|status) = (\d+)", re.MULTILINE)


def agent_file() -> Path:
    """Tell where the property list of our agent lies."""
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def log_file() -> Path:
    """Tell where launchd puts what the daemon writes to its streams."""
    return Path.home() / "Library" / "Logs" / "memoryd" / "memoryd.log"


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

    def state(self) -> ServiceState:
        """Return how the service stands."""
        file = agent_file()
        files = (file,) if file.is_file() else ()
        foreign = tuple(path for path in files if not is_ours(path))
        answer = self.ask("print", f"{self.domain}/{LABEL}")
        if not answer.is_done:
            return ServiceState("launchd", files=files, foreign=foreign, phase="not loaded")
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

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return how the log is read."""
        # -F: by name, for the log is put aside when it is long
        return ("tail", "-n", str(lines), *(("-F",) if follow else ()), str(log_file()))
