"""Programs of ours as child processes, forked from one that has read our modules instead of reading them each again.

A daemon imports for a second or two before it does anything, and the tests start more than a thousand. What is forked
is the real program, with a process, descriptors, session, folder and environment of its own. It is executed as ever
where that could make a difference: with options or variables of Python's or the loader's, before the fork or behind
another program, outside of tests, and always in `make torture`.
"""

import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import psutil

from tests.sweeps import WHOLE
from tests.warm.nursery import SIZE

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    "memoryctl": "from memoryd.cli.__main__ import main; main()",
    "memoryd": "from memoryd.daemon.main import main; main()",
}
"""What the scripts that an installation makes hold."""
OPTIONS = {"args", "stdin", "stdout", "stderr", "env", "cwd", "start_new_session", "text", "encoding", "errors"}
"""Of `subprocess.Popen`, those that a forked program can be given."""
TELLING = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "OPENBLAS_", "OMP_", "COVERAGE_")
"""Variables that a process reads once, when it is executed, begin with one of these."""
HARMLESS = {("LANG", "C.UTF-8"), ("PYTHONPATH", str(ROOT)), ("PYTHONPATH", "")}
"""Of these, what the nursery was executed with, or as well as."""


class Nursery:
    """The process that forks; one for each process that tests, started when it is first asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self.is_open = False

    def open(self) -> None:
        """Let programs be forked from now on."""
        self.is_open = sys.platform == "linux" and not WHOLE and hasattr(os, "pidfd_open")

    def close(self) -> None:
        """End the process; what it forked goes on."""
        self.is_open = False
        if self._process is not None and self._socket is not None:
            self._socket.close()
            self._process.wait()

    def children(self) -> list[psutil.Process]:
        """Return what runs of what was started here, forked or executed, and of what they started."""
        ours = psutil.Process().children(recursive=True)
        pids = {os.getpid()} if self._process is None else {os.getpid(), self._process.pid}
        return [one for one in ours if one.pid not in pids and one.status() != psutil.STATUS_ZOMBIE]

    def fork(self, request: Mapping[str, object], descriptors: Sequence[int]) -> int:
        """Return the process id of a new child."""
        return int(self._ask(request, descriptors))

    def waitpid(self, pid: int, flags: int) -> tuple[int, int]:
        """Do what `os.waitpid` does for children of one's own."""
        if not flags & os.WNOHANG:
            wait_for(pid)
        status = self._ask({"ended": pid})
        return (0, 0) if status is None else (pid, status)

    def _ask(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> Any:
        with self._lock:
            asked = self._socket or self._started()
            socket.send_fds(asked, [json.dumps(request).encode()], descriptors)
            return json.loads(asked.recv(SIZE))

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # none of its folders are those of a test, which would take it for something left behind
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", *TELLING))}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm.nursery", str(theirs.fileno())],
                env={**kept, "LANG": "C.UTF-8"},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._socket = ours
        return ours


NURSERY = Nursery()


def wait_for(pid: int) -> None:
    """Wait until a process has ended, whoever's child it is."""
    descriptor = os.pidfd_open(pid)
    try:
        select.select([descriptor], [], [])
    finally:
        os.close(descriptor)


class Forked(subprocess.Popen[Any]):
    """A child of the nursery, in all else like one of our own."""

    def _execute_child(self, args: Any, executable: Any, *rest: Any) -> None:
        _preexec, _close, _pass, cwd, env, _info, _flags, _shell, *pipes = rest[:14]
        stdin, _, _, stdout, _, stderr = pipes
        request = {
            "argv": _python_arguments(self.args),
            "environment": dict(os.environ if env is None else env),
            "folder": os.fspath(cwd or Path.cwd()),
            "session": rest[-2],
        }
        given = [own if end == -1 else end for own, end in enumerate((stdin, stdout, stderr))]
        self.pid = NURSERY.fork(request, given)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        return NURSERY.waitpid(self.pid, wait_flags)

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        return super()._internal_poll(_deadstate, NURSERY.waitpid)  # type: ignore[misc, no-any-return]


def started(args: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a program as `subprocess.Popen` does, and fork it if it is one of ours."""
    return (Forked if _can_be_forked(args, options) else subprocess.Popen)(args, **options)


@overload
def ran(args: Sequence[str | Path], *, text: Literal[True], **options: Any) -> subprocess.CompletedProcess[str]: ...
@overload
def ran(args: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[bytes]: ...
def ran(args: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program as `subprocess.run` does, and fork it if it is one of ours."""
    said, timeout, check = (options.pop(name, None) for name in ("input", "timeout", "check"))
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if said is not None:
        options["stdin"] = subprocess.PIPE
    with started(args, **options) as process:
        try:
            stdout, stderr = process.communicate(said, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess[Any](process.args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def _can_be_forked(args: Sequence[str | Path], options: Mapping[str, Any]) -> bool:
    if not NURSERY.is_open or not options.keys() <= OPTIONS or not _python_arguments(args):
        return False
    given = options.get("env")
    return given is None or all(
        os.environ.get(name) == value or (name, value) in HARMLESS
        for name, value in given.items()
        if name.startswith(TELLING)
    )


def _python_arguments(args: Any) -> list[str]:
    """Return what Python is given to run a program of ours; nothing for any other program."""
    if isinstance(args, str | bytes | os.PathLike):
        return []
    program, *rest = map(os.fspath, args)
    if Path(program).parent == Path(sys.executable).parent and (code := SCRIPTS.get(Path(program).name)):
        return ["-c", code, *rest]
    if program != sys.executable or len(rest) < 2:
        return []
    rest = rest[1:] if rest[0] == "-P" else rest
    names = rest[1] if rest[0] in ("-m", "-c") else rest[0].replace("/tests/hasty.py", "memoryd.")
    return rest if any(ours in names for ours in ("memoryd.", "tests.", "bench.")) else []
