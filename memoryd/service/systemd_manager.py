"""systemd as one user has it: what is asked of `systemctl --user`, and what its answers mean."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.manager_programs import ManagerAnswer, ask_program
from memoryd.service.service_state import ManagerName, ServiceState
from memoryd.service.service_step import ServiceStep
from memoryd.service.systemd_steps import (
    systemd_files,
    systemd_install,
    systemd_restart,
    systemd_start,
    systemd_stop,
    systemd_uninstall,
)
from memoryd.service.systemd_units import (
    DROP_IN,
    FAILED,
    MASKED,
    SERVICE,
    SYSTEMCTL,
    UNITS,
    is_masked,
    is_ours,
    unit_folder,
    user_name,
)

PROPERTIES: Final = "LoadState,ActiveState,SubState,Result,MainPID,UnitFileState,FragmentPath"
UNMASK: Final = f"if it is to run: systemctl --user unmask {' '.join(UNITS)}"
NO_NAMESPACES: Final = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/user/max_user_namespaces": "0",
}
"""Settings of Ubuntu, of Debian and of every Linux, and the value that forbids user namespaces."""


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


def left_units(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files and links of ours that systemd would read, for where nobody can ask it."""
    folder = unit_folder(environment)
    links = (path for name in UNITS for path in sorted(folder.glob(f"*.wants/{name}")) if path.is_symlink())
    return (*links, *(path for name in (*UNITS, DROP_IN) if (path := folder / name).is_file() and is_ours(path)))


def why_no_namespaces() -> str:
    """Say why a user's systemd cannot hide anything from a service here; empty if nothing is known against it."""
    for name, wrong in NO_NAMESPACES.items():
        with contextlib.suppress(OSError):
            if Path(name).read_text().strip() == wrong:
                return f"this system lets users make no namespaces ({name} is {wrong}), which hardening needs"
    return ""


@dataclass(frozen=True, slots=True)
class SystemdManager:
    """Asks the user's systemd."""

    environment: Mapping[str, str]
    name: ManagerName = "systemd"

    @property
    def folder(self) -> Path:
        """Where our units lie."""
        return unit_folder(self.environment)

    @property
    def places(self) -> tuple[Path, ...]:
        """Where our units and the drop-in lie, whether they are there or not."""
        return tuple(self.folder / name for name in (*UNITS, DROP_IN))

    def state(self) -> ServiceState:
        """Return how the service stands."""
        files = tuple(filter(os.path.lexists, self.places))
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

    def files(self, installation: Installation) -> ServiceFiles:
        """Return the units as they should be."""
        return systemd_files(installation, self.folder, self.environment.get("XDG_RUNTIME_DIR", ""))

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what is left to do until the service runs as it should."""
        return systemd_install(files, state, is_forced=is_forced)

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what removes all that the installer put there."""
        return systemd_uninstall(state, self.folder, is_forced=is_forced)

    def start(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what starts it."""
        return systemd_start(state)

    def stop(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what stops it."""
        return systemd_stop()

    def restart(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Return what starts it anew."""
        return systemd_restart(state)

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return how the journal shows what the daemon told."""
        return ("journalctl", "--user", f"--unit={SERVICE}", f"--lines={lines}", *(("--follow",) if follow else ()))


def _told(state: ServiceState, properties: Mapping[str, str]) -> ServiceState:
    if properties.get("LoadState") == MASKED or any(map(is_masked, state.files)):
        return replace(state, phase=MASKED, reason="its units are masked, so that nothing starts it", hint=UNMASK)
    active, phase = properties.get("ActiveState", ""), properties.get("SubState", "")
    pid = properties.get("MainPID", "0")
    result = properties.get("Result", "success")
    is_bad = active == FAILED or result not in ("", "success")
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
