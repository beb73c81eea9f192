"""The last resort: a process whose Python threads are all blocked ends, and one that is only busy does not."""

import signal
import subprocess
import sys

from memoryd.wire import Exit

LISTENING = """
import re, sys, time
from memoryd.daemon.heartbeats import Heartbeats
beats = Heartbeats(lambda: [], ends_process=True, tick_seconds=0.05, processor_seconds=1.0)
def spin():
    if sys.argv[1] == "native":
        re.match("(a+)+$", "a" * 60 + "b")
    while time.process_time() < 2:
        pass
with beats.listening():
    time.sleep(0.3)
    spin()
print("over")
"""


def run(how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LISTENING, how], capture_output=True, text=True, check=False, timeout=120
    )


def test_native_code_that_blocks_all_threads_ends_the_process() -> None:
    done = run("native")
    assert done.returncode == -signal.SIGPROF
    assert "in spin" in done.stderr


def test_busy_python_code_does_not_end_the_process() -> None:
    done = run("python")
    assert (done.returncode, done.stdout) == (0, "over\n")


FULL_PIPE = """
import os
reader, writer = os.pipe()
os.set_blocking(writer, False)
try:
    while True:
        os.write(writer, b"x" * 4096)
except BlockingIOError:
    os.set_blocking(writer, True)
os.dup2(writer, 2)
"""
"""Put before a program: its standard error is full."""
STUCK_AT_A_PIPE = """
from memoryd.daemon.heartbeats import end_stalled
from memoryd.domain.clock import Heartbeat, HeartState
end_stalled([Heartbeat("event loop", HeartState.STALLED, 61.0, 60.0)], None)
"""


def test_full_stderr_does_not_keep_a_stalled_process_alive() -> None:
    done = subprocess.run([sys.executable, "-c", FULL_PIPE + STUCK_AT_A_PIPE], check=False, timeout=120)
    assert done.returncode == Exit.STALLED


STALLS_BESIDE_A_FULL_PIPE = """
import asyncio
from memoryd.daemon.heartbeats import Heartbeats, MonitoredPart
from memoryd.domain.clock import Pulse
stuck = Pulse()
beats = Heartbeats(lambda: [MonitoredPart("index", stuck, 0.2)], ends_process=False, tick_seconds=0.05)
async def work():
    beating = asyncio.create_task(beats.run())
    while not beats.stalled:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)  # the fault itself: longer than printing the stacks takes
    beating.cancel()
with stuck.work(), beats.listening():
    asyncio.run(work())
print("went on", os.get_blocking(2))
"""


def test_full_stderr_does_not_block_stacks_of_a_stalled_part() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_PIPE + STALLS_BESIDE_A_FULL_PIPE],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "went on True\n")
