"""Write a file so that a reader sees the old bytes or the new ones, never a part, and no one's change is lost.

Only this module puts a new file in place of another, but for models: one that was downloaded or converted is far too
large to be handed over as bytes, so `models` renames the finished file itself.

New bytes go to a draft, a hidden file beside the target. Its writer holds a lock on it, which ends with the process,
so that drafts left by a kill are known from those still being written. Two files change places in one step:
`renameat2(2)` with RENAME_EXCHANGE, `renamex_np(2)` on macOS. A folder lock keeps other writers of ours out; editors
do not know it.
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
from memoryd.files.reading import file_stat


class FileChangedError(Exception):
    """The file is another one than was read; nothing was written. Read it again."""


def replace_file(
    path: Path,
    data: bytes,
    *,
    expected: FileStat | Literal["absent"] | None = None,
    is_durable: bool = False,
    syncs_folder: bool = True,
    replaced: list[int] | None = None,
) -> FileStat | None:
    """Write a file whole, or leave what is there and raise OSError; return its stat, None if it is another's already.

    `expected` makes it a compare-and-swap: FileChangedError is raised unless the file is still the one whose stat
    `read_snapshot` returned, or unless there is none. None writes over whatever is there. A new file is for its owner
    alone (mode 0600); one that was expected keeps its mode. `is_durable`: it outlasts a loss of power, too.
    Without `syncs_folder` the old file, whole, may stand there again after one, until `sync_folder` is called.
    `replaced` gets a descriptor of the old file, as `draft_beside` says.
    """
    with draft_beside(path, replaced) as (draft, file):
        file.write(data)
        file.flush()
        if is_durable:
            # before the rename: else the name may outlive a loss of power and the bytes not
            os.fsync(file.fileno())
        ours = _save_identity(draft)
        if expected is None:
            draft.replace(path)
        else:
            with locked_folder(path.parent):
                _swap(draft, path, expected)
    if is_durable and syncs_folder:
        sync_folder(path.parent)
    after = _stat_of(path)
    return file_stat(after) if after is not None and _stat_identity(after) == ours else None


def write_private(path: Path, data: bytes, *, is_durable: bool = False) -> None:
    """Write a file whole, over whatever is there, into a folder that is made where it is missing; raises OSError."""
    make_private_folder(path.parent)
    replace_file(path, data, is_durable=is_durable)


def remove_file(path: Path, expected: FileStat) -> None:
    """Remove a file that is still the one that was read; raises FileChangedError if it is not, or OSError.

    No writer of ours comes in between, for it takes the same lock; an editor may.
    """
    with locked_folder(path.parent):
        _check_unchanged(path, expected)
        path.unlink()


def _check_unchanged(path: Path, expected: FileStat) -> os.stat_result:
    """Return what is at a path; raises FileChangedError if it is another file, or somebody is about to write it."""
    stat = _stat_of(path)
    if stat is None or file_stat(stat) != replace(expected, device=stat.st_dev):
        raise FileChangedError(f"{path.name} has changed since it was read")
    _check_closed(path, path.name)
    return stat


def _swap(draft: Path, path: Path, expected: FileStat | Literal["absent"]) -> None:
    """Put the draft in place of the file that is expected.

    The lock keeps other writers of ours out, but no editor: it may save at any moment, also between the comparison
    and the rename, which would throw away what it saved. So the two files change places in one step, and what came
    out is compared once more; where it is the editor's, or an editor is about to write into it, they change back.
    """
    if expected == "absent":
        try:
            # unlike a rename, a link never takes the place of what is there
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} has been made meanwhile") from exc
        return
    before = _check_unchanged(path, expected)
    draft.chmod(stat_module.S_IMODE(before.st_mode))
    ours = _save_identity(draft)
    try:
        is_exchanged = exchange(draft, path)
    except FileNotFoundError as exc:
        raise FileChangedError(f"{path.name} has gone since it was read") from exc
    if not is_exchanged:
        # a system or a disk that cannot: an editor that saves within these microseconds loses
        draft.replace(path)
        return
    out = draft.lstat()
    # a rename sets the ctime, and nothing else; so an edit in place that sets back its time is not seen here
    if file_stat(out) != replace(expected, device=out.st_dev, ctime_ns=out.st_ctime_ns):
        _put_back(draft, path, ours)
        raise FileChangedError(f"{path.name} has changed since it was read")
    try:
        # one that it had opened before the exchange, perhaps emptied, and writes into now
        _check_closed(draft, path.name)
    except FileChangedError:
        _put_back(draft, path, ours)
        raise


def _check_closed(path: Path, name: str) -> None:
    """Raise FileChangedError where somebody has a file open to write into it.

    A read lease is given only where nobody has, see fcntl(2); macOS has none, and a network disk may have none.
    """
    if sys.platform == "darwin":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # who opens it in these microseconds waits for us, and the signal that tells us so is one that is ignored
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError as exc:
            raise FileChangedError(f"{name} is open in a program that writes into it") from exc
        finally:
            os.close(descriptor)


def _put_back(draft: Path, path: Path, ours: tuple[int, int, int]) -> None:
    """Give the editor's file its place again, unless the editor has saved over ours, or removed it."""
    with contextlib.suppress(FileNotFoundError):
        exchange(draft, path)
        if _save_identity(draft) != ours:
            # saved once more in between, over ours or into it: that one stays
            exchange(draft, path)


def _save_identity(path: Path) -> tuple[int, int, int]:
    """Return what tells one save of a file from another."""
    return _stat_identity(path.lstat())


def _stat_identity(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def make_private_folder(folder: Path) -> None:
    """Make a folder for its owner alone where there is none, with those above it; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sync_file(path: Path) -> None:
    """Have a file outlast a loss of power, whoever wrote it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have the name outlast a loss of power; the bytes are on the disk already, so that a refusal costs little."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_PREFIX = ".memoryd-"
_SUFFIX = ".draft"
_NAME = expression(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")
"""Between the two stand eight letters, by chance."""


@contextlib.contextmanager
def draft_beside(path: Path, replaced: list[int] | None = None) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make an empty draft for a file, for its owner alone (mode 0600), that is gone at the end unless it was renamed.

    After an exchange the old file has its name, and goes. `replaced` then gets a descriptor of it, which the caller
    closes when there is time: to free the space of a file may take half as long as to write it. Until then, or until
    the process ends, it is a file without a name.
    """
    draft, descriptor = _make_draft(path.parent)
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
        # taken for one of the dead before it was locked
        os.close(descriptor)


def _remove_draft(draft: Path) -> bool:
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


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which two threads of one process do not hold at once either. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # a network disk may know no locks on folders
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # the lock ends with it
        os.close(descriptor)


@contextlib.contextmanager
def streamed_file(path: Path, *, replaces: bool) -> Iterator[IO[bytes]]:
    """Give a file to write to, for its owner alone (mode 0600), which takes its place when the block ends well.

    With `replaces` it does so over what is there; without, it raises FileChangedError if anything is. Raises OSError
    where the disk stands in the way; then, and when the block raises, what was there stays.
    """
    with draft_beside(path) as (draft, file):
        yield file
        file.flush()
        if replaces:
            draft.replace(path)
            return
        try:
            # unlike a rename, a link never takes the place of what is there
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} is there already") from exc
