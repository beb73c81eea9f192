"""Row 124 of the fault catalogue: a stuck part in a running process. The number is in each name."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.replies.daemon import HeartbeatReply
from memoryd.wire import Exit
from tests.fault.faults import spawn_program
from tests.fault.stage import EVENTS_ONLY, Stage
from tests.sweeps import swept
from tests.waiting import eventually

STUCK = """
import asyncio, importlib, signal, sys, threading, time
from pathlib import Path
import memoryd.agents.workspace.workspaces, memoryd.daemon.heartbeats
from memoryd.daemon import app, main
from memoryd.index.file_events import InotifyEvents
from memoryd.index.watcher import FileWatcher
from memoryd.store.pool import Writer

fault = Path(sys.argv.pop(1))
memoryd.daemon.heartbeats.LOOP_SECONDS = 4.0
memoryd.agents.workspace.workspaces.WRITER_SECONDS = 45.0 if fault.name == "loop" else 1.0
memoryd.agents.workspace.workspaces.WATCHER_SECONDS = 45.0 if fault.name == "loop" else 1.0
# well within the limit, so that the probe is not stalled
FileWatcher.run_probe.__defaults__ = (0.2,)
transact, arm = Writer._transact, InotifyEvents._arm

def stuck_transact(*arguments):
    while fault.name == "writer" and fault.exists():
        time.sleep(0.05)
    return transact(*arguments)

async def stuck_arm(*arguments):
    while fault.name == "watcher" and fault.exists():
        await asyncio.sleep(0.05)
    await arm(*arguments)

def block(*_):
    while fault.name == "loop" and fault.exists():
        time.sleep(0.05)

Writer._transact, InotifyEvents._arm = stuck_transact, stuck_arm
real = app.Daemon.run

async def run(*arguments):
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, block)
    await real(*arguments)

app.Daemon.run = run
main.main()
"""
"""The daemon with short limits, in which one part is stuck as long as a file exists."""


class Manager:
    """The service manager, which receives the pings."""

    def __init__(self, address: Path) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sock.bind(str(address))
        self._sock.setblocking(False)

    def pings(self) -> int:
        """Return the number of pings since the last call."""
        found = 0
        while True:
            try:
                found += self._sock.recv(4096) == b"WATCHDOG=1"
            except BlockingIOError:
                return found

    def close(self) -> None:
        self._sock.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    found = Manager(tmp_path / "notify")
    yield found
    found.close()


def heartbeat(stage: Stage, name: str) -> HeartbeatReply:
    with Client(stage.daemon.socket, timeout=30) as client:
        process = client.status()["daemon"]
    assert process is not None
    return next(
        (beat for beat in process["heartbeats"] if beat["name"] == name),
        HeartbeatReply(name=name, state="", ageSeconds=0, limitSeconds=0),
    )


def start_stuck(stage: Stage, fault: Path) -> None:
    stage.daemon.process = spawn_program(stage.daemon, "-c", STUCK, str(fault))
    eventually(lambda: stage.daemon.answers() or not stage.daemon.is_running())
    stage.sync()


@swept(("part", "name"), [("writer", "writer of index main"), ("watcher", "watcher")], 1)
def test_f124_stuck_writer_or_watcher_stops_the_pings(
    stage: Stage, manager: Manager, tmp_path: Path, part: str, name: str
) -> None:
    """A stuck writer or watcher is in status, its stacks are logged, and pings stop until it continues."""
    stage.prepare(EVENTS_ONLY)
    stage.daemon.env |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    fault = stage.home / part
    start_stuck(stage, fault)
    eventually(manager.pings)
    fault.touch()
    # a new folder must be indexed and watched
    stage.write("bank/new.md", "held up: willow")
    eventually(lambda: heartbeat(stage, name)["state"] == "stalled")
    assert name in stage.degraded()
    assert "Thread 0x" in stage.daemon.log.read_text()
    stalled = heartbeat(stage, name)["ageSeconds"]
    manager.pings()
    eventually(lambda: heartbeat(stage, name)["ageSeconds"] > stalled + 2)
    assert manager.pings() == 0, "ten intervals went by"
    assert stage.finds("alder"), "questions are still answered"
    fault.unlink()
    eventually(manager.pings)
    stage.eventually_finds("willow")
    assert stage.daemon.stop() == 0


def test_f124_blocked_loop_ends_the_daemon_without_a_manager(stage: Stage) -> None:
    """A stopped process is no blocked loop; a blocked loop ends the daemon with its exit code and logged stacks."""
    stage.prepare(EVENTS_ONLY, log={"file": "on"})
    fault = stage.home / "loop"
    start_stuck(stage, fault)
    stage.daemon.pause()
    time.sleep(6)  # the fault itself: longer than the loop may be blocked
    stage.daemon.resume()
    eventually(lambda: heartbeat(stage, "event loop")["state"] == "working")
    assert stage.finds("alder")
    fault.touch()
    os.kill(stage.daemon.pid, signal.SIGUSR2)
    assert stage.daemon.reap() == Exit.STALLED
    log_text = (stage.daemon.state / "log" / "memoryd.log").read_text()
    assert '"event": "ready"' in log_text
    assert "event loop is stuck" in log_text
    assert "Thread 0x" in log_text
    assert "in block" in log_text
    stage.daemon.start()
    stage.converges()
