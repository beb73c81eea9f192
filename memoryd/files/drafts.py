"""Drafts: the hidden files beside a file that is being written, before they take its place.

Whoever writes one holds a lock on it, which ends with the process, so that what a kill left can be told from what is
still being written.
"""

import contextlib
import fcntl
import os
import re
import stat as stat_module
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import IO, Final

from memoryd.files.folder_lock import locked_folder

_PREFIX: Final = ".memoryd-"
_SUFFIX: Final = ".draft"
_NAME: Final = re.compile(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")
"""Between the two stand eight letters, by chance."""


@contextlib.contextmanager
def draft_beside(path: Path, replaced: list[int] | None = None) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make an empty draft for a file, for its owner alone (mode 0600), that is gone at the end unless it was renamed.

    After an exchange the old file has its name, and goes. `replaced` then gets a descriptor of it, which the caller
    closes when there is time: to free the space of a file may take half as long as to write it. Until then, or until
    the process ends, it is a file without a name.
    """
    draft, descriptor = _made(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield draft, file
    finally:
        if replaced is not None:
            with contextlib.suppress(OSError):
                replaced.append(os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path) -> int:
    """Remove the drafts in a folder that nobody is writing any more, and return how many; raises OSError."""
    try:
        drafts = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
        if not drafts:
            return 0
        # while two files change places, the draft may be what an editor saved a moment ago
        with locked_folder(folder):
            return sum(map(_removed, drafts))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _made(folder: Path) -> tuple[Path, int]:
    while True:
        draft = folder / f"{_PREFIX}{token_hex(4)}{_SUFFIX}"
        try:
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return draft, descriptor
        # taken for one of the dead before it was locked
        os.close(descriptor)


def _removed(draft: Path) -> bool:
    """Remove a draft unless it is being written, or is no file; return whether it was removed."""
    try:
        # a pipe of that name must not keep us waiting
        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.unlink(missing_ok=True)
    except OSError:
        # held by its writer, or on a disk without locks, where nobody can tell
        return False
    finally:
        os.close(descriptor)
    return True
