"""HTTP/1.1 over the daemon's socket: one request at a time, or a stream of events, and the errors of both."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import socket as sockets
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack, cast
from urllib.parse import quote, urlencode

from memoryd.client.http import HttpSocket, ProtocolError
from memoryd.config.paths import config_file, lock_file, socket_path
from memoryd.errors import (
    DaemonNotRunning,
    DeadlineExceeded,
    InvalidRequest,
    MemorydError,
    NotNow,
    NotPermitted,
    error_for_code,
)
from memoryd.wire import API, ErrorCode

if TYPE_CHECKING:
    # only types: loading them would delay a command
    from memoryd.replies.search import ServerEvent

GRACE_SECONDS = 5.0
"""Seconds that the client waits longer than a deadline, for the reply that reports it."""
START_SECONDS = 3.0
"""Seconds that a call waits for a daemon that has its lock but does not listen yet."""
PROC = Path("/proc")
"""The folder of the kernel's process information."""
_NOTE_BYTES = 512
_PLACES = ("MEMORYD_SOCKET", "MEMORYD_STATE_DIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME")
_BEGAN = 19
"""The index, after the name, of the field of `/proc/<pid>/stat` with the start time in ticks since the boot."""


Call = TypeVar("Call", bound=Callable[..., Any])
_TAKES_MORE = 0x08
"""The flag inspect.CO_VARKEYWORDS of a code object, which has `**options`."""


class Asker(TypedDict, total=False):
    """The agent and the session of a call, if they differ from those of the client."""

    agent: str | None
    session_key: str | None


class ListBounds(Asker, total=False):
    """The maximum number of rows of a list."""

    limit: int | None


class DaemonConnection:
    """A connection to the daemon at `socket`, by default the socket of this user.

    `timeout` is in seconds and limits the time without data, not the complete call. The first call opens the
    connection, which stays open for the next ones, and is opened again if the daemon has closed it. `agent` and
    `session_key` are the defaults of calls that do not set them.
    """

    def __init__(self, socket: Path | None = None, timeout: float = 30, **who: Unpack[Asker]) -> None:
        self.socket = socket or socket_path()
        self.timeout = timeout
        self._who = who
        self._connection = HttpSocket(self.socket, timeout)
        self._aborted: sockets.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._connection.close()

    def abort(self) -> None:
        """Abort a call that another thread has in progress: it raises NotNow."""
        self._aborted = sock = self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(sockets.SHUT_RDWR)

    def call(self, method: str, target: str, body: Mapping[str, object] | None = None, wait_ms: int = 0) -> Any:
        """Send one request and return its decoded reply, for which the daemon may take `wait_ms`."""
        return _parse_json(self._content(method, API + target, body, wait_ms))

    def text(self, path: str) -> str:
        """Return the answer to a GET of a path outside of the API."""
        return self._content("GET", path).decode()

    def with_asker(self, values: Mapping[str, object], *, of_session: bool = True) -> dict[str, object]:
        """Return the values by their JSON names, with the client's agent and session as defaults."""
        who = by_json_name(self._who)
        if not of_session:
            who.pop("sessionKey", None)
        return {**who, **by_json_name(values)}

    def _content(self, method: str, target: str, body: Mapping[str, object] | None = None, wait_ms: int = 0) -> bytes:
        payload = None if body is None else json.dumps(without_empty(body)).encode()
        timeout = max(self.timeout, wait_ms / 1000 + GRACE_SECONDS) if wait_ms else self.timeout
        try:
            status, content = self._round_trip(method, target, payload, timeout)
        except (OSError, ProtocolError) as exc:
            self.close()
            raise _connection_error(exc) from exc
        except BaseException:
            self.close()  # a half-read reply must not be read as the next one
            raise
        if status >= 400:
            raise refusal(status, content)
        return content

    def stream(self, target: str, silence: float | None) -> Generator[ServerEvent, None, None]:
        """Yield the events of `target` on a separate connection, which fails after `silence` seconds without data."""
        connection = HttpSocket(self.socket, self.timeout)
        try:
            _open(connection)
            status, body = connection.exchange("GET", API + target, None)
            if status != 200:
                raise refusal(status, b"".join(body))
            connection.set_timeout(silence)
            yield from server_events(_lines(body))
        except (OSError, ProtocolError) as exc:
            raise _connection_error(exc) from exc
        finally:
            connection.close()

    def _round_trip(self, method: str, target: str, payload: bytes | None, timeout: float) -> tuple[int, bytes]:
        is_reused = self._connection.sock is not None
        if not is_reused:
            _open(self._connection)
        sock = self._connection.sock
        self._connection.set_timeout(timeout)
        try:
            status, body = self._connection.exchange(method, target, payload)
        except (BrokenPipeError, ConnectionResetError):
            # a closed idle connection is only noticed now; calls on an open connection are safe to send twice
            self.close()
            if not is_reused or sock is self._aborted:
                raise
            return self._round_trip(method, target, payload, timeout)
        return status, b"".join(body)


def undo_command(change: int | str, agent: str | None, session_key: str | None = None) -> str:
    """Return the command that undoes a change, or all of a run, for this agent or session; numbers are per ledger."""
    # imported here: the client itself loads only the standard library
    from memoryd.domain.access import read_key

    named = agent or (read_key(session_key).agent if session_key else None)
    of_agent = ["--agent", named] if named else []
    return shlex.join(
        ["memoryctl", "undo", *([str(change)] if isinstance(change, int) else ["--run", change]), *of_agent]
    )


def target(path: str, query: Mapping[str, object]) -> str:
    """Return a path with a query, without empty values."""
    words = {
        name: str(value).lower() if isinstance(value, bool) else value for name, value in without_empty(query).items()
    }
    return f"{path}?{urlencode(words)}" if words else path


def quote_name(name: str) -> str:
    """Return a name escaped for use in a path."""
    return quote(name, safe="")


def without_empty(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values without None and the empty tuple, for which the daemon uses defaults."""
    return {name: value for name, value in values.items() if value not in (None, ())}


def by_json_name(values: Mapping[str, object], names: Mapping[str, str] = MappingProxyType({})) -> dict[str, object]:
    """Return the values that are not empty by their JSON names: from `names`, else in camel case."""
    words = ((name, name.split("_"), value) for name, value in without_empty(values).items())
    return {
        names.get(name) or first + "".join(map(str.capitalize, rest)): value for name, (first, *rest), value in words
    }


def request(
    method: str,
    path: str,
    *,
    wait_ms: int = 0,
    is_repeatable: bool = True,
    of_session: bool = True,
    **names: str,
) -> Callable[[Call], Call]:
    """Return a decorator that implements a declared method as a call; arguments are sent by their JSON names.

    `names` overrides JSON names. An argument in braces is part of the path. A false value that equals its default is
    not sent. A method with `**options` sends the session of the client, unless `of_session` is false. A call that is
    not repeatable uses a new connection, since on a broken open one it would be sent again. The client waits for a sent
    deadline or time-out; without an explicit `timeout_ms` the client's time-out is sent.
    """

    def decorate(declared: Call) -> Call:
        code = declared.__code__
        positional = code.co_varnames[1 : code.co_argcount]
        optional = zip(reversed(positional), reversed(declared.__defaults__ or ()), strict=False)
        defaults = {**dict(optional), **(declared.__kwdefaults__ or {})}
        takes_more = bool(code.co_flags & _TAKES_MORE)

        @wraps(declared)
        def call(self: DaemonConnection, *values: object, **options: object) -> object:
            declared(self, *values, **options)  # raises TypeError for wrong arguments
            arguments, place = {**defaults, **dict(zip(positional, values, strict=False)), **options}, path
            sent = {name: value for name, value in arguments.items() if value or value != defaults.get(name)}
            if "timeout_ms" in code.co_varnames and sent.get("timeout_ms") is None:
                sent["timeout_ms"] = int(self.timeout * 1000)
            for name in [name for name in sent if f"{{{name}}}" in path]:
                place = place.replace(f"{{{name}}}", quote_name(str(sent.pop(name))))
            named = by_json_name(sent, names)
            if takes_more or "agent" in code.co_varnames:
                named = self.with_asker({}, of_session=of_session and takes_more) | named
            if not is_repeatable:
                self.close()
            if method != "POST":
                return self.call(method, target(place, named))
            wait = named.get("deadlineMs") or named.get("timeoutMs")
            return self.call(method, place, named, wait if isinstance(wait, int) else wait_ms)

        return cast("Call", call)

    return decorate


def _open(connection: HttpSocket) -> None:
    path = connection.path
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return connection.connect()
        except OSError as exc:
            error = _opening_error(exc, path)
            if not isinstance(error, DaemonNotRunning) or not _is_starting(path):
                raise error from exc
            if time.monotonic() >= deadline:
                message = f"memoryd is there, and does not listen on {path} yet"
                raise DaemonNotRunning(message, hint="try again in a moment; see what it does: memoryctl logs") from exc
        time.sleep(0.05)


def _is_starting(socket: Path) -> bool:
    """Return whether a daemon of this user has the lock and will listen on this socket, or has just begun."""
    lock = lock_file()
    if lock_holder(lock) is not None:
        return lock_note(lock)[1] == str(socket)
    return socket == socket_path() and any(map(_has_just_begun, PROC.glob("[0-9]*")))


def _has_just_begun(process: Path) -> bool:
    """Return whether a process is a memoryd with our environment that is too young to be sure to have the lock."""
    with contextlib.suppress(OSError, ValueError):
        program = [argument.rpartition(b"/")[2] for argument in (process / "cmdline").read_bytes().split(b"\0")[:2]]
        if b"memoryd" in program and process.stat().st_uid == os.getuid():
            environment = (process / "environ").read_bytes().split(b"\0")
            is_ours = all(
                f"{name}={os.environ[name]}".encode() in environment for name in _PLACES if name in os.environ
            )
            began = int((process / "stat").read_text().rpartition(")")[2].split()[_BEGAN]) / os.sysconf("SC_CLK_TCK")
            return is_ours and time.clock_gettime(time.CLOCK_BOOTTIME) - began < START_SECONDS
    return False


def lock_holder(path: Path, proc: Path = PROC) -> int | None:
    """Return the pid of the process that has locked a file; None if no process has, or the system does not report it.

    0 is a process in another pid namespace. Reads the kernel's table, since trying the lock could keep a daemon from
    it.
    """
    try:
        status, table = path.stat(), (proc / "locks").read_text()
    except OSError:
        return None
    file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[1] == "FLOCK" and fields[5] == file:
            return max(0, int(fields[4]))
    return None


def lock_note(path: Path) -> tuple[str, str]:
    """Return the pid and the socket that a daemon wrote into its lock file; they are informative only."""
    try:
        with path.open("rb") as note:
            lines = note.read(_NOTE_BYTES).decode(errors="surrogateescape").splitlines()
    except OSError:
        lines = []
    pid, socket, *_ = [*lines, "", ""]
    return pid or "unknown", socket


def _opening_error(exc: OSError, path: Path) -> MemorydError:
    """Return the error for a failure to connect to the socket `path`."""
    match exc:
        case FileNotFoundError() | NotADirectoryError() | ConnectionRefusedError():
            return DaemonNotRunning(f"memoryd is not running: nothing answers on {path}", hint=_how_to_start())
        case PermissionError():
            return NotPermitted(f"the socket {path} belongs to another user", hint="run as its owner")
        case _ if exc.errno in (errno.EAGAIN, errno.ETIMEDOUT) or isinstance(exc, TimeoutError):
            return NotNow("memoryd takes no new connection now", hint="try again in a moment")
        case _:
            return InvalidRequest(f"cannot open the socket {path}: {exc}", hint="give a shorter or other path")


def _connection_error(exc: OSError | ProtocolError) -> MemorydError:
    """Return the error for a connection that broke while open."""
    if isinstance(exc, TimeoutError):
        return DeadlineExceeded("memoryd did not answer in time", hint="see what it does: memoryctl status")
    if isinstance(exc, ProtocolError):
        return MemorydError(f"what answers on the socket is not memoryd: {type(exc).__name__}")
    return NotNow("memoryd closed the connection before it had answered", hint="it may be restarting: try again")


def refusal(status: int, content: bytes) -> MemorydError:
    """Return the exception for an error reply."""
    try:
        error = json.loads(content)["error"]
        return error_for_code(ErrorCode(error["code"]), str(error["message"]), hint=str(error.get("hint") or ""))
    except (ValueError, KeyError, TypeError):
        return MemorydError(f"memoryd answered with status {status}", hint="compare versions: memoryctl version")


START_COMMAND = "memoryctl service start"


def _how_to_start() -> str:
    if sys.platform == "darwin":
        labels = [file.stem for file in Path("~/Library/LaunchAgents").expanduser().glob("*memoryd*.plist")]
        others = [label for label in labels if label != "ai.memoryd"]
        command = (
            f"launchctl kickstart gui/{os.getuid()}/{others[0]}" if others else START_COMMAND if labels else "memoryd"
        )
    else:
        units = (folder / "systemd/user/memoryd.service" for folder in _unit_folders())
        command = START_COMMAND if any(map(Path.exists, units)) else "memoryd"
    is_set_up = command != "memoryd" or config_file().exists()
    return f"start it: {command}" + ("" if is_set_up else "; to set it up first: memoryctl init")


def _unit_folders() -> list[Path]:
    own = [
        os.environ.get("XDG_CONFIG_HOME") or "~/.config",
        os.environ.get("XDG_DATA_HOME") or "~/.local/share",
    ]
    return [Path(folder).expanduser() for folder in [*own, "/etc", "/usr/local/lib", "/usr/lib"]]


def _parse_json(content: bytes | str) -> Any:
    """Return the value of a JSON text. Raises MemorydError for other text."""
    try:
        return json.loads(content)
    except ValueError as exc:
        raise MemorydError("what answers on the socket is not memoryd: its reply is not JSON") from exc


def _lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a text that arrives in parts; a last line without a line feed is dropped."""
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        yield from lines


def server_events(lines: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Decode text/event-stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    name, data = "message", list[str]()
    for raw in lines:
        field, _, value = raw.decode().rstrip("\r\n").partition(":")
        match field:
            case "event":
                name = value.removeprefix(" ")
            case "data":
                data.append(value.removeprefix(" "))
            case "" if not value and data:
                yield {"event": name, "data": _parse_json("\n".join(data))}
                name, data = "message", []
