"""Rows 81, 82, 84 to 88, 91, 92, 94 and 96 of the fault catalogue, for any child that the daemon supervises."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from memoryd.errors import SidecarError
from memoryd.sidecar.process import STDERR_BYTES, Child, ChildSpec, ChildState, allowed_environment
from tests.waiting import eventually_async

SECOND = timedelta(seconds=1)
KEEPS_QUIET = "import time\ntime.sleep(600)"
IGNORES_TERM = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(600)"
)

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def program(source: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", source, *arguments)


@pytest.fixture(params=["program", "script"])
def started_by(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    """Return a program of this system, tied to us by a shell if possible, and a script, tied by Python.

    Each runs what its arguments say.
    """
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\nexec "$@"\n')
    script.chmod(0o755)
    return ("env",) if request.param == "program" else (str(script),)


def shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def child_for(
    command: tuple[str, ...],
    *,
    grace: timedelta = 10 * SECOND,
    stdout_limit: int = 1_000_000,
    environment: dict[str, str] | None = None,
) -> Child:
    spec = ChildSpec(
        command=command,
        environment=allowed_environment(os.environ) if environment is None else environment,
        grace=grace,
        stdout_limit=stdout_limit,
    )
    return Child(spec)


@asynccontextmanager
async def started(child: Child) -> AsyncIterator[Child]:
    try:
        await child.start()
        yield child
    finally:
        await child.stop()


def group_of(child: Child) -> list[int]:
    """Return the living processes of the child's group; init may reap the others late."""
    return [one.pid for one in psutil.process_iter() if _is_alive_in(one, child.pid)]


def _is_alive_in(process: psutil.Process, group: int | None) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


async def test_output_and_status_are_kept() -> None:
    child = child_for(shell("echo out; echo err >&2; exit 3"))
    await child.start()
    assert await child.wait() == 3
    assert child.stdout == b"out\n"
    assert child.stderr == "err\n"
    assert child.describe_end() == "exit status 3: err"
    assert child.state is ChildState.ENDED


async def test_child_that_is_started_runs() -> None:
    async with started(child_for(program(KEEPS_QUIET))) as child:
        assert child.state is ChildState.RUNNING


async def test_f081_missing_program_is_named() -> None:
    """The error names the program that cannot be run."""
    with pytest.raises(SidecarError, match="cannot run qmd-of-nowhere"):
        await child_for(("qmd-of-nowhere",)).start()


async def test_f081_program_that_cannot_be_executed_says_why(tmp_path: Path) -> None:
    """The end of an unfit program is an error that says it cannot be executed."""
    wrong = tmp_path / "qmd"
    wrong.write_bytes(b"\x7fELF of some other machine")
    wrong.chmod(0o755)
    child = child_for((str(wrong),))
    await child.start()
    assert await child.wait() != 0
    assert "cannot execute" in child.stderr


async def test_f082_endless_stdout_is_cut_and_the_child_killed() -> None:
    """Endless output is cut at its limit, and the child is killed."""
    child = child_for(shell("yes"), stdout_limit=100_000)
    await child.start()
    assert await child.wait() == -signal.SIGKILL
    assert child.has_overflowed
    assert len(child.stdout) == 100_000


async def test_stdout_of_exactly_the_limit_is_kept() -> None:
    child = child_for(program("print('x' * 999)"), stdout_limit=1000)
    await child.start()
    assert await child.wait() == 0
    assert not child.has_overflowed


async def test_f085_stderr_flood_neither_blocks_nor_grows() -> None:
    """A flood on stderr ends, and its last bytes are kept."""
    child = child_for(program("import sys\nfor n in range(300_000): print('line', n, file=sys.stderr)"))
    await child.start()
    async with asyncio.timeout(20):
        assert await child.wait() == 0
    assert len(child.stderr) == STDERR_BYTES
    assert child.stderr.endswith("line 299999\n")


async def test_f086_grandchild_with_open_stdout_is_not_waited_for() -> None:
    """The child ends though a grandchild holds its stdout, and the group is gone."""
    child = child_for(shell("echo done; sleep 600 & exit 0"))
    await child.start()
    async with asyncio.timeout(60):
        assert await child.wait() == 0
    assert child.stdout == b"done\n"
    await eventually_async(lambda: group_of(child) == [])


@needs_proc
async def test_f087_grandchildren_die_with_the_child() -> None:
    """No process of the group is left when the child was stopped."""
    async with started(child_for(shell("sleep 600 & sleep 600 & wait"))) as child:
        await eventually_async(lambda: len(group_of(child)) == 3)
    await eventually_async(lambda: group_of(child) == [])


async def test_f088_child_that_ignores_term_is_killed_after_the_grace() -> None:
    """A child deaf to TERM ends by KILL after the grace."""
    async with started(child_for(program(IGNORES_TERM), grace=0.2 * SECOND)) as child:
        await eventually_async(lambda: child.stdout == b"deaf\n")
        await child.stop()
        assert child.returncode == -signal.SIGKILL


async def test_f088_stopped_child_hears_term() -> None:
    """A child that was stopped ends by TERM."""
    async with started(child_for(program(KEEPS_QUIET))) as child:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        await child.stop()
        assert child.returncode == -signal.SIGTERM


async def test_stop_may_be_repeated_and_shared() -> None:
    async with started(child_for(program(KEEPS_QUIET))) as child:
        await asyncio.gather(child.stop(), child.stop())
        await child.stop()
        child.kill()
        assert child.state is ChildState.ENDED


async def test_cancelled_stop_kills_and_reaps() -> None:
    async with started(child_for(program(IGNORES_TERM), grace=600 * SECOND)) as child:
        await eventually_async(lambda: child.stdout == b"deaf\n")
        stopping = asyncio.create_task(child.stop())
        await eventually_async(lambda: child.state is ChildState.TERMINATING)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        assert child.returncode == -signal.SIGKILL


async def test_child_never_started_stops() -> None:
    child = child_for(program(KEEPS_QUIET))
    await child.stop()
    assert child.state is ChildState.ENDED


ORPHANER = """
import asyncio, sys
from memoryd.sidecar.process import Child, ChildSpec

async def main():
    child = Child(ChildSpec(command=(*sys.argv[1:], "sleep", "600"), environment={"PATH": "/usr/bin:/bin"}))
    await child.start()
    print(child.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@needs_proc
async def test_f091_child_dies_with_a_killed_daemon(started_by: tuple[str, ...]) -> None:
    """The child ends when its parent is killed, however it was tied to it."""
    command = [sys.executable, "-c", ORPHANER, *started_by]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:  # noqa: ASYNC220 - one line is read
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.kill()
    await eventually_async(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def test_f091_child_whose_parent_is_gone_does_not_start(
    started_by: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that finds another parent than the one that wanted it ends, and the program never runs."""
    async with started(child_for(("true",))) as child:
        await child.wait()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    child = child_for((*started_by, "echo", "here"))
    await child.start()
    assert await child.wait() == 1
    assert (child.stdout, child.stderr.strip()) == (b"", "parent is gone")


async def test_f092_ended_children_leave_no_zombies() -> None:
    """Twenty children that ended leave no zombie."""
    for _ in range(20):
        child = child_for(shell("exit 1"))
        await child.start()
        assert await child.wait() == 1
    assert [one.pid for one in psutil.Process().children() if one.status() == psutil.STATUS_ZOMBIE] == []


async def test_f094_arguments_reach_the_program_unchanged(started_by: tuple[str, ...]) -> None:
    """The program gets options, quotes and line breaks as they were given."""
    nasty = ["--help", "-n", "$(touch /tmp/owned); `id`", "two\nlines", "", "'\"*"]
    child = child_for((*started_by, *program("import sys\nprint(sys.argv[1:])", *nasty)))
    await child.start()
    await child.wait()
    assert child.stdout.decode().strip() == repr(nasty)


async def test_f094_nul_in_an_argument_is_refused() -> None:
    """An argument with NUL is an error before anything runs."""
    child = child_for(program("pass", "a\0b"))
    with pytest.raises(SidecarError, match="cannot run"):
        await child.start()


@needs_proc
async def test_f096_child_has_no_descriptors_or_secrets_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_by: tuple[str, ...]
) -> None:
    """The child has descriptors 0 to 2, `/`, no core file, a session of its own and no secret."""
    monkeypatch.setenv("SECRET_API_KEY", "very secret")
    leak = os.open(tmp_path / "leak", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(leak, True)
    try:
        async with started(child_for((*started_by, *program(KEEPS_QUIET)))) as child:
            proc = Path("/proc", str(child.pid))
            # the leash has become the program
            await eventually_async(lambda: KEEPS_QUIET.encode() in (proc / "cmdline").read_bytes())
            # the starting interpreter has a file open for a moment
            await eventually_async(lambda: sorted(int(entry.name) for entry in (proc / "fd").iterdir()) == [0, 1, 2])
            assert str((proc / "fd" / "0").readlink()) == "/dev/null"
            assert str((proc / "cwd").readlink()) == "/"
            assert b"very secret" not in (proc / "environ").read_bytes()
            assert "Max core file size        0" in (proc / "limits").read_text()
            assert os.getsid(int(proc.name)) == int(proc.name)
    finally:
        os.close(leak)


def test_environment_is_an_allow_list() -> None:
    given = {"PATH": "/bin", "HOME": "/home/x", "AWS_SECRET": "x", "PYTHONPATH": "/x", "EXTRA": "y"}
    assert allowed_environment(given, ["EXTRA", "ABSENT"]) == {"PATH": "/bin", "HOME": "/home/x", "EXTRA": "y"}


async def test_children_that_end_at_once_are_no_failure() -> None:
    children = [child_for(shell("echo done")) for _ in range(20)]
    await asyncio.gather(*(child.start() for child in children))
    assert [await child.wait() for child in children] == [0] * 20
    assert {child.stdout for child in children} == {b"done\n"}
    await asyncio.gather(*(child.stop() for child in children))
