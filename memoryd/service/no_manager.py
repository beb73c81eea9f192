"""Where nothing runs services: containers, WSL 1, a login without a bus."""

from dataclasses import dataclass

from memoryd.service.service_state import ManagerName, ServiceState

FOREGROUND = "run memoryd in the foreground: `memoryd`, in tmux or under the supervisor that you have"


@dataclass(frozen=True, slots=True)
class NoManager:
    """Says why there is none, and what to do instead."""

    why: str
    name: ManagerName = "none"

    def state(self) -> ServiceState:
        """Return that nothing is installed, and why."""
        return ServiceState("none", reason=self.why, hint=FOREGROUND)

    def log_command(self, *, follow: bool = False, lines: int = 100) -> tuple[str, ...]:
        """Return nothing: who runs the daemon has what it tells."""
        return ()
