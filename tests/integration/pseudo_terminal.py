"""Runs memoryctl on a pseudo-terminal, as a person would see it."""

import os
import pty
import select
import signal
import sys
import time

from tests.waiting import SECONDS
from tests.warm.programs import started

PROGRAM = (sys.executable, "-c", "from memoryd.cli.main import main; main()")
QUIET_SECONDS = 3


def on_terminal(*arguments: str, typed: str = "", interrupt_at: str = "", **environment: str) -> tuple[int, str]:
    """Return exit code and output; `typed` is its input, Ctrl-C is sent when `interrupt_at` was printed."""
    ours, theirs = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    child = started([*PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables)
    os.close(theirs)
    os.write(ours, typed.encode())
    seen, is_interrupted = b"", False
    end = time.monotonic() + SECONDS
    while (left := end - time.monotonic()) > 0:
        if not select.select([ours], [], [], min(left, QUIET_SECONDS))[0]:
            if is_interrupted:
                # again: a signal between a prompt and the wait for a key takes effect only with the next key
                child.send_signal(signal.SIGINT)
            continue
        try:
            seen += os.read(ours, 65536)
        except OSError:  # Linux reports EIO when the last writer has left
            break
        if interrupt_at and interrupt_at.encode() in seen:
            child.send_signal(signal.SIGINT)
            interrupt_at, is_interrupted = "", True
    os.close(ours)
    if time.monotonic() > end:
        child.kill()
    return child.wait(SECONDS), seen.decode().replace("\r\n", "\n")
