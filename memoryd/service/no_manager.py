"""Where nothing runs services: containers, WSL 1, a login without a bus."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memoryd.errors import MemorydError
from memoryd.service.installing import Installation, ServiceFiles
from memoryd.service.service_state import ManagerName, ServiceState
from memoryd.service.service_step import ServiceStep
from memoryd.service.writing_steps import removal_steps

FOREGROUND = (
    "run it in the foreground, in a terminal that stays: `tmux new -d -s memoryd memoryd`; or under a supervisor that "
    "you have, such as `[program:memoryd]` with `command=memoryd` and `stopwaitsecs=10` in supervisord.conf"
)


@dataclass(frozen=True, slots=True)
class NoManager:
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
