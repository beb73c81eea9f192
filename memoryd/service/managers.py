"""Which service manager runs memoryd for this user, if any: containers, WSL 1 and a login without a bus have none."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from memoryd.errors import MemorydError
from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.launchd import LaunchdManager
from memoryd.service.steps import ManagerName, ServiceState, ServiceStep, removal_steps, run_program
from memoryd.service.systemd import SYSTEMCTL, SystemdManager, left_units

FOREGROUND = (
    "run it in the foreground, in a terminal that stays: `tmux new -d -s memoryd memoryd`; or under a supervisor that "
    "you have, such as `[program:memoryd]` with `command=memoryd` and `stopwaitsecs=10` in supervisord.conf"
)


class NoManager(Struct, frozen=True):
    """Says why there is none, and what to do instead."""

    why: str
    left: tuple[Path, ...] = ()
    """What an installation wrote when there was a manager, or one could be reached."""
    name: ManagerName = "none"
    places: tuple[Path, ...] = ()

    def state(self) -> ServiceState:
        """Return that nothing runs it, why, and what lies there all the same."""
        return ServiceState("none", reason=self.why, hint=FOREGROUND, files=self.left)

    def files(self, _installation: Installation) -> ServiceFiles:
        """Return nothing."""
        return ServiceFiles(written={})

    def install(self, *_wanted: object, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Raise that nothing can be done here, and what to do instead."""
        raise MemorydError(f"there is no service manager here: {self.why}", hint=FOREGROUND)

    start = stop = restart = install

    def uninstall(self, state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Return what removes the files that are left; raises where there are none."""
        return removal_steps(self.left) if self.left else self.install(state)


ServiceManager = SystemdManager | LaunchdManager | NoManager
"""A service manager of one user; asking changes nothing."""


def manager_here(environment: Mapping[str, str] = os.environ) -> ServiceManager:
    """Return the manager that would run memoryd here; it blocks while programs of the system are asked."""
    if sys.platform == "darwin":
        return LaunchdManager(environment)
    reason = _why_no_systemd(environment)
    return NoManager(reason, left_units(environment)) if reason else SystemdManager(environment)


def _why_no_systemd(environment: Mapping[str, str]) -> str:
    """Say why no systemd of this user answers; empty if one does."""
    answer = run_program((*SYSTEMCTL, "show", "--property=Version"), environment, seconds=10)
    if answer.is_done:
        return ""
    if "not been booted" in answer.error:
        return "systemd does not run here, as in most containers and in WSL 1"
    if "bus" in answer.error.lower():
        return f"the systemd of this user cannot be reached ({answer.reason})"
    return f"there is no systemd ({answer.reason})"
