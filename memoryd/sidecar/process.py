"""One child process, from start to reaping: a state machine, driven by asyncio's callbacks.

The child has its own session, and so its own process group. It has no stdin unless we write to it, and an allow-listed
environment. Its output is always read, into bounded memory or passed on. It is stopped by TERM, a grace time, then
KILL, always as a group. Events that come too late to matter are listed as ignored.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.errors import SidecarError
from memoryd.retry import wait_within


class ChildState(StrEnum):
    """The state of a child."""

    NEW = "new"
    RUNNING = "running"
    TERMINATING = "terminating"
    KILLING = "killing"
    ENDED = "ended"


class ChildEvent(StrEnum):
    """An event that changes the state of a child."""

    SPAWNED = "spawned"
    STOP = "stop"
    KILL = "kill"
    EXITED = "exited"


NEW, RUNNING, TERMINATING, KILLING, ENDED = ChildState
SPAWNED, STOP, KILL, EXITED = ChildEvent

_NEXT = {
    (NEW, SPAWNED): RUNNING,
    (NEW, STOP): ENDED,
    (NEW, KILL): ENDED,
    (RUNNING, STOP): TERMINATING,
    (RUNNING, KILL): KILLING,
    (RUNNING, EXITED): ENDED,
    (TERMINATING, KILL): KILLING,
    (TERMINATING, EXITED): ENDED,
    (KILLING, EXITED): ENDED,
}

_IGNORED = {
    # two owners may stop one child, and it may end by itself while they do
    (TERMINATING, STOP),
    (KILLING, STOP),
    (ENDED, STOP),
    (KILLING, KILL),
    (ENDED, KILL),
}


def next_state(state: ChildState, event: ChildEvent) -> ChildState:
    """Return the state after `event`; raises KeyError for a pair that cannot happen."""
    return state if (state, event) in _IGNORED else _NEXT[state, event]


log = structlog.get_logger()

STDERR_BYTES = 64 * 1024
"""Size of the newest part of a child's stderr that is stored."""

_LEASH = Path(__file__).with_name("leash.py")
_CHECKED = "ulimit -c 0; [ $PPID = $0 ] || { echo 'parent is gone' >&2; exit 1; }; exec \"$@\""
"""Shell script that, after `setpriv` has set the death signal, does the same as `leash.py` at a tenth of its cost."""
_DRAIN, _REAP = 1.0, 5.0
"""Timeouts in seconds."""
_INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "USER")


def allowed_environment(environment: Mapping[str, str], also: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables of `environment` that a child may see: paths and language, never keys or tokens."""
    return {name: environment[name] for name in (*_INHERITED, *also) if name in environment}


@cache
def _short_leash() -> tuple[str, ...]:
    """Return the command that replaces `leash.py`, with the same arguments; empty without a recent util-linux."""
    if sys.platform != "linux" or (setpriv := shutil.which("setpriv", path=os.defpath)) is None:
        return ()
    leash = (setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", _CHECKED)
    try:
        trial = subprocess.run([*leash, str(os.getpid()), "/bin/sh", "-c", ":"], capture_output=True, timeout=_REAP)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return leash if trial.returncode == 0 else ()


def _is_native(program: str) -> bool:
    """Return whether a file is a program for this machine, by comparing its header with that of Python."""
    heads = []
    for path in (sys.executable, program):
        try:
            with Path(path).open("rb") as file:
                heads.append(file.read(20))
        except OSError:
            return False
    ours, other = heads
    # class, order of bytes, and machine: https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html
    return ours[:6] == other[:6] and ours[18:] == other[18:]


class ChildSpec(Struct, frozen=True, kw_only=True):
    """A command, its limits and callbacks. `command[0]` is looked up in the PATH of `environment`, without a shell."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path = Path("/")
    pass_fds: tuple[int, ...] = ()
    grace: timedelta = timedelta(seconds=2)
    """Time between TERM and KILL."""
    stdout_limit: int = 0
    """Most bytes of stdout; if there are more, the child is killed. 0: stdout goes to /dev/null."""
    on_stderr: Callable[[], None] | None = None
    """Called after output to stderr."""
    on_output: Callable[[bytes], None] | None = None
    """Called with stdout as it comes, instead of storing it; the child then has a stdin, see `Child.write`."""
    on_exit: Callable[[], None] | None = None
    """Called when the child has ended."""


class _Tail(Struct):
    """A buffer of the newest `STDERR_BYTES` written to it."""

    data: bytearray = bytearray()
    total: int = 0

    def write(self, data: bytes) -> None:
        self.total += len(data)
        self.data += data
        del self.data[:-STDERR_BYTES]

    def since(self, mark: int) -> bytes:
        return bytes(self.data[-(self.total - mark) :]) if self.total > mark else b""


class Child(asyncio.SubprocessProtocol):
    """One run of one program. Not reusable: a restart is a new Child."""

    def __init__(self, spec: ChildSpec) -> None:
        self.state = NEW
        self.pid: int | None = None
        self.has_overflowed = False
        self._spec = spec
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdout = bytearray()
        self._stderr = _Tail()
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def name(self) -> str:
        """The program's file name."""
        return Path(self._spec.command[0]).name

    @property
    def returncode(self) -> int | None:
        """Exit status, or minus the signal that ended the child; None while it is running."""
        return self._transport.get_returncode() if self._transport else None

    @property
    def stdout(self) -> bytes:
        """The stdout of the child so far, at most `stdout_limit` bytes."""
        return bytes(self._stdout)

    @property
    def stderr(self) -> str:
        """The newest 64 kB of the child's stderr."""
        return self._stderr.data.decode(errors="replace")

    @property
    def stderr_mark(self) -> int:
        """Number of bytes written to stderr so far, for `stderr_since`."""
        return self._stderr.total

    def stderr_since(self, mark: int) -> str:
        """Return the stderr written after `mark`, at most the newest 64 kB."""
        return self._stderr.since(mark).decode(errors="replace")

    def write(self, data: bytes) -> None:
        """Write bytes to the child's stdin without waiting. Raises SidecarError if that is closed."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing():
            raise SidecarError(f"{self.name} takes no input: {self.describe_end()}")
        pipe.write(data)

    async def start(self) -> None:
        """Spawn the child. Raises SidecarError if it cannot be run; ending at once is no error.

        Call it on a thread that lives as long as the child should: the kernel kills the child when that thread ends.
        """
        loop = asyncio.get_running_loop()
        has_stdin = self._spec.on_output is not None
        has_stdout = has_stdin or self._spec.stdout_limit > 0
        try:
            await loop.subprocess_exec(
                lambda: self,
                *self._command_with_leash(),
                stdin=asyncio.subprocess.PIPE if has_stdin else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if has_stdout else asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self._spec.environment),
                cwd=self._spec.directory,
                pass_fds=self._spec.pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise SidecarError(f"cannot run {self.name}: {exc}") from exc

    async def wait(self) -> int:
        """Wait until the child has ended and its output is read, and return its exit status.

        A surviving grandchild cannot keep the output open, since the group is killed when the child ends.
        """
        await self._exited.wait()
        await self._drain()
        return self.returncode if self.returncode is not None else 0

    async def ends_within(self, time: timedelta) -> bool:
        """Wait at most `time` for the child to end by itself. Return whether it did."""
        return await wait_within(self._exited.wait(), time.total_seconds())

    async def stop(self) -> None:
        """Stop the group by TERM and CONT, the grace time, then KILL, and wait until the child is reaped. Idempotent.

        If cancelled, it kills the group at once and waits only for that.
        """
        self._step(STOP)
        try:
            await self._terminate()
        finally:
            self.kill()
            await self._reap()

    def kill(self) -> None:
        """Kill the group now. The caller must still call `wait` or `stop`."""
        self._step(KILL)
        if self.state is KILLING:
            self._signal_group(signal.SIGKILL)

    def describe_end(self) -> str:
        """Return how the child ended, with the last line of its stderr."""
        code = self.returncode
        if code is None:
            how = "it is still running"
        elif code < 0:
            how = f"killed by {signal.Signals(-code).name}"
        else:
            how = f"exit status {code}"
        lines = self.stderr.strip().splitlines()
        return f"{how}: {lines[-1].strip()[:500]}" if lines else how

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Handle the start of the child; called by asyncio."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()
        self._step(SPAWNED)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Read output as it comes, so that the child never blocks on a full pipe."""
        if fd == 2:
            self._stderr.write(data)
            if self._spec.on_stderr is not None:
                self._spec.on_stderr()
            return
        if self._spec.on_output is not None:
            self._spec.on_output(data)
            return
        room = self._spec.stdout_limit - len(self._stdout)
        self._stdout += data[:room]
        if len(data) > room:
            self.has_overflowed = True
            self.kill()

    def process_exited(self) -> None:
        """Handle the end of the child: kill the rest of its group."""
        self._step(EXITED)
        # the group id cannot be reused while a grandchild is in the group; otherwise only after a full cycle of pids
        self._signal_group(signal.SIGKILL)
        self._exited.set()
        if self._spec.on_exit is not None:
            self._spec.on_exit()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the closing of all pipes after the end of the child."""
        self._closed.set()

    def _command_with_leash(self) -> list[str]:
        program, *arguments = self._spec.command
        path = shutil.which(program, path=self._spec.environment.get("PATH", os.defpath))
        if path is None:
            raise SidecarError(f"cannot run {program}: no such program", hint=f"install {program} or set its path")
        long = (sys.executable, "-I", "-S", str(_LEASH))
        # the short leash starts the program from a shell, which would run a non-native file as a script
        leash = (_is_native(path) and _short_leash()) or long
        return [*leash, str(os.getpid()), path, *arguments]

    def _step(self, event: ChildEvent) -> None:
        self.state = next_state(self.state, event)

    async def _terminate(self) -> None:
        if self.state is ENDED:
            return
        self._signal_group(signal.SIGTERM)
        # a stopped process sees TERM only when it continues
        self._signal_group(signal.SIGCONT)
        await wait_within(self._exited.wait(), self._spec.grace.total_seconds())

    async def _reap(self) -> None:
        if self._transport is not None and not await wait_within(self._exited.wait(), _REAP):
            log.error("child survives KILL", child=self.name, pid=self.pid)
        await self._drain()

    async def _drain(self) -> None:
        if self._transport is not None:
            try:
                await wait_within(self._closed.wait(), _DRAIN)
            finally:
                self._transport.close()

    def _signal_group(self, number: signal.Signals) -> None:
        if self.pid is not None:
            # already ended; macOS raises EPERM for a group of zombies
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
