"""Which service manager runs memoryd for this user, and what can be asked of each."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.launchd_manager import LaunchdManager
from memoryd.service.no_manager import NoManager
from memoryd.service.service_state import ManagerName, ServiceState
from memoryd.service.service_step import ServiceStep
from memoryd.service.systemd_manager import SystemdManager, left_units, why_no_systemd


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
