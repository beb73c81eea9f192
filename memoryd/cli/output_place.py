"""Where a command may write a file that somebody named."""

import stat
from pathlib import Path

from memoryd.errors import InvalidRequest


def require_place(path: Path, *, is_forced: bool) -> None:
    """Raise InvalidRequest where a new file must not stand: over another unless forced, and never over what is none.

    A device, a pipe or a link would be gone for everybody who uses it by that name.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        # there is none, or who writes it says why it cannot be
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise InvalidRequest(
            f"{path} is {what}, and is left as it is", hint="name a file; - is standard output, for a pipe or a device"
        )
    if not is_forced:
        raise InvalidRequest(f"{path} is there already", hint="name another file, or give --force")
