"""Letting two files change places in one step: `renameat2(2)` with RENAME_EXCHANGE, `renamex_np(2)` on macOS."""

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_FDCWD = -100
_EXCHANGE = 1 << 1
"""RENAME_EXCHANGE, and RENAME_SWAP of macOS: the same number by chance."""
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
"""What a kernel, a disk or a sandbox answers that does not know the call."""


def exchange(one: Path, other: Path) -> bool:
    """Let two files of one disk change places; return False if that cannot be done here. Raises OSError."""
    call = _call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNABLE:
        return False
    raise OSError(code, os.strerror(code), str(other))


@functools.cache
def _call() -> Callable[[bytes, bytes], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    # a C library may be older than the kernel
    function = getattr(library, "renamex_np" if sys.platform == "darwin" else "renameat2", None)
    if function is None:
        return None
    if sys.platform == "darwin":
        return lambda one, other: int(function(one, other, ctypes.c_uint(_EXCHANGE)))
    return lambda one, other: int(function(_AT_FDCWD, one, _AT_FDCWD, other, ctypes.c_uint(_EXCHANGE)))
