"""One daemon per state directory: an flock, which the kernel releases with the process, however it ends."""

import asyncio
import contextlib
import fcntl
import os
import stat
from pathlib import Path
from typing import Self

import structlog

from memoryd.api.http.sockets import make_directories
from memoryd.config.paths import LOCK_NAME, move_command
from memoryd.errors import AlreadyRunning, NotPermitted, StoreUnavailable

log = structlog.get_logger(__name__)

_NOTE_BYTES = 512
POLL_SECONDS = 2.0
"""Seconds between two checks of the lock, whose file is removed together with a state directory."""


class DaemonLock:
    """The exclusive lock on `<state>/memoryd.lock`, held during the `with` block.

    Only the lock decides which daemon runs. The pid and the socket in the file are for people and for the message of
    AlreadyRunning; a recycled pid there means nothing. The file is never unlinked: a process that opened it just before
    would hold a lock that no other process can see.
    """

    def __init__(self, state_dir: Path, *, socket: Path) -> None:
        self.path = state_dir / LOCK_NAME
        self._socket = socket
        self._fd: int | None = None

    def __enter__(self) -> Self:
        """Take the lock, or raise AlreadyRunning, NotPermitted or StoreUnavailable (full or read-only disk)."""
        self._fd = self._acquire()
        return self

    def __exit__(self, *_: object) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def is_held(self) -> bool:
        """Return False once the lock file was removed or replaced: another daemon could then start beside this one."""
        return self._fd is not None and _is_same_file(self._fd, self.path)

    def keep(self) -> None:
        """Lock the file at the path again if it is not the locked one. Raises as `with` does.

        If two daemons run, the one that has locked the file at the path is valid, since it excludes a third. The old
        lock is kept until the new one is taken.
        """
        if not self.is_held():
            fresh = self._acquire()
            self.__exit__()
            self._fd = fresh

    def _acquire(self) -> int:
        try:
            return self._take()
        except PermissionError as exc:
            raise NotPermitted(f"cannot open {self.path}: {exc.strerror}", hint="check its owner and mode") from exc
        except OSError as exc:
            raise StoreUnavailable(f"cannot lock {self.path}: {exc.strerror}") from exc

    def _take(self) -> int:
        _make_state_directory(self.path.parent)
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                self._lock(fd)
                # the file may have been removed between open and flock; then the lock is useless
                if _is_same_file(fd, self.path):
                    _write_note(fd, f"{os.getpid()}\n{self._socket}\n")
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def _lock(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            pid, socket = _read_note(fd)
            raise AlreadyRunning(
                f"memoryd is already running (pid {pid}) and listens on {socket}",
                hint="ask it with `memoryctl status`, or stop it first",
            ) from exc


def _make_state_directory(directory: Path) -> None:
    make_directories(directory)
    if not directory.is_dir():
        raise StoreUnavailable(
            f"{directory} is a file, where the state folder should be",
            hint=f"move it away: {move_command(directory)}; or set MEMORYD_STATE_DIR to a folder",
        )
    owner = directory.stat().st_uid
    if owner != os.geteuid():
        raise NotPermitted(
            f"{directory} belongs to uid {owner}", hint="set MEMORYD_STATE_DIR to a directory of your own"
        )


def _is_same_file(fd: int, path: Path) -> bool:
    own = os.fstat(fd)
    try:
        current = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(current.st_mode) and (own.st_dev, own.st_ino) == (current.st_dev, current.st_ino)


def _write_note(fd: int, note: str) -> None:
    # the note is optional: a full disk must not keep the holder of the lock from starting
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, note.encode(errors="surrogateescape"), 0)


def _read_note(fd: int) -> tuple[str, str]:
    lines = os.pread(fd, _NOTE_BYTES, 0).decode(errors="replace").splitlines()
    pid, socket, *_ = [*lines, "", ""]
    return pid or "unknown", socket or "its socket"


async def keep_lock(lock: DaemonLock, poll_seconds: float = POLL_SECONDS) -> None:
    """Take the lock again whenever its file is removed, until cancelled. Raises AlreadyRunning if another has it."""
    trouble = ""
    while True:
        await asyncio.sleep(poll_seconds)
        try:
            await asyncio.to_thread(lock.keep)
            trouble = ""
        except (NotPermitted, StoreUnavailable) as exc:
            if str(exc) != trouble:
                log.warning("the lock was lost", reason=str(exc))
            trouble = str(exc)
