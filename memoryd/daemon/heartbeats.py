"""Whether all that must never be stuck gets on: the event loop, whoever writes a file, and whoever follows the notes.

A thread of its own listens, so that a blocked loop is noticed too. Under a service manager with a watchdog the pings
stop while a part is stuck, and it restarts the daemon. Without one the daemon ends itself, after it has written what
every thread was doing; whoever started it starts it again.
"""

import asyncio
import contextlib
import faulthandler
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from memoryd.daemon import processor_limit
from memoryd.daemon.log_file import opened_to_append
from memoryd.domain.heartbeats import LOOP_SECONDS, Heartbeat, HeartState, LivingPart, Pulse, Stethoscope
from memoryd.wire import Exit

TICK_SECONDS: Final = 1.0
DUMP_SECONDS: Final = 10.0
"""How long the last words may take; the process ends by SIGALRM then."""
MOST_TICKS: Final = 2.0
"""A look that comes later than so many ticks came late because nothing ran: a sleep, a stop, a crowded machine."""


class Heartbeats:
    """Listens to the event loop and to `parts`; `run` is the sign of life of the loop, `listening` frames its thread.

    With `ends_process` a part that is stuck ends the process, with `Exit.STALLED`; the stacks of its threads go to
    stderr, and to the end of the file that `dumps_to` names. If not even this thread runs, because code outside of
    Python lets none, the system ends it after `processor_seconds` of work.
    """

    def __init__(
        self,
        parts: Callable[[], Sequence[LivingPart]],
        *,
        ends_process: bool,
        dumps_to: Callable[[], Path | None] = lambda: None,
        tick_seconds: float = TICK_SECONDS,
        processor_seconds: float = processor_limit.SECONDS,
    ) -> None:
        self._parts_now = parts
        self._ends_process = ends_process
        self._dumps_to = dumps_to
        self._tick_seconds = tick_seconds
        self._processor_seconds = processor_seconds
        self._loop = LivingPart("event loop", Pulse(), LOOP_SECONDS)
        self._parts: Sequence[LivingPart] = [self._loop]
        self._stethoscope = Stethoscope()
        self._heard: Sequence[Heartbeat] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="heartbeats", daemon=True)

    @property
    def heard(self) -> Sequence[Heartbeat]:
        """How the parts did at the last look."""
        return self._heard

    @property
    def stalled(self) -> list[Heartbeat]:
        """The parts that are stuck, as of the last look."""
        return [one for one in self._heard if one.state is HeartState.STALLED]

    def are_well(self) -> bool:
        """Tell whether no part is stuck, and somebody listens."""
        return self._thread.is_alive() and not self.stalled

    async def run(self) -> None:
        """Give the signs of the event loop until cancelled."""
        with self._loop.pulse.work():
            while True:
                # gathered here, because the parts change in the loop alone
                self._parts = [self._loop, *self._parts_now()]
                self._loop.pulse.beat()
                await asyncio.sleep(self._tick_seconds)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen in the block."""
        if self._ends_process:
            processor_limit.prepare()
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()

    def _listen(self) -> None:
        looked = time.monotonic()
        while not self._over.wait(self._tick_seconds):
            if self._ends_process:
                processor_limit.watch(self._processor_seconds)
            now = time.monotonic()
            seconds, looked = min(now - looked, MOST_TICKS * self._tick_seconds), now
            self._heard = self._stethoscope.listen(self._parts, seconds)
            if self._ends_process and self.stalled:
                end_stalled(self.stalled, self._dumps_to())
        if self._ends_process:
            processor_limit.end()


def end_stalled(stalled: Sequence[Heartbeat], file: Path | None) -> None:
    """Write who is stuck and what every thread does to stderr and to the end of a file, and end the process at once.

    Nothing is logged: the thread that is stuck may hold a lock of the log.
    """
    # a pipe that nobody empties, or a disk that hangs, may be what the part is stuck at; then the system ends us
    signal.setitimer(signal.ITIMER_REAL, DUMP_SECONDS)
    lines = [f"memoryd: {one.name} is stuck: no sign of life for {one.silent_seconds:.0f} s; ending" for one in stalled]
    with contextlib.suppress(OSError, ValueError):
        _dump(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, lines)
    if file is not None:
        with contextlib.suppress(OSError):
            _dump(opened_to_append(file), lines)
    os._exit(Exit.STALLED)


def _dump(descriptor: int, lines: Sequence[str]) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, False)
    os.write(descriptor, "\n".join([*lines, ""]).encode())
    faulthandler.dump_traceback(descriptor, all_threads=True)
