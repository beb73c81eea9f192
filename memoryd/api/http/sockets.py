"""Listening Unix sockets that are bound here instead of by asyncio.

asyncio's `start_unix_server(path)` unlinks and replaces a live socket without an error, and creates the file with the
mode of the umask. Here the directory is checked first, a socket has mode 0600 from the moment it exists, and only a
dead socket of ours is ever removed. All of it happens under the daemon's lock.
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
from memoryd.files.token_file import privacy_flaw

log = structlog.get_logger(__name__)

OWNER = "owner"
"""The name of the socket of the person who runs the daemon."""

PORT = "http"
"""The name of the loopback port, on which a client with the token is the owner."""

PAGE = "page"
"""The name of the page on that port, where the owner makes requests in person."""

BACKLOG = 128
_FIRST_PASSED_FD = 3
_PROBE_SECONDS = 1.0
_FileId = tuple[int, int]


class Peer(Struct, frozen=True):
    """The client of a connection: uid and pid as reported by the kernel (pid 0: another namespace), and the socket."""

    uid: int
    pid: int
    socket: str


class ClientListener(Protocol):
    """A listener for client connections: a Unix socket, or a port."""

    @property
    def sock(self) -> socket.socket: ...

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...

    def is_still_bound(self) -> bool: ...

    def rebind(self) -> "ClientListener": ...

    def peer(self, connected: socket.socket) -> Peer: ...

    def close(self) -> None: ...


@dataclass(eq=False, slots=True)
class Listener:
    """A listening socket. With `is_inherited` a service manager bound it and will unlink it."""

    sock: socket.socket
    path: Path
    name: str = OWNER
    is_inherited: bool = False
    file_id: _FileId | None = field(default=None, repr=False)

    def is_still_bound(self) -> bool:
        """Return False once the path no longer leads to this socket: removed, or replaced by something else."""
        return self.file_id is not None and _file_id(self.path) == self.file_id

    @property
    def address(self) -> str:
        """The path of the socket, for people."""
        return str(self.path)

    def rebind(self) -> "Listener":
        """Bind a socket of our own at the same path. Raises as `bind_listener` does."""
        return bind_listener(self.path, name=self.name)

    def peer(self, connected: socket.socket) -> Peer:
        """Return the peer as the kernel reports it."""
        uid, pid = credentials(connected)
        return Peer(uid=uid, pid=pid, socket=self.name)

    def close(self) -> None:
        """Stop listening; the path is removed first, so that a client sees no daemon rather than a refusal."""
        if not self.is_inherited and self.is_still_bound():
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        self.sock.close()


def bind_listener(path: Path, *, name: str = OWNER) -> Listener:
    """Bind and listen at `path`, mode 0600; call it only while holding the daemon's lock.

    Creates the directory (0700) if it is missing. Raises ConfigError for a path too long for the kernel,
    NotPermitted for a directory or file that is not ours alone (nothing is deleted), AlreadyRunning if a process
    listens there, StoreUnavailable if the file cannot be created.
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
    """Adopt the sockets of a service manager (sd_listen_fds(3)), and remove its variables so that no child sees them.

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
    """Create `directory` (0700, parents too) or check that it is a real directory, ours, and closed to others.

    Raises NotPermitted otherwise, and changes nothing.
    """
    make_directories(directory)
    status = directory.lstat()
    if problem := privacy_flaw(status) if stat.S_ISDIR(status.st_mode) else "is not a real directory":
        raise NotPermitted(
            f"the socket's directory {directory} {problem}",
            hint=f"give the socket a directory of its own: mkdir -m 700 …, or chmod 700 {shlex.quote(str(directory))}",
        )


def make_directories(directory: Path) -> None:
    """Create `directory` and its missing parents, all 0700; existing ones are not changed."""
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
    """Return uid and pid of the connected process as the kernel recorded them; pid 0 if it is in another namespace."""
    if sys.platform == "darwin":
        # <sys/un.h>: SOL_LOCAL 0, LOCAL_PEERCRED 1 (struct xucred: version, uid, …), LOCAL_PEERPID 2
        uid = struct.unpack("=II", sock.getsockopt(0, 1, 76)[:8])[1]
        return uid, sock.getsockopt(0, 2)
    pid, uid, _gid = struct.unpack("=iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid, pid


def _remove_dead_socket(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise NotPermitted(f"{path} is in the way: it is not a socket", hint="move it away; nothing was deleted")
    if status.st_uid != os.geteuid():
        raise NotPermitted(f"the socket {path} belongs to uid {status.st_uid}", hint="nothing was deleted")
    if _answers(path):
        raise AlreadyRunning(f"another process already listens on {path}", hint="stop it, or set MEMORYD_SOCKET")
    path.unlink()
    log.info("dead socket removed", path=str(path))


def _answers(path: Path) -> bool:
    """Return whether a process listens; only a refusal means no: a full backlog or a foreign mode is a listener."""
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
    # the manager keeps its socket when the path is removed, and the path may then lead to a dead socket of an older
    # daemon
    return Listener(sock, path, is_inherited=True, file_id=_file_id(path) if _answers(path) else None)


def _is_listening_unix_socket(fd: int) -> bool:
    """Return whether it is one with a path; an address of the abstract namespace has neither owner nor mode."""
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
        status = path.lstat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISSOCK(status.st_mode) else None
