"""Whether the folders of a workspace lie on a file system that other machines write to."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from memoryd.domain.mounts import parse_mounts, remote_mounts

TABLE = Path("/proc/self/mountinfo")

ReadMounts = Callable[[], str]


def read_mounts() -> str:
    """Return the table of mounts; empty where the system has none."""
    try:
        return TABLE.read_text(errors="surrogateescape")
    except OSError:
        return ""


def remote_reason(folders: Iterable[Path], read: ReadMounts) -> str:
    """Say why events do not tell of every change below these folders; empty if they do."""
    mounts = remote_mounts(parse_mounts(read()), (os.path.realpath(folder) for folder in folders))
    if not mounts:
        return ""
    places = ", ".join(f"{mount.point} is {mount.kind}" for mount in mounts)
    return f"{places}, where no event tells what another machine changes"
