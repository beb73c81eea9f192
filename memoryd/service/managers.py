"""The service manager of this user, if any: containers, WSL 1 and logins without a bus have none."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from memoryd.errors import MemorydError
from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.launchd import LaunchdManager
from memoryd.service.steps import ManagerName, ServiceState, ServiceStep, removal_steps, run_program
from memoryd.service.systemd import SYSTEMCTL, SystemdManager, leftover_units

FOREGROUND = (
    "run it in the foreground, in a terminal that stays: `tmux new -d -s memoryd memoryd`; or under a supervisor that "
    "you have, such as `[program:memoryd]` with `command=memoryd` and `stopwaitsecs=10` in supervisord.conf"
)


STOP = "if memoryd runs, stop it where you started it, with Ctrl-C or kill; memoryctl status shows its pid"


class NoManager(Struct, frozen=True):
    """No service manager: says why, and what to do instead."""

    why: str
    leftovers: tuple[Path, ...] = ()
    """Files of an installation from a time when a manager could be reached."""
    name: ManagerName = "none"
    places: tuple[Path, ...] = ()

    def state(self) -> ServiceState:
        """Return a state without a manager: the reason, advice, and files of an earlier installation."""
        return ServiceState("none", reason=self.why, hint=FOREGROUND, files=self.leftovers)

    def files(self, _installation: Installation) -> ServiceFiles:
        """Return no files."""
        return ServiceFiles(written={})

    def install(self, *_wanted: object, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Raise MemorydError: nothing can be done without a manager."""
        raise MemorydError(f"there is no service manager here: {self.why}", hint=FOREGROUND)

    start = restart = install

    def stop(self, _state: ServiceState) -> Iterator[ServiceStep]:
        """Raise MemorydError: what no manager started, no manager stops."""
        raise MemorydError(f"there is no service manager here: {self.why}", hint=STOP)

    def uninstall(self, _state: ServiceState, *, is_forced: bool = False) -> Iterator[ServiceStep]:
        """Return the steps that remove leftover files."""
        return removal_steps(self.leftovers)


ServiceManager = SystemdManager | LaunchdManager | NoManager
"""A service manager of one user; its methods plan steps and change nothing themselves."""


def manager_here(environment: Mapping[str, str] = os.environ) -> ServiceManager:
    """Return the service manager of this machine; blocks while it runs system programs."""
    if sys.platform == "darwin":
        return LaunchdManager(environment)
    reason = _why_no_systemd(environment)
    return NoManager(reason, leftover_units(environment)) if reason else SystemdManager(environment)


def _why_no_systemd(environment: Mapping[str, str]) -> str:
    """Return why no systemd of this user answers; empty if it answers."""
    answer = run_program((*SYSTEMCTL, "show", "--property=Version"), environment, seconds=10)
    if answer.is_success:
        return ""
    if "not been booted" in answer.error:
        return "systemd does not run here, as in most containers and in WSL 1"
    if "bus" in answer.error.lower():
        return f"the systemd of this user cannot be reached ({answer.reason})"
    return f"there is no systemd ({answer.reason})"
