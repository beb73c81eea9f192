"""What a failure means: on the way to the daemon, on an open connection, and in an error reply."""

import errno
import http.client
import json
import os
import sys
from pathlib import Path

from memoryd.errors import (
    DaemonNotRunning,
    DeadlineExceeded,
    InvalidRequest,
    MemorydError,
    NotNow,
    NotPermitted,
    error_of,
)
from memoryd.wire import ErrorCode


def not_opened(exc: OSError, path: Path) -> MemorydError:
    """Name what stands in the way of a connection to the socket `path`."""
    match exc:
        case FileNotFoundError() | NotADirectoryError() | ConnectionRefusedError():
            return DaemonNotRunning(f"memoryd is not running: nobody answers on {path}", hint=_how_to_start())
        case PermissionError():
            return NotPermitted(f"the socket {path} belongs to somebody else", hint="run as its owner")
        case _ if exc.errno in (errno.EAGAIN, errno.ETIMEDOUT) or isinstance(exc, TimeoutError):
            return NotNow("memoryd takes no new connection now", hint="try again in a moment")
        case _:
            return InvalidRequest(f"cannot open the socket {path}: {exc}", hint="give a shorter or other path")


def lost(exc: OSError | http.client.HTTPException) -> MemorydError:
    """Name what went wrong on an open connection."""
    if isinstance(exc, TimeoutError):
        return DeadlineExceeded("memoryd did not answer in time", hint="see what it does: memoryctl status")
    if not isinstance(exc, OSError | http.client.IncompleteRead):
        return MemorydError(f"what answers on the socket is not memoryd: {type(exc).__name__}")
    return NotNow("memoryd closed the connection before it had answered", hint="it may be restarting: try again")


def refusal(status: int, content: bytes) -> MemorydError:
    """Return the exception that an error reply stands for."""
    try:
        error = json.loads(content)["error"]
        return error_of(ErrorCode(error["code"]), str(error["message"]), hint=str(error.get("hint") or ""))
    except (ValueError, KeyError, TypeError):
        return MemorydError(f"memoryd answered with status {status}", hint="compare versions: memoryctl version")


OURS = "memoryctl service start"


def _how_to_start() -> str:
    if sys.platform == "darwin":
        labels = [file.stem for file in Path("~/Library/LaunchAgents").expanduser().glob("*memoryd*.plist")]
        others = [label for label in labels if label != "ai.memoryd"]
        command = f"launchctl kickstart gui/{os.getuid()}/{others[0]}" if others else OURS if labels else "memoryd"
    else:
        units = (folder / "systemd/user/memoryd.service" for folder in _unit_folders())
        command = OURS if any(map(Path.exists, units)) else "memoryd"
    return f"start it: {command}"


def _unit_folders() -> list[Path]:
    own = [
        os.environ.get("XDG_CONFIG_HOME") or "~/.config",
        os.environ.get("XDG_DATA_HOME") or "~/.local/share",
    ]
    return [Path(folder).expanduser() for folder in [*own, "/etc", "/usr/local/lib", "/usr/lib"]]
