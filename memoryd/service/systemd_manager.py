"""systemd as one user has it: what is asked of `systemctl --user`, and what its answers mean."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from memoryd.service.manager_programs import ManagerAnswer, ask_program
from memoryd.service.service_state import ManagerName, ServiceState

SYSTEMCTL: Final = ("systemctl", "--user")
SERVICE: Final = "memoryd.service"
SOCKET: Final = "memoryd.socket"
UNITS: Final = (SOCKET, SERVICE)
DROP_IN: Final = Path("memoryd.service.d") / "hardening.conf"
MARK: Final = "memoryctl service install"
"""Stands in the first lines of every file that we wrote."""
PROPERTIES: Final = "LoadState,ActiveState,SubState,Result,MainPID,UnitFileState,FragmentPath"


def unit_folder(environment: Mapping[str, str]) -> Path:
    """Tell where a user's own units lie."""
    named = environment.get("XDG_CONFIG_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".config") / "systemd" / "user"


def why_no_systemd(environment: Mapping[str, str]) -> str:
    """Say why no systemd of this user answers; empty if one does."""
    answer = ask_program((*SYSTEMCTL, "show", "--property=Version"), environment, seconds=10)
    if answer.is_done:
        return ""
    if "not been booted" in answer.error:
        return "systemd does not run here, as in most containers and in WSL 1"
    if "bus" in answer.error.lower():
        return f"the systemd of this user cannot be reached ({answer.reason})"
    return f"there is no systemd ({answer.reason})"


@dataclass(frozen=True, slots=True)
class SystemdManager:
    """Asks the user's systemd."""

    environment: Mapping[str, str]
    name: ManagerName = "systemd"

    @property
    def folder(self) -> Path:
        """Where our units lie."""
        return unit_folder(self.environment)

    def state(self) -> ServiceState:
        """Return how the service stands."""
        files = tuple(path for name in (*UNITS, DROP_IN) if (path := self.folder / name).is_file())
        foreign = tuple(path for path in files if not is_ours(path))
        answer = ask_program((*SYSTEMCTL, "show", f"--property={PROPERTIES}", SERVICE), self.environment, seconds=10)
        state = ServiceState("systemd", files=files, foreign=foreign, lingers=self.lingers())
        if not answer.is_done:
            return replace(state, reason=answer.reason, hint="see what it says: systemctl --user status memoryd")
        return _told(state, answer.properties)

    def lingers(self) -> bool | None:
        """Tell whether the user's services go on after logout; None if nobody can say."""
        answer = ask_program(
            ("loginctl", "show-user", user_name(self.environment), "--property=Linger"), self.environment, seconds=10
        )
        said = answer.properties.get("Linger") if answer.is_done else None
        # of a user who is not logged in it knows nothing, and the file that means it can be seen all the same
        if said is None:
            found = Path("/var/lib/systemd/linger") / user_name(self.environment)
            return True if found.exists() else None
        return said == "yes"

    def ask(self, *words: str) -> ManagerAnswer:
        """Ask systemctl."""
        return ask_program((*SYSTEMCTL, *words), self.environment)

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return how the journal shows what the daemon told."""
        return ("journalctl", "--user", f"--unit={SERVICE}", f"--lines={lines}", *(("--follow",) if follow else ()))


def is_ours(path: Path) -> bool:
    """Tell whether we wrote a file; one that cannot be read is somebody else's."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1000)
    except OSError:
        return False


def user_name(environment: Mapping[str, str]) -> str:
    """Return the user whom loginctl is asked about: the name, else the number."""
    return environment.get("USER") or str(os.getuid())


def _told(state: ServiceState, properties: Mapping[str, str]) -> ServiceState:
    active, phase = properties.get("ActiveState", ""), properties.get("SubState", "")
    pid = properties.get("MainPID", "0")
    result = properties.get("Result", "success")
    is_bad = active == "failed" or result not in ("", "success")
    return replace(
        state,
        # units of a package, such as Debian's, lie elsewhere
        files=state.files or tuple(Path(path) for path in [properties.get("FragmentPath", "")] if path),
        is_enabled=properties.get("UnitFileState", "") == "enabled",
        is_running=active in ("active", "reloading"),
        pid=int(pid) if pid.isdecimal() and int(pid) else None,
        phase=f"{active} ({phase})" if phase else active,
        reason=f"the last run ended with {result}" if is_bad else "",
        hint="read why: memoryctl service logs" if is_bad else "",
    )
