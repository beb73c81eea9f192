"""The part of `memoryctl doctor` about the socket: is it there, is it ours, does memoryd answer, and which one."""

import errno
import os
import socket as sockets
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from memoryd import __version__
from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks, Remedy
from memoryd.cli.terminal import duration
from memoryd.config.paths import SOCKET_PATH_MAX, socket_path
from memoryd.errors import DaemonNotRunning, MemorydError

PART: Final = "socket"
_PROBE_SECONDS: Final = 2.0


def answers(examination: Examination) -> Iterator[Finding]:
    """Tell who answers; where nobody does, what lies in the way."""
    status, path = examination.status, _path(examination)
    if status is not None:
        up = duration(status["uptimeSeconds"])
        yield Finding("daemon", "ok", f"memoryd {status['version']}, pid {status['pid']}, up {up}, at {path}")
        return
    found = _lstat(path)
    if found is not None and (trouble := _in_the_way(path, found)) is not None:
        yield trouble
    elif isinstance(examination.silence, DaemonNotRunning):
        yield Finding("daemon", "look", "memoryd is not running", examination.silence.hint)
        if found is not None and is_refused(path):
            yield Finding(
                PART,
                "look",
                f"{path} is left from a daemon that is gone",
                "the next start removes it: nothing need be done",
                Remedy(f"remove the dead socket {path}", partial(_remove, path, examination)),
            )
    else:
        hint = examination.silence.hint if examination.silence else ""
        message = f"memoryd does not answer at {path}: {examination.silence}"
        yield Finding("daemon", "wrong", message, hint or "see its log, then restart it")


def access(examination: Examination) -> Iterator[Finding]:
    """Look at owner and mode of the socket, and of the folder that it lies in."""
    path = _path(examination)
    for one, wanted in ((path, 0o600), (path.parent, 0o700)):
        found = _lstat(one)
        if found is None or (one is path and (not stat.S_ISSOCK(found.st_mode) or is_refused(path))):
            # what lies in the way, or is left behind, is told as such
            continue
        if found.st_uid != os.geteuid():
            hint = "name a socket in a folder of your own in MEMORYD_SOCKET"
            yield Finding(PART, "wrong", f"{one} belongs to {owner_of(found)}, not to you", hint)
        elif stat.S_IMODE(found.st_mode) & 0o077:
            message = f"{one} is open to others (mode {stat.S_IMODE(found.st_mode):04o})"
            remedy = Remedy(f"chmod {wanted:o} {one}", partial(_closed, one, wanted))
            yield Finding(PART, "wrong", message, f"chmod {wanted:o} {one}", remedy)


def length(examination: Examination) -> Iterator[Finding]:
    """Tell a path that does not fit, or that another one stands in for."""
    path, named = _path(examination), os.environ.get("MEMORYD_SOCKET", "")
    if len(os.fsencode(path)) > SOCKET_PATH_MAX:
        message = f"{path} has {len(os.fsencode(path))} bytes, of {SOCKET_PATH_MAX} that the system allows"
        yield Finding(PART, "wrong", message, "name a shorter one in MEMORYD_SOCKET")
    elif examination.invocation.socket is None and len(os.fsencode(named)) > SOCKET_PATH_MAX:
        message = f"the path in MEMORYD_SOCKET is longer than the system allows, and {path} stands in for it"
        yield Finding(PART, "look", message, "name a shorter one, if another program looks for it there")


def version(examination: Examination) -> Iterator[Finding]:
    """Compare the version that answers with the one that asks."""
    if examination.status is not None and examination.status["version"] != __version__:
        message = f"memoryd is {examination.status['version']}, memoryctl is {__version__}"
        yield Finding("daemon", "look", message, "restart memoryd after an update; else update the older of the two")


def unreachable(examination: Examination) -> Iterator[Finding]:
    """Tell which sockets of the daemon lead elsewhere, as it says itself."""
    for one in examination.status.get("unreachable", ()) if examination.status else ():
        yield Finding(
            PART, "wrong", f"{one['socket']}: {one['reason']}", "look at what lies there, and restart memoryd"
        )


def is_refused(path: Path) -> bool:
    """Tell whether nobody listens: only a plain refusal says so, a full backlog is somebody."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED


def owner_of(found: os.stat_result) -> str:
    """Name the owner of a file: root, or a number."""
    return "root" if found.st_uid == 0 else f"uid {found.st_uid}"


def _path(examination: Examination) -> Path:
    return examination.invocation.socket or socket_path()


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        if exc.errno == errno.ENAMETOOLONG:
            return None
        raise


def _in_the_way(path: Path, found: os.stat_result) -> Finding | None:
    if not stat.S_ISSOCK(found.st_mode):
        return Finding(PART, "wrong", f"{path} is in the way: it is not a socket", "move it away, and start memoryd")
    if found.st_uid != os.geteuid():
        hint = "nothing was deleted: ask its owner, or name another path in MEMORYD_SOCKET"
        return Finding(PART, "wrong", f"the socket {path} was put there by {owner_of(found)}", hint)
    return None


def _remove(path: Path, examination: Examination) -> str:
    # once more: a daemon may have been started since
    found = _lstat(path)
    if found is None or _in_the_way(path, found) is not None or examination.is_in_use or not is_refused(path):
        raise MemorydError(f"{path} is left as it is: it is in use now")
    path.unlink()
    return f"removed {path}"


def _closed(path: Path, mode: int) -> str:
    path.chmod(mode)
    return f"{path} has the mode {mode:04o}"


LOOKS: Looks = {
    "socket.answers": answers,
    "socket.access": access,
    "socket.path": length,
    "socket.version": version,
    "socket.unreachable": unreachable,
}
