"""The lock of the state folder, seen from outside: who holds it, without trying it."""

import os
from pathlib import Path
from typing import Final

from memoryd.config.paths import state_dir

_LOCK_NAME: Final = "memoryd.lock"


def lock_path() -> Path:
    """Tell where the daemon's lock lies."""
    return state_dir() / _LOCK_NAME


def lock_holder(path: Path, proc: Path) -> int | None:
    """Return the pid of who holds a lock on a file; None if nobody does, or the system does not tell.

    0 is somebody in another pid namespace. Reads the kernel's table: to try the lock could keep a daemon from starting.
    """
    try:
        found, table = path.stat(), (proc / "locks").read_text()
    except OSError:
        return None
    wanted = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[1] == "FLOCK" and fields[5] == wanted:
            return max(0, int(fields[4]))
    return None
