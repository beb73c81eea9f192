"""Programs of ours behind strace, forked like the others: strace is there before the program does anything.

Executed behind strace, Python would be traced while it reads some thousand modules, and read them again for each kill.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import eventually
from tests.warm.programs import Forked, can_be_forked, started

UNLIKE = {"-D", "-qq"}
"""Options that are of no use to a strace that is told a process: it says on its standard error that it is there."""
STEP = 0.05
"""How often it is looked whether a program has ended, in seconds."""


class Traced(Forked):
    """A child of the nursery that is held until strace has it."""

    is_held = True


def traced(prefix: Sequence[str], args: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a program behind `prefix`, which may be empty; it is forked if that is a strace, and the program ours."""
    if not prefix or prefix[0] != "strace" or not can_be_forked(args, options):
        return started([*prefix, *args], **options)
    process = Traced(args, **options)
    told = psutil.Process(process.pid)
    eventually(lambda: told.status() == psutil.STATUS_STOPPED, step=0.005)
    command = [part for part in prefix if part not in UNLIKE] + ["-p", str(process.pid)]
    tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert tracer.stderr is not None
    line = tracer.stderr.readline()
    assert b"attached" in line, line
    threading.Thread(target=_follow, args=(tracer, told), daemon=True).start()
    os.kill(process.pid, signal.SIGCONT)
    return process


def _follow(tracer: subprocess.Popen[bytes], told: psutil.Process) -> None:
    """End strace with its program: it may wait for ever for the threads of one that it killed."""
    with tracer:
        while tracer.poll() is None:
            if not told.is_running() or told.status() == psutil.STATUS_ZOMBIE:
                tracer.kill()
            time.sleep(STEP)
