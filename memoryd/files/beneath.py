"""Opening a file below a folder so that nothing on the way leads out of it.

Linux does it in one call, `openat2(2)` with RESOLVE_BENEATH; elsewhere, and where a sandbox forbids that call, the
path is walked component by component.
"""

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_SYS_OPENAT2 = 437
"""The same on every architecture that Python runs on, since numbers were shared from 424 on."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_RETRIES = 8


class _OpenHow(ctypes.Structure):
    """`struct open_how` of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(base: Path, relative: str, *, follow_symlinks: bool = False) -> int:
    """Open a file below `base` for reading, so that no symlink, `..` or later swap leads out of it.

    With `follow_symlinks` a link may lead elsewhere below `base`. Returns a descriptor to be closed by the caller.
    Raises OSError: ELOOP for a symlink on the way, PermissionError for one that leads out.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or "\0" in relative:
        raise FileNotFoundError(relative)
    if follow_symlinks:
        base, parts = _resolved(base, parts)
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _openat2(folder, "/".join(parts)) if has_openat2() else walk(folder, parts)
    finally:
        os.close(folder)


def walk(folder: int, parts: Sequence[str]) -> int:
    """Open a file below an open folder component by component; `folder` stays open."""
    inner = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, _OPEN_FOLDER, dir_fd=inner)
            os.close(inner)
            inner = below
        return os.open(parts[-1], _OPEN_FILE, dir_fd=inner)
    finally:
        os.close(inner)


@functools.cache
def has_openat2() -> bool:
    """Tell whether this kernel has the call and lets us use it."""
    if not sys.platform.startswith("linux"):
        return False
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_openat2(root, "."))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def _openat2(folder: int, relative: str) -> int:
    how = _OpenHow(_OPEN_FILE, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS)
    path = os.fsencode(relative)
    for _ in range(_RETRIES):
        descriptor: int = _syscall()(_SYS_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        # EAGAIN: something was renamed meanwhile
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code), relative)


@functools.cache
def _syscall() -> "ctypes._FuncPointer":
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return function


def _resolved(base: Path, parts: Sequence[str]) -> tuple[Path, list[str]]:
    """Follow the links now; what is opened afterwards has none, so that a later swap is noticed."""
    real = base.resolve()
    target = base.joinpath(*parts).resolve()
    if not target.is_relative_to(real):
        raise PermissionError(errno.EPERM, "leads out of its root", "/".join(parts))
    return real, list(target.relative_to(real).parts)
