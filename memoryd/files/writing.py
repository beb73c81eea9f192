"""Atomic file writes: a reader sees the old bytes or the new ones, never a part, and no other writer's change is lost.

Only this module replaces files, with one exception: a downloaded or converted model is far too large to pass as bytes,
so `models` renames the finished file itself.

New bytes go to a draft, a hidden file beside the target. Its writer locks the draft. The lock ends with the process, so
a draft without a lock was left behind by a killed process. Two files are exchanged in one step: `renameat2(2)` with
RENAME_EXCHANGE, `renamex_np(2)` on macOS. A folder lock keeps our other writers out; editors ignore it.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import re
import signal
import stat as stat_module
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import IO, Literal

from msgspec.structs import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.expressions import expression
from memoryd.files.reading import FOLDER_FLAGS, READ_FLAGS, file_stat


class FileChangedError(Exception):
    """The file has changed since it was read; nothing was written. Read it again."""


def replace_file(
    path: Path,
    data: bytes,
    *,
    expected: FileStat | Literal["absent"] | None = None,
    is_durable: bool = False,
    syncs_folder: bool = True,
    replaced: list[int] | None = None,
) -> FileStat | None:
    """Write a complete file, or raise OSError and leave the old one; return its stat, None if it was replaced since.

    `expected` makes it a compare-and-swap: FileChangedError is raised unless the file still has this stat, which
    `read_snapshot` returned, or does not exist ("absent"). None overwrites any file. A new file has mode 0600; an
    expected file keeps its mode. With `is_durable` the new file survives a loss of power; without `syncs_folder` the
    complete old file may be back after one, until `sync_folder` is called. `replaced` gets a descriptor of the old
    file, see `open_draft`.
    """
    with open_draft(path, replaced) as (draft, file):
        file.write(data)
        file.flush()
        if is_durable:
            # before the rename: else a loss of power may leave the new name without the bytes
            os.fsync(file.fileno())
        ours = _save_identity(draft.lstat())
        if expected is None:
            draft.replace(path)
        else:
            with locked_folder(path.parent):
                _swap(draft, path, expected)
    if is_durable and syncs_folder:
        sync_folder(path.parent)
    after = _stat_of(path)
    return file_stat(after) if after is not None and _save_identity(after) == ours else None


def write_private(path: Path, data: bytes, *, is_durable: bool = False) -> None:
    """Write a complete file with mode 0600, overwriting any, and create its folder if missing; raises OSError."""
    make_private_folder(path.parent)
    replace_file(path, data, is_durable=is_durable)


def remove_file(path: Path, expected: FileStat) -> None:
    """Remove a file if it is still the one that was read; raises FileChangedError if not, or OSError.

    The folder lock keeps our other writers out between check and removal, but not editors.
    """
    with locked_folder(path.parent):
        _check_unchanged(path, expected)
        path.unlink()


def _check_unchanged(path: Path, expected: FileStat) -> os.stat_result:
    """Return the stat of a file; raises FileChangedError if it has changed, or is open for writing."""
    stat = _stat_of(path)
    if stat is None or file_stat(stat) != replace(expected, device=stat.st_dev):
        raise FileChangedError(f"{path.name} has changed since it was read")
    _check_closed(path, path.name)
    return stat


def _swap(draft: Path, path: Path, expected: FileStat | Literal["absent"]) -> None:
    """Put the draft in place of the expected file.

    The lock keeps our other writers out, but no editor. An editor may save between the comparison and a rename, which
    would discard what it saved. So the two files are exchanged in one step, and the old file is compared once more;
    if it is the editor's, or is open for writing, the exchange is reversed.
    """
    if expected == "absent":
        try:
            # unlike a rename, a link never replaces an existing file
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} has been made meanwhile") from exc
        return
    before = _check_unchanged(path, expected)
    draft.chmod(stat_module.S_IMODE(before.st_mode))
    ours = _save_identity(draft.lstat())
    try:
        is_exchanged = exchange(draft, path)
    except FileNotFoundError as exc:
        raise FileChangedError(f"{path.name} has gone since it was read") from exc
    if not is_exchanged:
        # a system or a disk that cannot: an editor that saves within these microseconds loses
        draft.replace(path)
        return
    out = draft.lstat()
    # a rename changes only the ctime, so it is not compared; an edit in place that resets its mtime goes unnoticed
    if file_stat(out) != replace(expected, device=out.st_dev, ctime_ns=out.st_ctime_ns):
        _put_back(draft, path, ours)
        raise FileChangedError(f"{path.name} has changed since it was read")
    try:
        # an editor may have opened, perhaps truncated, the old file before the exchange and be writing into it now
        _check_closed(draft, path.name)
    except FileChangedError:
        _put_back(draft, path, ours)
        raise


def _check_closed(path: Path, name: str) -> None:
    """Raise FileChangedError if any process has the file open for writing.

    A read lease is granted only if none has, see fcntl(2). macOS has no leases, and a network disk may have none.
    """
    if sys.platform == "darwin":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path, READ_FLAGS)
        try:
            # a process that opens the file in these microseconds waits for us; the kernel's signal about it is SIGURG,
            # which is ignored
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError as exc:
            raise FileChangedError(f"{name} is open in a program that writes into it") from exc
        finally:
            os.close(descriptor)


def _put_back(draft: Path, path: Path, ours: tuple[int, int, int]) -> None:
    """Put the editor's file back in place, unless the editor has since saved over ours, or removed it."""
    with contextlib.suppress(FileNotFoundError):
        exchange(draft, path)
        if _save_identity(draft.lstat()) != ours:
            # the editor saved again in between, over our file or into it: keep that version
            exchange(draft, path)


def _save_identity(stat: os.stat_result) -> tuple[int, int, int]:
    """Return values that identify one save of a file."""
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def make_private_folder(folder: Path) -> None:
    """Create a folder with mode 0700 if it is missing, and its parents; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sync_file(path: Path) -> None:
    """Make a file's content survive a loss of power."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power. Errors are ignored: the bytes are on disk already."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, FOLDER_FLAGS)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_PREFIX = ".memoryd-"
_SUFFIX = ".draft"
_NAME = expression(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")
"""Eight random characters between prefix and suffix."""


@contextlib.contextmanager
def open_draft(path: Path, replaced: list[int] | None = None) -> Iterator[tuple[Path, IO[bytes]]]:
    """Create an empty draft (mode 0600) for a file; it is removed at the end unless it was renamed.

    After an exchange the old file has the draft's name, and is removed. `replaced` then gets a descriptor of the old
    file, which the caller closes later: freeing a file's space may take half as long as writing it. Until then, or
    until the process ends, the old file exists without a name.
    """
    draft, descriptor = _make_draft(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield draft, file
    finally:
        if replaced is not None:
            with contextlib.suppress(OSError):
                replaced.append(os.open(draft, READ_FLAGS))
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path) -> int:
    """Remove the drafts in a folder that have no writer any longer, and return how many; raises OSError."""
    try:
        drafts = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
        if not drafts:
            return 0
        # during an exchange the draft may be what an editor has just saved
        with locked_folder(folder):
            return sum(map(_remove_draft, drafts))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _make_draft(folder: Path) -> tuple[Path, int]:
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
        # removed as an abandoned draft before it was locked
        os.close(descriptor)


def _remove_draft(draft: Path) -> bool:
    """Remove a draft unless it is being written, or is no regular file; return whether it was removed."""
    try:
        descriptor = os.open(draft, READ_FLAGS)
    except OSError:
        return False
    try:
        if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.unlink(missing_ok=True)
    except OSError:
        # locked by its writer, or on a disk without locks, where that is unknown
        return False
    finally:
        os.close(descriptor)
    return True


_AT_FDCWD = -100
_EXCHANGE = 1 << 1
"""RENAME_EXCHANGE, and RENAME_SWAP of macOS: the same number by chance."""
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
"""Errors of a kernel, disk or sandbox without the call."""


def exchange(first: Path, second: Path) -> bool:
    """Exchange two files of one disk atomically; return False if the system cannot. Raises OSError."""
    call = _call()
    if call is None:
        return False
    if call(os.fsencode(first), os.fsencode(second)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNABLE:
        return False
    raise OSError(code, os.strerror(code), str(second))


@functools.cache
def _call() -> Callable[[bytes, bytes], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    # a C library may be older than the kernel
    function = getattr(library, "renamex_np" if sys.platform == "darwin" else "renameat2", None)
    if function is None:
        return None
    if sys.platform == "darwin":
        return lambda first, second: int(function(first, second, ctypes.c_uint(_EXCHANGE)))
    return lambda first, second: int(function(_AT_FDCWD, first, _AT_FDCWD, second, ctypes.c_uint(_EXCHANGE)))


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder; it excludes other threads of this process, too. Raises OSError."""
    descriptor = os.open(folder, FOLDER_FLAGS)
    try:
        # a network disk may have no folder locks
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # releases the lock
        os.close(descriptor)


@contextlib.contextmanager
def streamed_file(path: Path, *, replaces: bool) -> Iterator[IO[bytes]]:
    """Yield a file (mode 0600) to write to; it is moved to `path` if the block ends without an error.

    With `replaces` it replaces any file at `path`; without, FileChangedError is raised if there is one. Also raises
    OSError. After an error, also one of the block, `path` is unchanged.
    """
    with open_draft(path) as (draft, file):
        yield file
        file.flush()
        if replaces:
            draft.replace(path)
            return
        try:
            # unlike a rename, a link never replaces an existing file
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} is there already") from exc
