"""Scratch folders of comparisons: each beside the index that it copies, and gone at the end.

The process that works in one holds its lock, which ends with the process, however that ends. So a folder whose lock is
free was left by a kill. It may hold a copy of the index, and a configuration with keys of providers: the next command
that evaluates anything removes it.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.terminal import size
from memoryd.errors import StoreUnavailable

PREFIX: Final = "memoryd-eval-"
"""Of their names: an index may be in a folder of its owner, who may have others there."""
ROOM: Final = 3
"""So many times the index must be free: its copy, what the variant makes anew, and its log."""
SPARE_BYTES: Final = 64 * 1024 * 1024


@contextlib.contextmanager
def scratch_folder(index: Path) -> Iterator[Path]:
    """Give an empty folder beside an index, for its owner alone (mode 0700), that is gone at the end.

    What a kill left there goes first. Raises StoreUnavailable where the disk has no room for a second index.
    """
    remove_leftovers(index.parent)
    needed, free = ROOM * index.stat().st_size + SPARE_BYTES, shutil.disk_usage(index.parent).free
    if free < needed:
        raise StoreUnavailable(f"{index.parent} has {size(free)} free; a second index takes up to {size(needed)}")
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=index.parent) as name, _locked(Path(name)):
        yield Path(name)


def remove_leftovers(parent: Path) -> None:
    """Remove the scratch folders in a folder that a kill left there.

    One that is in use stays, and one that cannot be removed.
    """
    for left in parent.glob(f"{PREFIX}*/"):
        with contextlib.suppress(OSError), _locked(left):
            shutil.rmtree(left)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with this process; raises BlockingIOError if another one has it.

    No file can be replaced in it meanwhile: who does that takes the same lock.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
