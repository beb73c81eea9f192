"""Processes that outlive the tests that started them."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

TELLING = ("HOME", "PWD", "TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")
"""Variables by which everything that a test starts is given folders of the test."""


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return who works in `folder` or has one of its own folders below it, ourselves left out."""
    return [one for one in psutil.process_iter() if one.pid != psutil.Process().pid and _belongs(one, folder)]


def described(processes: Sequence[psutil.Process]) -> str:
    """Name the processes for a person."""
    return "; ".join(f"{one.pid} {_command(one)}" for one in processes)


def _belongs(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error, OSError):
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        environment = process.environ()
        places = [process.cwd(), *(environment[name] for name in TELLING if name in environment)]
        return any(Path(place).is_relative_to(folder) for place in places)
    return False


def _command(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return "(ended)"
