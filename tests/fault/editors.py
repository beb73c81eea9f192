"""How programs save a file: the system calls of each in order, with pauses between them.

The sequences were taken with strace from the programs named. `pause` is called between any two calls; it may sleep,
or raise an error to leave the save half done.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

NOISE = (".x.md.swp", "4913", "x.md~", "#x.md#", ".syncthing.x.md.tmp", ".x.md.AbC123", "x.md.tmp")
"""Names of files that editors leave beside a note."""

Pause = Callable[[], None]
Save = Callable[[Path, bytes, Pause], None]


def vim_rename(path: Path, data: bytes, pause: Pause) -> None:
    """vim with `backupcopy=auto`: the old file becomes the backup, the text goes into a new one."""
    swap, probe, backup = path.with_name(f".{path.name}.swp"), path.with_name("4913"), _tilde(path)
    _write(swap, b"b0VIM 9.0", pause)
    _write(probe, b"", pause)
    probe.unlink()
    if path.exists():
        path.rename(backup)
        pause()
    _write_in_place(path, data, pause, sync=True)
    backup.unlink(missing_ok=True)
    pause()
    swap.unlink()


def vim_inplace(path: Path, data: bytes, pause: Pause) -> None:
    """vim with `backupcopy=yes`: a copy becomes the backup, the file itself is cut and written."""
    swap, backup = path.with_name(f".{path.name}.swp"), _tilde(path)
    _write(swap, b"b0VIM 9.0", pause)
    if path.exists():
        shutil.copy2(path, backup)
        pause()
    _write_in_place(path, data, pause, sync=True)
    backup.unlink(missing_ok=True)
    swap.unlink()


def emacs_first(path: Path, data: bytes, pause: Pause) -> None:
    """Emacs, first save of a session: a dangling lock link, the old file becomes the backup."""
    lock = _emacs_lock(path)
    if path.exists():
        path.rename(_tilde(path))
        pause()
    _truncate_and_write(path, data, pause)
    os.close(os.open(path, os.O_WRONLY))
    lock.unlink()
    pause()
    path.chmod(0o644)


def emacs_later(path: Path, data: bytes, pause: Pause) -> None:
    """Emacs, later saves: cut and written in place."""
    lock = _emacs_lock(path)
    pause()
    _truncate_and_write(path, data, pause)
    lock.unlink()


def emacs_precious(path: Path, data: bytes, pause: Pause) -> None:
    """Emacs with `file-precious-flag`: written beside, then renamed over."""
    if path.exists():
        shutil.copyfile(path, _tilde(path))
        pause()
    temporary = path.with_name("tmpAb3xYz")
    _write(temporary, data, pause)
    temporary.rename(path)


def vscode(path: Path, data: bytes, pause: Pause) -> None:
    """VS Code: cut, written, fdatasync."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        pause()
        _write_parts(descriptor, data, pause)
        os.fdatasync(descriptor)
        pause()
    finally:
        os.close(descriptor)


def obsidian(path: Path, data: bytes, pause: Pause) -> None:
    """Obsidian, and Node's writeFile: cut and written in one call."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        pause()
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def nano(path: Path, data: bytes, pause: Pause) -> None:
    """nano: a lock file, cut, written, fsync."""
    lock = path.with_name(f".{path.name}.swp")
    _write(lock, b"b0nano 7.2", pause)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        pause()
        _write_parts(descriptor, data, pause)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    lock.unlink()


def syncthing(path: Path, data: bytes, pause: Pause) -> None:
    """Syncthing: written beside in blocks, renamed over, with a time of last week."""
    temporary = path.with_name(f".syncthing.{path.name}.tmp")
    _write_synced(temporary, data, pause)
    temporary.chmod(0o644)
    temporary.rename(path)
    pause()
    _set_old_time(path)


def rsync(path: Path, data: bytes, pause: Pause) -> None:
    """rsync -a: a private file beside, dated as its source, renamed over."""
    temporary = path.with_name(f".{path.name}.AbC123")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write_parts(descriptor, data, pause)
    finally:
        os.close(descriptor)
    _set_old_time(temporary)
    temporary.chmod(0o644)
    temporary.rename(path)


def rsync_inplace(path: Path, data: bytes, pause: Pause) -> None:
    """rsync --inplace: written over the old bytes, then cut to length and dated as its source."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        _write_parts(descriptor, data, pause)
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)
    pause()
    _set_old_time(path)


def git_checkout(path: Path, data: bytes, pause: Pause) -> None:
    """git: the old file is unlinked, the new one made; folders that became empty go and come back."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()
    pause()
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, data, pause)


def sed_i(path: Path, data: bytes, pause: Pause) -> None:
    """sed -i: a file of another name beside, renamed over."""
    temporary = path.with_name("sedAb12Cd")
    _write(temporary, data, pause)
    temporary.rename(path)


def tar(path: Path, data: bytes, pause: Pause) -> None:
    """tar x: unlinked, made anew with a private mode, dated in whole seconds."""
    path.unlink(missing_ok=True)
    pause()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write_parts(descriptor, data, pause)
    finally:
        os.close(descriptor)
    seconds = int(path.stat().st_mtime) - 86_400
    os.utime(path, (seconds, seconds))


def cp(path: Path, data: bytes, pause: Pause) -> None:
    """cp: cut, then filled by the kernel."""
    source = path.with_name(f".{path.name}.source")
    source.write_bytes(data)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        pause()
        with source.open("rb") as file:
            while os.copy_file_range(file.fileno(), descriptor, 1 << 20):
                pause()
    finally:
        os.close(descriptor)
        source.unlink()


def touch_r(path: Path, data: bytes, pause: Pause) -> None:
    """A tool that puts the times back: other bytes, the same mtime."""
    old = path.stat() if path.exists() else None
    path.write_bytes(data)
    pause()
    if old is not None:
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def mkdirp_write(path: Path, data: bytes, pause: Pause) -> None:
    """Folders made and filled at once: a watcher hears of the first one only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    pause()


SAVES: dict[str, Save] = {
    save.__name__: save
    for save in (
        *(vim_rename, vim_inplace, emacs_first, emacs_later, emacs_precious, vscode, obsidian, nano, syncthing),
        *(rsync, rsync_inplace, git_checkout, sed_i, tar, cp, touch_r, mkdirp_write),
    )
}
"""Every way to save `data` at `path`, by name."""


def append(path: Path, data: bytes, pause: Pause) -> None:
    """A shell's `>>`, in two writes."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        _write_parts(descriptor, data, pause)
    finally:
        os.close(descriptor)


def noise(folder: Path, pause: Pause) -> None:
    """Create temporary files of editors, none of them a document, and remove them."""
    for name in NOISE:
        (folder / name).write_text("mkffffffffffff must never be found\n")
        pause()
    link = folder / ".#x.md"
    link.symlink_to("user@host.1234")
    for path in (*(folder / name for name in NOISE), link):
        path.unlink()


def _write(path: Path, data: bytes, pause: Pause) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        _write_parts(descriptor, data, pause)
    finally:
        os.close(descriptor)


def _write_synced(path: Path, data: bytes, pause: Pause) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _write_parts(descriptor, data, pause)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _truncate_and_write(path: Path, data: bytes, pause: Pause) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        pause()
        _write_parts(descriptor, data, pause)
    finally:
        os.close(descriptor)


def _write_in_place(path: Path, data: bytes, pause: Pause, *, sync: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        pause()
        os.ftruncate(descriptor, 0)
        pause()
        _write_parts(descriptor, data, pause)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_parts(descriptor: int, data: bytes, pause: Pause) -> None:
    middle = len(data) // 2
    for part in (data[:middle], data[middle:]):
        os.write(descriptor, part)
        pause()


def _emacs_lock(path: Path) -> Path:
    lock = path.with_name(f".#{path.name}")
    lock.symlink_to("user@host.1234:1700000000")
    return lock


def _tilde(path: Path) -> Path:
    return path.with_name(f"{path.name}~")


def _set_old_time(path: Path) -> None:
    stamp = path.stat().st_mtime_ns - 7 * 86_400 * 10**9
    os.utime(path, ns=(stamp, stamp))
