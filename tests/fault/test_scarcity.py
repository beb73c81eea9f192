"""Rows 132 and 134 to 137 of the fault catalogue: scarce resources of a process, and nested roots.

A slow disk (138) and signals (140) are in test_lifecycle.py, shedding of connections in integration/test_sockets.py,
crowds and long use (114, 139) in tests/load.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, MemorydError, NotNow
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.fault.faults import fired, injected
from tests.fault.stage import QUICK, Stage
from tests.waiting import eventually

MARGIN_BYTES = 64 * 1024
"""How much more memory a daemon may get when memory is scarce."""
HUNGRY_NOTE = 2 * 2**20
BURNERS = 3


@contextmanager
def scarce_memory(pid: int) -> Iterator[None]:
    """Limit a process to little more memory than it has."""
    before = resource.prlimit(pid, resource.RLIMIT_AS)
    resource.prlimit(pid, resource.RLIMIT_AS, (psutil.Process(pid).memory_info().vms + MARGIN_BYTES, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, before)


def test_f135_daemon_out_of_memory_recovers(stage: Stage) -> None:
    """Without memory for a large note the daemon goes on or ends; with memory again the note is found."""
    stage.start()
    with scarce_memory(stage.daemon.pid):
        stage.write("bank/hungry.md", "# Hungry\n\nmanzanita\n\n" + "many words in a row\n" * (HUNGRY_NOTE // 20))
        eventually(lambda: _is_short(stage) or not stage.daemon.is_running(), step=0.1)
    restarts: list[int] = []

    def is_found() -> bool:
        # it may be about to end
        if not (restarts or stage.daemon.is_running()):
            restarts.append(stage.daemon.reap())
            stage.daemon.start()
        with contextlib.suppress(DaemonNotRunning):
            return stage.finds("manzanita")
        return False

    eventually(is_found)
    assert 0 not in restarts
    assert stage.finds("alder")
    stage.converges()


@pytest.mark.parametrize("megabytes", [150, 400, 1_000])
def test_f135_start_with_too_little_address_space_says_so(tmp_path: Path, megabytes: int) -> None:
    """A start under a too small limit ends with two sentences instead of a traceback, and an exit code."""
    config = write_config(tmp_path, write_workspace(tmp_path / "ws"), None)
    narrow = f"import resource as r; r.setrlimit(r.RLIMIT_AS, ({megabytes} << 20, {megabytes} << 20))"
    program = ("-c", f"{narrow}; import runpy; runpy.run_module('memoryd.daemon.main', run_name='__main__')")
    daemon = RunningDaemon(tmp_path, config, tmp_path / "ws", program=program)
    with daemon.spawn() as process:
        try:
            assert process.wait(60) == Exit.NO_MEMORY
        finally:
            process.kill()
    log_lines = daemon.log.read_text().splitlines()
    assert log_lines[-2] == (
        "memoryd: the system gives no more memory, or no thread, to this process, "
        f"which may have {megabytes} MB of address space"
    )
    assert "limits.maxFileBytes" in log_lines[-1]
    assert "Traceback" not in "\n".join(line for line in log_lines if not line.startswith("{"))


def _is_short(stage: Stage) -> bool:
    """Search, which may fail, and tell whether memory was missing."""
    with contextlib.suppress(MemorydError), Client(stage.daemon.socket, timeout=20) as client:
        client.search("alder")
    return "MemoryError" in stage.daemon.log.read_text()


def _settled_descriptors(pid: int) -> set[str]:
    """Return the descriptors of a process once they stay the same: a closed one could be reused."""
    seen: list[set[str]] = []
    while len(seen) < 5 or any(descriptors != seen[-1] for descriptors in seen[-5:]):
        seen.append(set(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
        time.sleep(0.1)
    return seen[-1]


def test_f134_daemon_without_descriptors_recovers(stage: Stage) -> None:
    """Without descriptors clients get no answer and the log is limited; afterwards new notes are found."""
    stage.start()
    pid = stage.daemon.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    taken = _settled_descriptors(pid)
    free = next(number for number in range(before[0]) if str(number) not in taken)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, before[1]))
    for number in range(8):
        stage.write(f"bank/deep{number}/new.md", f"written in need: willow{number}")
    with Client(stage.daemon.socket, timeout=1) as client, pytest.raises(NotNow):
        client.health()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    for number in (0, 7):
        stage.eventually_finds(f"willow{number}")
    assert stage.daemon.pid == pid
    log_lines = [
        line for line in stage.daemon.log.read_text().splitlines() if "accept() out of system resource" in line
    ]
    assert 0 < len(log_lines) <= 120
    assert all(json.loads(line)["level"] == "error" for line in log_lines)
    stage.converges()


def test_f136_without_a_worker_process_words_answer(stage: Stage, strace: None, starter_model: Path) -> None:
    """While no process can be started, words answer and status says why; afterwards all notes get vectors."""
    stage.start(QUICK, model=starter_model)
    stage.sync(embedded=True)
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "vfork,fork,clone:error=EAGAIN"):
        for child in psutil.Process(stage.daemon.pid).children():
            child.kill()
        stage.write("memory/new.md", "without a process: willow")
        eventually(lambda: fired(log) and "cannot run" in str(stage.status()["embedder"]["worker"]))
        stage.eventually_finds("willow")
    stage.sync(embedded=True)
    stage.converges(is_embedded=True)


@contextmanager
def starved(pid: int) -> Iterator[None]:
    """Restrict a process, at the lowest priority, to one core that others use fully."""
    core = {sorted(os.sched_getaffinity(0))[-1]}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), core)
        os.setpriority(os.PRIO_PROCESS, int(thread.name), 19)
    script = f"import os\nos.sched_setaffinity(0, {core})\nwhile True: pass"
    burners = [subprocess.Popen([sys.executable, "-S", "-c", script]) for _ in range(BURNERS)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def test_f137_starved_daemon_still_converges(stage: Stage) -> None:
    """On a busy core each note is found, the index converges, and the daemon is not restarted."""
    stage.start()
    pid = stage.daemon.pid
    with starved(pid):
        for number in range(4):
            stage.write(f"bank/{number}.md", f"note {number} of the willow{number}")
        for number in range(4):
            stage.eventually_finds(f"willow{number}")
        (stage.workspace / "bank/0.md").unlink()
        eventually(lambda: not stage.finds("willow0"))
    assert stage.daemon.pid == pid
    assert stage.daemon.is_running()
    stage.converges()


def test_f132_nested_roots_give_each_document_once(stage: Stage) -> None:
    """A note reachable by several roots, links and spellings is one document, found once."""
    shared = stage.home / "shared"
    (shared / "deep").mkdir(parents=True)
    (shared / "deep" / "team.md").write_text("the team meets at the willow\n")
    (stage.home / "again").symlink_to(shared, target_is_directory=True)
    inside = [str(stage.memory), "memory", "./memory/", "memory/../memory/first.md", str(stage.workspace)]
    outside = [str(shared), f"{shared}/", str(shared / "deep"), str(stage.home / "again"), str(stage.home / "nowhere")]
    stage.start(search={"extraPaths": inside + outside})
    assert stage.places("birch") == ["memory/first.md"]
    assert len(stage.places("willow")) == 1
    assert sum(path.endswith("team.md") for path in stage.paths()) == 1
    stage.write("memory/new.md", "later on: periwinkle")
    (shared / "deep" / "later.md").write_text("and here: sycamore\n")
    stage.sync()
    assert stage.places("periwinkle") == ["memory/new.md"]
    assert len(stage.places("sycamore")) == 1
