"""Which service manager runs memoryd for this user, if any: containers, WSL 1 and a login without a bus have none."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from memoryd.errors import MemorydError
from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.launchd import LaunchdManager
from memoryd.service.steps import ManagerName, ServiceState, ServiceStep, removal_steps
from memoryd.service.systemd import SystemdManager, left_units, why_no_systemd

FOREGROUND = (
    "run it in the foreground, in a terminal that stays: `tmux new -d -s memoryd memoryd`; or under a supervisor that "
    "you have, such as `[program:memoryd]` with `command=memoryd` and `stopwaitsecs=10` in supervisord.conf"
)


class ServiceManager(Protocol):
    """A service manager of one user; asking changes nothing."""

    @property
    def name(self) -> ManagerName: ...

    @property
    def places(self) -> tuple[Path, ...]:
        """Where files of an installation lie, whether they are there or not."""
        ...

    def state(self) -> ServiceState:
        """Return how the service stands; never raises."""
        ...

    def files(self, installation: Installation) -> ServiceFiles:
        """Return the files of an installation; raises InvalidRequest for a path that none can hold."""
        ...

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what is left to do until the service runs; nothing, if it does as it should.

        Raises NotPermitted for a file of somebody else unless `is_forced`, MemorydError where there is no manager.
        """
        ...

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what removes all that the installer put there; raises as `install`."""
        ...

    def start(self, state: ServiceState) -> Iterable[ServiceStep]: ...

    def stop(self, state: ServiceState) -> Iterable[ServiceStep]: ...

    def restart(self, state: ServiceState) -> Iterable[ServiceStep]: ...

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return the command that prints what the daemon told; empty where nobody keeps it."""
        ...


def manager_here(environment: Mapping[str, str] = os.environ, platform: str | None = None) -> ServiceManager:
    """Return the manager that would run memoryd here; it blocks while programs of the system are asked."""
    if (platform or sys.platform) == "darwin":
        return LaunchdManager(environment)
    reason = why_no_systemd(environment)
    return NoManager(reason, left=left_units(environment)) if reason else SystemdManager(environment)


class NoManager(Struct, frozen=True):
    """Says why there is none, and what to do instead."""

    why: str
    name: ManagerName = "none"
    places: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()
    """What an installation wrote when there was a manager, or one could be reached."""

    def state(self) -> ServiceState:
        """Return that nothing runs it, why, and what lies there all the same."""
        return ServiceState("none", reason=self.why, hint=FOREGROUND, files=self.left)

    def files(self, installation: Installation) -> ServiceFiles:
        """Return nothing."""
        return ServiceFiles(written={})

    def install(self, files: ServiceFiles, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Raise that nothing can be done here."""
        raise self.refusal()

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterable[ServiceStep]:
        """Return what removes the files that are left; raises where there are none."""
        if not self.left:
            raise self.refusal()
        return removal_steps(self.left)

    def start(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Raise that nothing can be done here."""
        raise self.refusal()

    def stop(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Raise that nothing can be done here."""
        raise self.refusal()

    def restart(self, state: ServiceState) -> Iterable[ServiceStep]:
        """Raise that nothing can be done here."""
        raise self.refusal()

    def refusal(self) -> MemorydError:
        """Return the error that says what to do instead."""
        return MemorydError(f"there is no service manager here: {self.why}", hint=FOREGROUND)

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return nothing: who runs the daemon has what it tells."""
        return ()
