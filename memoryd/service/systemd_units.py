"""Where the units of a user lie, what they are called, and by what we know that they are ours."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SYSTEMCTL: Final = ("systemctl", "--user")
SERVICE: Final = "memoryd.service"
SOCKET: Final = "memoryd.socket"
UNITS: Final = (SOCKET, SERVICE)
DROP_IN: Final = Path("memoryd.service.d") / "hardening.conf"
MARK: Final = "memoryctl service install"
"""Stands in the first lines of every file that we wrote."""
FAILED: Final = "failed"
MASKED: Final = "masked"


def unit_folder(environment: Mapping[str, str]) -> Path:
    """Tell where a user's own units lie."""
    named = environment.get("XDG_CONFIG_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".config") / "systemd" / "user"


def is_ours(path: Path) -> bool:
    """Tell whether we wrote a file; one that cannot be read is somebody else's."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1000)
    except OSError:
        return False


def is_masked(path: Path) -> bool:
    """Tell whether a unit is a link to nowhere by design, which is how somebody forbids it to start."""
    return path.is_symlink() and os.path.realpath(path) == os.devnull


def user_name(environment: Mapping[str, str]) -> str:
    """Return the user whom loginctl is asked about: the name, else the number."""
    return environment.get("USER") or str(os.getuid())
