"""Row 124 of the fault catalogue: a part that is stuck while the process lives. The number stands in each name."""

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
# well within the limit: else it is the probe that is stalled
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
"""The daemon with little patience, in which one part is stuck as long as a file is there."""


class Manager:
    """Who hears the pings."""

    def __init__(self, address: Path) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sock.bind(str(address))
        self._sock.setblocking(False)

    def pings(self) -> int:
        """Return how many came since the last look."""
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


def heard(stage: Stage, name: str) -> HeartbeatReply:
    with Client(stage.daemon.socket, timeout=30) as client:
        process = client.status()["daemon"]
    assert process is not None
    return next(
        (one for one in process["heartbeats"] if one["name"] == name),
        HeartbeatReply(name=name, state="", ageSeconds=0, limitSeconds=0),
    )


def start_stuck(stage: Stage, fault: Path) -> None:
    stage.daemon.process = spawn_program(stage.daemon, "-c", STUCK, str(fault))
    eventually(lambda: stage.daemon.answers() or not stage.daemon.is_running())
    stage.sync()


@swept(("part", "name"), [("writer", "writer of index main"), ("watcher", "watcher")], 1)
def test_f124_writer_or_watcher_that_is_stuck_stops_the_pings(
    stage: Stage, manager: Manager, tmp_path: Path, part: str, name: str
) -> None:
    """A stuck writer or watcher is told in status, with all stacks, and ends the pings; once it gets on, they come."""
    stage.prepare(EVENTS_ONLY)
    stage.daemon.env |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    fault = stage.home / part
    start_stuck(stage, fault)
    eventually(manager.pings)
    fault.touch()
    # a new folder is written, and is to be watched
    stage.write("bank/new.md", "held up: willow")
    eventually(lambda: heard(stage, name)["state"] == "stalled")
    assert name in stage.degraded()
    assert "Thread 0x" in stage.daemon.log.read_text()
    stalled = heard(stage, name)["ageSeconds"]
    manager.pings()
    eventually(lambda: heard(stage, name)["ageSeconds"] > stalled + 2)
    assert manager.pings() == 0, "ten intervals went by"
    assert stage.finds("alder"), "who asks is answered all the same"
    fault.unlink()
    eventually(manager.pings)
    stage.eventually_finds("willow")
    assert stage.daemon.stop() == 0


def test_f124_without_a_manager_a_blocked_loop_ends_the_daemon(stage: Stage) -> None:
    """A stop by a signal is no block; a blocked loop ends with its exit code, and the stacks stand in the log."""
    stage.prepare(EVENTS_ONLY, log={"file": "on"})
    fault = stage.home / "loop"
    start_stuck(stage, fault)
    stage.daemon.pause()
    time.sleep(6)  # the fault itself: longer than the loop may be blocked
    stage.daemon.resume()
    eventually(lambda: heard(stage, "event loop")["state"] == "working")
    assert stage.finds("alder")
    fault.touch()
    os.kill(stage.daemon.pid, signal.SIGUSR2)
    assert stage.daemon.reap() == Exit.STALLED
    said = (stage.daemon.state / "log" / "memoryd.log").read_text()
    assert '"event": "ready"' in said
    assert "event loop is stuck" in said
    assert "Thread 0x" in said
    assert "in block" in said
    stage.daemon.start()
    stage.converges()
