"""Real faults: injected system call errors, kernel limits, file systems; each is undone at the end."""

import ctypes
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import psutil

from memoryd.store.connection import checksum_vfs
from tests.daemon import RunningDaemon
from tests.waiting import SECONDS, eventually
from tests.warm.programs import ROOT, started

INJECTED = re.compile(r"\(INJECTED\)")


def has_strace() -> bool:
    """Tell whether strace is installed and may trace."""
    program = shutil.which("strace")
    if program is None:
        return False
    return subprocess.run([program, "-qq", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


class FaultyDaemon(RunningDaemon):
    """The daemon under a command such as strace or prlimit, which can be stopped and continued by signals."""

    prefix: tuple[str, ...] = ()

    def spawn(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the program behind `prefix`, which replaces itself by the daemon."""
        return spawn_behind(self, self.prefix, arguments) if self.prefix else super().spawn(*arguments)

    def kill(self) -> None:
        """Kill the daemon like a crash; no child may outlive it."""
        children = self._descendants()
        super().kill()
        _, alive = psutil.wait_procs(children, timeout=30)
        assert not alive, f"left behind by a crash: {alive}"

    def pause(self) -> None:
        """Stop the process like a suspended machine."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Continue a stopped process."""
        os.kill(self.pid, signal.SIGCONT)

    def is_running(self) -> bool:
        """Tell whether the process exists and is no zombie (a tracer may keep it as one)."""
        if self.process is None or self.process.poll() is not None:
            return False
        return psutil.Process(self.process.pid).status() != psutil.STATUS_ZOMBIE

    def reap(self) -> int:
        """Wait for a process ended by a fault; return its exit code (minus the signal)."""
        assert self.process is not None
        code = self.process.wait(SECONDS)
        self.process = None
        return code


def spawn_behind(
    daemon: RunningDaemon,
    prefix: tuple[str, ...],
    arguments: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start the daemon's program behind a command that finally executes it."""
    (daemon.home / "home").mkdir(exist_ok=True)
    command = [*prefix, sys.executable, *daemon.program, *arguments]
    with daemon.log.open("ab") as log:
        return subprocess.Popen(
            command,
            env=dict(env or daemon.env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def spawn_program(daemon: RunningDaemon, *arguments: str) -> subprocess.Popen[bytes]:
    """Start Python with these arguments instead of the daemon."""
    program, daemon.program = daemon.program, ()
    try:
        return daemon.spawn(*arguments)
    finally:
        daemon.program = program


STANDING = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP); "
"""Python code that begins with this stops itself until `_going_on` continues it under strace.

So it can be forked from a warm process: under strace the imports would take longer than the test.
"""


@contextmanager
def injected(
    pid: int, log: Path, inject: str = "", *, calls: Sequence[str] = (), paths: Sequence[Path] = ()
) -> Iterator[None]:
    """Log the `calls` of a running process and inject `inject` in the block; `paths` restrict it to some files.

    Only traced calls can be injected. With --seccomp-bpf, strace injects only in the first thread.
    """
    narrowed = [part for path in paths for part in ("-P", str(path))]
    traced = ",".join((*calls, inject.split(":")[0])).strip(",")
    injecting = ("-e", f"inject={inject}") if inject else ()
    command = ["strace", "-f", "-o", str(log), "-p", str(pid), *narrowed, "-e", f"trace={traced}", *injecting]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as tracer:
        assert tracer.stderr is not None
        line = tracer.stderr.readline()
        assert b"attached" in line, line
        try:
            yield
        finally:
            _end_tracer(tracer)


def ran_traced(
    program: str,
    *arguments: str | Path,
    log: Path,
    inject: str = "",
    calls: Sequence[str] = (),
    paths: Sequence[Path] = (),
) -> tuple[int, bytes]:
    """Run Python code under strace from its first line on; return its exit code and stdout."""
    command = [sys.executable, "-c", STANDING + program, *map(str, arguments)]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with (
        started(command, cwd=ROOT, stdin=quiet, stdout=pipe, stderr=quiet) as child,
        _going_on(child, log, inject, calls=calls, paths=paths),
    ):
        output, _ = child.communicate()
    return child.returncode, output


@contextmanager
def spawned_traced(daemon: FaultyDaemon, log: Path, inject: str = "", *, calls: Sequence[str] = ()) -> Iterator[None]:
    """Start the daemon under strace, which detaches at the end of the block; do not wait until it answers."""
    daemon.process = spawn_program(daemon, "-c", f"{STANDING}from memoryd.daemon.main import main; main()")
    with _going_on(daemon.process, log, inject, calls=calls):
        yield


@contextmanager
def _going_on(
    child: subprocess.Popen[bytes], log: Path, inject: str, *, calls: Sequence[str], paths: Sequence[Path] = ()
) -> Iterator[None]:
    process = psutil.Process(child.pid)
    try:
        eventually(lambda: process.status() == psutil.STATUS_STOPPED, step=0.002)
        with injected(child.pid, log, inject, calls=calls, paths=paths):
            child.send_signal(signal.SIGCONT)
            yield
    except BaseException:
        # it would be stopped for ever, and be waited for
        child.kill()
        raise


def _end_tracer(tracer: subprocess.Popen[bytes]) -> None:
    tracer.send_signal(signal.SIGINT)
    try:
        tracer.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        # strace may wait for ever for the threads of a program that it killed; without it the kernel cleans up
        tracer.kill()


def fired(log: Path) -> int:
    """Count the injected results in a strace log."""
    return len(INJECTED.findall(log.read_text(errors="replace"))) if log.exists() else 0


def most_calls(log: Path, call: str) -> int:
    """Return how often the busiest thread of a strace log makes a call: `when=` counts per thread."""
    threads = re.findall(rf"^(\d+) +{call}\(", log.read_text(errors="replace"), re.MULTILINE)
    return max(Counter(threads).values(), default=0)


def limited(**limits: int) -> tuple[str, ...]:
    """Return the command that starts a program in its own user namespace with limits of /proc/sys/user."""
    set_all = "; ".join(f"echo {value} >/proc/sys/user/{name}" for name, value in limits.items())
    return ("unshare", "--user", "--map-root-user", "sh", "-c", f'{set_all}; exec "$@"', "sh")


@contextmanager
def mounted(folder: Path, options: str = "size=16m") -> Iterator[None]:
    """Mount an empty file system in memory over a folder until the block ends."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)
    try:
        yield
    finally:
        unmount(folder)


def unmount(folder: Path) -> None:
    """Unmount at once, even if it is in use."""
    subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def remount(folder: Path, options: str) -> None:
    """Change the options of a mount."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def fill_disk(folder: Path) -> Path:
    """Fill the disk of a folder to the last byte; return the file that does it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        size = 65_536
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2
    return filler


def overflow_events(folder: Path) -> int:
    """Cause more file events in a watched folder than the kernel queues; return how many."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    files = [(folder / f".overflow{number}").open("wb", buffering=0) for number in range(2)]
    try:
        # two files in turn: the kernel merges equal consecutive events
        for _ in range(limit):
            for file in files:
                file.write(b".")
    finally:
        for file in files:
            file.close()
            Path(file.name).unlink()
    return 2 * limit


def flip_byte(path: Path, at: int, mask: int = 0xFF) -> None:
    """Change one byte of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def change(index: Path, sql: str) -> None:
    """Run a statement on an index that is not open, with valid checksums."""
    connection = apsw.Connection(str(index), vfs=checksum_vfs())
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute(sql)
    connection.close()


class EventCounter:
    """Our own inotify instance, read only at the end, to prove that a burst overflows such a queue."""

    _MASK = 0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200
    _OVERFLOW = 0x4000

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0 or libc.inotify_add_watch(self._descriptor, os.fsencode(folder), self._MASK) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def overflowed(self) -> bool:
        """Read all events; tell whether the kernel dropped some."""
        found = False
        with suppress(BlockingIOError):
            while data := os.read(self._descriptor, 1 << 16):
                found = found or self._holds_overflow(data)
        os.close(self._descriptor)
        return found

    def _holds_overflow(self, data: bytes) -> bool:
        at = 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            if mask & self._OVERFLOW:
                return True
            at += 16 + length
        return False
