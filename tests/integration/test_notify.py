"""Messages to the service manager, on a real datagram socket."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from memoryd.daemon.heartbeats import Notifier
from tests.waiting import eventually_async

INTERVAL = timedelta(milliseconds=400)


class Manager:
    """The other end of $NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.variable = address.replace("\0", "@")
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sock.bind(address)
        self._sock.setblocking(False)

    def messages(self) -> list[str]:
        found = []
        while True:
            try:
                found.append(self._sock.recv(4096).decode())
            except BlockingIOError:
                return found

    def close(self) -> None:
        self._sock.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "notify") if request.param == "path" else f"\0memoryd-test-{os.getpid()}"
    found = Manager(address)
    yield found
    found.close()


def notifier(manager: Manager, **variables: str) -> Notifier:
    return Notifier.from_environment({"NOTIFY_SOCKET": manager.variable} | variables)


def test_states_are_sent_in_the_protocol_format(manager: Manager) -> None:
    notify = notifier(manager)
    notify.status("scanning\n12 files")
    notify.ready("answering")
    before = time.monotonic_ns() // 1000
    notify.reloading()
    notify.ready()
    notify.stopping()
    scanning, ready, reloading, again, stopping = manager.messages()
    assert scanning == "STATUS=scanning 12 files"
    assert (ready, again, stopping) == ("READY=1\nSTATUS=answering", "READY=1", "STOPPING=1")
    name, _, stamp = reloading.partition("\nMONOTONIC_USEC=")
    assert name == "RELOADING=1"
    assert before <= int(stamp) <= time.monotonic_ns() // 1000


def test_variables_are_hidden_from_children(manager: Manager) -> None:
    environ = {"NOTIFY_SOCKET": manager.variable, "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "PATH": "/bin"}
    Notifier.from_environment(environ)
    assert environ == {"PATH": "/bin"}


async def test_pings_come_twice_per_interval_while_healthy(manager: Manager) -> None:
    notify = notifier(manager, WATCHDOG_USEC=str(INTERVAL // timedelta(microseconds=1)), WATCHDOG_PID=str(os.getpid()))
    messages: list[float] = []
    asked = 0
    is_healthy = True

    def check() -> bool:
        nonlocal asked
        asked += 1
        return is_healthy

    def listen(count: int) -> bool:
        for text in manager.messages():
            assert text == "WATCHDOG=1"
            messages.append(time.monotonic())
        return len(messages) >= count

    running = asyncio.create_task(notify.run_watchdog(check))
    await eventually_async(lambda: listen(4))
    gaps = sorted(later - earlier for earlier, later in pairwise(messages))
    assert gaps[len(gaps) // 2] <= INTERVAL.total_seconds() / 2
    is_healthy = False
    listen(0)
    known, asked_before = len(messages), asked
    await eventually_async(lambda: asked >= asked_before + 2)
    listen(0)
    assert len(messages) == known
    is_healthy = True
    await eventually_async(lambda: listen(known + 1))
    running.cancel()
    await asyncio.wait([running])


async def test_f124_blocked_loop_stops_the_pings(manager: Manager) -> None:
    """A blocked event loop sends no pings, and sends them again afterwards."""
    notify = notifier(manager, WATCHDOG_USEC="100000")
    running = asyncio.create_task(notify.run_watchdog(lambda: True))
    await eventually_async(lambda: bool(manager.messages()))
    manager.messages()
    time.sleep(0.3)  # noqa: ASYNC251  # the fault itself
    assert manager.messages() == []
    await eventually_async(lambda: bool(manager.messages()))
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "soon"},
        {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"},
    ],
)
async def test_watchdog_returns_when_not_requested(manager: Manager, variables: dict[str, str]) -> None:
    await notifier(manager, **variables).run_watchdog(lambda: True)
    assert manager.messages() == []


@pytest.mark.parametrize("address", [None, "", "relative/path", "/nowhere/at/all", "@memoryd-nobody", "/" + "x" * 200])
def test_absent_manager_is_ignored(address: str | None) -> None:
    environ = {} if address is None else {"NOTIFY_SOCKET": address}
    notify = Notifier.from_environment(environ)
    notify.ready()
    notify.status("still here")
    notify.stopping()
    assert environ == {}, "the variable is hidden from children"


def test_slow_manager_never_blocks(manager: Manager) -> None:
    notify = notifier(manager)
    for number in range(5000):
        notify.status(f"{number}")
    assert manager.messages()[0] == "STATUS=0"
