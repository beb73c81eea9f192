"""Files that only their owner may read, whatever the umask says."""

import os
import stat
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600


def make_private_file(path: Path) -> None:
    """Make an empty file; raises FileExistsError if anything is there, a symlink that leads nowhere too."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        # an umask can only take away, and may have taken what the owner needs
        os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def make_private(path: Path) -> None:
    """Take away what anybody but its owner may do to a file, if there is one; raises OSError."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    if mode & ~PRIVATE:
        path.chmod(mode & PRIVATE)
