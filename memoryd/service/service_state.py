"""How the service stands, in words that hold for every manager."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ManagerName = Literal["systemd", "launchd", "none"]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What the manager says of memoryd; None where it cannot be told."""

    manager: ManagerName
    reason: str = ""
    """Why there is no manager, or what the manager says is wrong; empty if nothing is."""
    hint: str = ""
    """What to do about it, in one sentence."""
    files: tuple[Path, ...] = ()
    """The unit files that are there."""
    foreign: tuple[Path, ...] = ()
    """Those of them that somebody else wrote."""
    is_enabled: bool = False
    """Whether it starts with the session."""
    is_running: bool = False
    pid: int | None = None
    phase: str = ""
    """The manager's own words, such as `active (running)`."""
    lingers: bool | None = None
    """Whether it goes on when its user logs out; None where that is no question."""

    @property
    def is_installed(self) -> bool:
        return bool(self.files)
