"""One child process, from start to reaping: a state machine, driven by asyncio's callbacks.

The child has its own session (so its own process group), no stdin unless we write to it, an allow-listed
environment, and its output is always drained into bounded memory or handed on. It is stopped by TERM, a grace time,
then KILL, always as a group. Events that come too late to matter are listed as ignored.
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
from memoryd.retry import happens


class ChildState(StrEnum):
    """Where a child is in its life."""

    NEW = "new"
    RUNNING = "running"
    TERMINATING = "terminating"
    KILLING = "killing"
    ENDED = "ended"


class ChildEvent(StrEnum):
    """What moves a child from state to state."""

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
"""The newest part of a child's stderr that is kept."""

_LEASH = Path(__file__).with_name("leash.py")
_CHECKED = "ulimit -c 0; [ $PPID = $0 ] || { echo 'parent is gone' >&2; exit 1; }; exec \"$@\""
"""What `leash.py` does, for a shell behind `setpriv`, which asks for the death signal: a tenth of what Python costs."""
_DRAIN, _REAP = 1.0, 5.0
"""Seconds."""
_INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "USER")


def allowed_environment(environment: Mapping[str, str], also: Iterable[str] = ()) -> dict[str, str]:
    """Return what a child may see of `environment`: where things are and which language, never keys or tokens."""
    return {name: environment[name] for name in (*_INHERITED, *also) if name in environment}


@cache
def _short_leash() -> tuple[str, ...]:
    """Return what goes before the arguments of `leash.py` instead of it; empty where util-linux is not, or too old."""
    if sys.platform != "linux" or (setpriv := shutil.which("setpriv", path=os.defpath)) is None:
        return ()
    leash = (setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", _CHECKED)
    try:
        tried = subprocess.run([*leash, str(os.getpid()), "/bin/sh", "-c", ":"], capture_output=True, timeout=_REAP)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return leash if tried.returncode == 0 else ()


def _is_native(program: str) -> bool:
    """Return whether a file is a program for this machine, by the head that it shares with Python's."""
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
    """What to run and how patiently. `command[0]` is looked up in the PATH of `environment`; no shell reads it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path = Path("/")
    pass_fds: tuple[int, ...] = ()
    grace: timedelta = timedelta(seconds=2)
    """Between TERM and KILL."""
    stdout_limit: int = 0
    """Bytes of stdout to keep; one more gets the child killed. 0: stdout goes to /dev/null."""
    on_stderr: Callable[[], None] | None = None
    """Told that something came there."""
    on_output: Callable[[bytes], None] | None = None
    """Told of stdout as it comes, instead of keeping it; the child then has a stdin, see `Child.write`."""
    on_exit: Callable[[], None] | None = None
    """Told when the child has ended."""


class _Tail(Struct):
    """The newest bytes written to it."""

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
        """Exit status, or minus the signal that ended the child; None while it lives."""
        return self._transport.get_returncode() if self._transport else None

    @property
    def stdout(self) -> bytes:
        """What the child has written so far, at most `stdout_limit` bytes."""
        return bytes(self._stdout)

    @property
    def stderr(self) -> str:
        """The newest 64 kB of what the child has written to stderr."""
        return self._stderr.data.decode(errors="replace")

    @property
    def stderr_mark(self) -> int:
        """How much has been written to stderr so far, for `stderr_since`."""
        return self._stderr.total

    def stderr_since(self, mark: int) -> str:
        """Return what has been written to stderr after `mark`, at most the newest 64 kB."""
        return self._stderr.since(mark).decode(errors="replace")

    def write(self, data: bytes) -> None:
        """Hand bytes to the child's stdin, without waiting; raises SidecarError if it takes none."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing():
            raise SidecarError(f"{self.name} takes no input: {self.describe_end()}")
        pipe.write(data)

    async def start(self) -> None:
        """Spawn the child; raises SidecarError if it cannot run. One that ends at once is no failure.

        Must run on the thread that lives as long as the child should: the kernel kills the child with it.
        """
        loop = asyncio.get_running_loop()
        is_spoken_to = self._spec.on_output is not None
        is_watched = is_spoken_to or self._spec.stdout_limit > 0
        try:
            await loop.subprocess_exec(
                lambda: self,
                *self._leashed_command(),
                stdin=asyncio.subprocess.PIPE if is_spoken_to else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if is_watched else asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self._spec.environment),
                cwd=self._spec.directory,
                pass_fds=self._spec.pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise SidecarError(f"cannot run {self.name}: {exc}") from exc

    async def wait(self) -> int:
        """Wait until the child has ended and its output is read; return its code.

        Output that a surviving grandchild would hold open is not waited for: the group dies with the child.
        """
        await self._exited.wait()
        await self._drain()
        return self.returncode if self.returncode is not None else 0

    async def ends_within(self, time: timedelta) -> bool:
        """Wait for the child to end by itself, at most `time`, and tell whether it did."""
        return await happens(self._exited.wait(), time.total_seconds())

    async def stop(self) -> None:
        """End the group: TERM and CONT, the grace time, KILL; return when the child is reaped. Safe to repeat.

        If cancelled, it kills at once and waits only for that.
        """
        self._step(STOP)
        try:
            await self._terminate()
        finally:
            self.kill()
            await self._reap()

    def kill(self) -> None:
        """Kill the group now; `wait` or `stop` still have to follow."""
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
        """Take the news that the child has been spawned."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()
        self._step(SPAWNED)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take output as it comes, so that the child never blocks on a full pipe."""
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
        """Take the news that the child has been reaped, and end what is left of its group."""
        self._step(EXITED)
        # the number cannot be reused while a grandchild lives in the group, and takes a full turn of pids otherwise
        self._signal_group(signal.SIGKILL)
        self._exited.set()
        if self._spec.on_exit is not None:
            self._spec.on_exit()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the news that the child has ended and all its pipes are closed."""
        self._closed.set()

    def _leashed_command(self) -> list[str]:
        program, *arguments = self._spec.command
        found = shutil.which(program, path=self._spec.environment.get("PATH", os.defpath))
        if found is None:
            raise SidecarError(f"cannot run {program}: no such program", hint=f"install {program} or set its path")
        long = (sys.executable, "-I", "-S", str(_LEASH))
        # what the kernel cannot execute, a shell takes for a script
        leash = (_is_native(found) and _short_leash()) or long
        return [*leash, str(os.getpid()), found, *arguments]

    def _step(self, event: ChildEvent) -> None:
        self.state = next_state(self.state, event)

    async def _terminate(self) -> None:
        if self.state is ENDED:
            return
        self._signal_group(signal.SIGTERM)
        # a stopped process sees TERM only when it continues
        self._signal_group(signal.SIGCONT)
        await happens(self._exited.wait(), self._spec.grace.total_seconds())

    async def _reap(self) -> None:
        if self._transport is not None and not await happens(self._exited.wait(), _REAP):
            log.error("child survives KILL", child=self.name, pid=self.pid)
        await self._drain()

    async def _drain(self) -> None:
        if self._transport is not None:
            try:
                await happens(self._closed.wait(), _DRAIN)
            finally:
                self._transport.close()

    def _signal_group(self, number: signal.Signals) -> None:
        if self.pid is not None:
            # gone already; macOS says EPERM for a group of zombies
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
