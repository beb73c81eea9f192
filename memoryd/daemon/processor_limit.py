"""The last resort against code outside of Python that spins and lets no thread of Python run, not even one that judges.

A timer of the system counts the time of processors that the process takes, and is wound up anew as long as Python runs.
At its end the stacks are written without Python's help, and the process ends. A machine that sleeps and a process that
was stopped take no such time, so neither is mistaken for one that is stuck.
"""

import contextlib
import faulthandler
import signal
import sys
from typing import Final

SECONDS: Final = 900.0
"""Of all processors together."""


def watch(seconds: float = SECONDS) -> None:
    """Have the process end by SIGPROF, with its stacks on stderr, once it takes so long without another call."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def prepare() -> None:
    """Have the stacks be written at that signal, before it ends the process; the main thread's."""
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            faulthandler.register(signal.SIGPROF, file=sys.__stderr__, all_threads=True, chain=True)


def end() -> None:
    """Watch no more."""
    signal.setitimer(signal.ITIMER_PROF, 0)
