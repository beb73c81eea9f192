"""Listening Unix sockets that we bind ourselves.

asyncio's `start_unix_server(path)` unlinks and steals a live socket without an error and creates with the umask's
mode; here the directory is checked first, a socket is 0600 from the instant it exists, and only a dead socket of
ours is ever removed. All of it happens under the daemon's lock.
"""

import contextlib
import errno
import os
import shlex
import socket
import stat
import struct
import sys
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import structlog
from msgspec import Struct

from memoryd.config.paths import SOCKET_PATH_MAX
from memoryd.errors import AlreadyRunning, ConfigError, NotPermitted, StoreUnavailable
from memoryd.files.token_file import why_not_ours

log = structlog.get_logger(__name__)

OWNER = "owner"
"""Name of the socket that belongs to the person who runs the daemon."""

PORT = "http"
"""Name of the loopback port, on which the owner asks who has the token."""

PAGE = "page"
"""Name of the page on that port, at which the owner asks in person."""

BACKLOG = 128
_FIRST_PASSED_FD = 3
_PROBE_SECONDS = 1.0
_FileId = tuple[int, int]


class Peer(Struct, frozen=True):
    """Who is at the other end: the kernel's word for uid and pid (0: another pid namespace), and the socket's name."""

    uid: int
    pid: int
    socket: str


class Doorway(Protocol):
    """Where clients connect: a Unix socket, or a port."""

    @property
    def sock(self) -> socket.socket: ...

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...

    def is_still_bound(self) -> bool: ...

    def bound_anew(self) -> "Doorway": ...

    def peer(self, connected: socket.socket) -> Peer: ...

    def close(self) -> None: ...


@dataclass(eq=False, slots=True)
class Listener:
    """A listening socket; `is_inherited` says that a service manager bound it and will unlink it."""

    sock: socket.socket
    path: Path
    name: str = OWNER
    is_inherited: bool = False
    file_id: _FileId | None = field(default=None, repr=False)

    def is_still_bound(self) -> bool:
        """Return False once the path no longer leads here: removed, or replaced by something else."""
        return self.file_id is not None and _file_id(self.path) == self.file_id

    @property
    def address(self) -> str:
        """Where it listens, for people."""
        return str(self.path)

    def bound_anew(self) -> "Listener":
        """Bind a socket of our own at the same path; raises as `bind_listener` does."""
        return bind_listener(self.path, name=self.name)

    def peer(self, connected: socket.socket) -> Peer:
        """Return who connected, by the kernel's word."""
        uid, pid = credentials(connected)
        return Peer(uid=uid, pid=pid, socket=self.name)

    def close(self) -> None:
        """Stop listening; the path goes first, so that a client sees no daemon rather than a refusal."""
        if not self.is_inherited and self.is_still_bound():
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        self.sock.close()


def bind_listener(path: Path, *, name: str = OWNER) -> Listener:
    """Bind and listen at `path`, mode 0600; call it only while holding the daemon's lock.

    Creates the directory (0700) if it is missing. Raises ConfigError for a path too long for the kernel,
    NotPermitted for a directory or file that is not ours alone (nothing is deleted), AlreadyRunning if somebody
    answers there, StoreUnavailable if the file cannot be made.
    """
    check_length(path)
    try:
        private_directory(path.parent)
        _remove_dead_socket(path)
        return _bind(path, name)
    except PermissionError as exc:
        raise NotPermitted(f"cannot make the socket {path}: {exc.strerror}") from exc
    except OSError as exc:
        raise StoreUnavailable(f"cannot make the socket {path}: {exc.strerror}") from exc


def take_inherited(environ: MutableMapping[str, str]) -> list[Listener]:
    """Adopt the sockets of a service manager (sd_listen_fds(3)) and take the variables out, so that no child sees them.

    Descriptors that are not listening Unix stream sockets are closed with a warning.
    """
    pid, count = environ.pop("LISTEN_PID", ""), environ.pop("LISTEN_FDS", "")
    names = environ.pop("LISTEN_FDNAMES", "").split(":")
    if pid != str(os.getpid()) or not count.isdecimal():
        return []
    listeners = [_adopt(_FIRST_PASSED_FD + index) for index in range(int(count))]
    for index, listener in enumerate(listeners):
        if listener is None:
            log.warning("inherited descriptor refused", position=index, names=names)
    return [listener for listener in listeners if listener is not None]


def private_directory(directory: Path) -> None:
    """Make `directory` (0700, parents too) or check that it is a real directory, ours, and closed to others.

    Raises NotPermitted, and leaves everything as it stands, otherwise.
    """
    make_directories(directory)
    problem = _why_not_private(directory.lstat())
    if problem:
        raise NotPermitted(
            f"the socket's directory {directory} {problem}",
            hint=f"give the socket a directory of its own: mkdir -m 700 …, or chmod 700 {shlex.quote(str(directory))}",
        )


def make_directories(directory: Path) -> None:
    """Make `directory` and what is missing above it, all 0700; what exists stays as it is."""
    missing = [part for part in (directory, *directory.parents) if not os.path.lexists(part)]
    for part in reversed(missing):
        with contextlib.suppress(FileExistsError):
            part.mkdir(mode=0o700)


def check_length(path: Path) -> None:
    """Raise ConfigError if the kernel cannot hold `path` in a socket address."""
    size = len(os.fsencode(path))
    if size > SOCKET_PATH_MAX:
        limit = f"a socket's path has at most {SOCKET_PATH_MAX}; set MEMORYD_SOCKET to a shorter one"
        raise ConfigError([f"socket: {path} has {size} bytes, {limit}"])


def credentials(sock: socket.socket) -> tuple[int, int]:
    """Return uid and pid of the process that connected, as the kernel noted them; pid 0 if it is not seen from here."""
    if sys.platform == "darwin":
        # <sys/un.h>: SOL_LOCAL 0, LOCAL_PEERCRED 1 (struct xucred: version, uid, …), LOCAL_PEERPID 2
        uid = struct.unpack("=II", sock.getsockopt(0, 1, 76)[:8])[1]
        return uid, sock.getsockopt(0, 2)
    pid, uid, _gid = struct.unpack("=iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid, pid


def _why_not_private(status: os.stat_result) -> str:
    return why_not_ours(status) if stat.S_ISDIR(status.st_mode) else "is not a real directory"


def _remove_dead_socket(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise NotPermitted(f"{path} is in the way: it is not a socket", hint="move it away; nothing was deleted")
    if found.st_uid != os.geteuid():
        raise NotPermitted(f"the socket {path} belongs to uid {found.st_uid}", hint="nothing was deleted")
    if _answers(path):
        raise AlreadyRunning(f"somebody already listens on {path}", hint="stop it, or set MEMORYD_SOCKET")
    path.unlink()
    log.info("dead socket removed", path=str(path))


def _answers(path: Path) -> bool:
    """Tell whether anybody listens; only a plain refusal means no: a full backlog or a foreign mode is somebody."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        return probe.connect_ex(str(path)) not in (errno.ECONNREFUSED, errno.ENOENT)


def _bind(path: Path, name: str) -> Listener:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        # Linux gives the file the mode of the socket's inode, less the umask; a umask of ours would
        # reach the files of every other thread
        with contextlib.suppress(OSError):
            os.fchmod(sock.fileno(), 0o600)
        sock.bind(str(path))
        if stat.S_IMODE(path.lstat().st_mode) != 0o600:
            path.chmod(0o600)
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return Listener(sock, path, name, file_id=_file_id(path))


def _adopt(fd: int) -> Listener | None:
    if not _is_listening_unix_socket(fd):
        with contextlib.suppress(OSError):
            os.close(fd)
        return None
    sock = socket.socket(fileno=fd)
    sock.set_inheritable(False)
    sock.setblocking(False)
    path = Path(sock.getsockname())
    # the manager keeps its socket when the path is removed, and the path may then lead to an older daemon's dead one
    return Listener(sock, path, is_inherited=True, file_id=_file_id(path) if _answers(path) else None)


def _is_listening_unix_socket(fd: int) -> bool:
    """Tell whether it is one with a path; an address of the abstract namespace has neither owner nor mode."""
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            return False
        with socket.socket(fileno=os.dup(fd)) as probe:
            is_unix = probe.family == socket.AF_UNIX and probe.type == socket.SOCK_STREAM
            is_listening = bool(probe.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
            return is_unix and is_listening and os.fsencode(probe.getsockname()).startswith(b"/")
    except OSError:
        return False


def _file_id(path: Path) -> _FileId | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None
