"""Keeping watch over the process: what must never be stuck, the clocks, the garbage collector, the service manager.

A thread of its own listens to the hearts, so that a blocked loop is noticed too. Under a service manager with a
watchdog the pings stop while a part is stuck, and it restarts the daemon (sd_notify(3), sd_watchdog_enabled(3)).
Without one the daemon ends itself. In both cases it has written before what every thread was doing.

Against code outside of Python that lets no thread of Python run there is a timer of the system. It counts the time of
processors that the process takes, and is wound up anew as long as Python runs. At its end the stacks are written
without Python's help, and the process ends. A machine that sleeps and a process that was stopped take no such time, so
neither is mistaken for one that is stuck.

A full garbage collection visits every object and lets nothing else run: a second and more while a long note is cut into
a million parts. So at work only young objects are visited, which takes milliseconds, and all of them in quiet moments.
"""

import asyncio
import contextlib
import ctypes
import faulthandler
import gc
import itertools
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

import structlog

from memoryd.daemon.log_output import opened_to_append
from memoryd.domain.clock import LOOP_SECONDS, Clocks, Heartbeat, HeartState, Jump, LivingPart, Pulse, Stethoscope, jump
from memoryd.wire import Exit

log = structlog.get_logger(__name__)

POOL = "memoryd"
"""How the names of the threads begin that databases, scans and reads share."""
PROCESSOR_SECONDS = 900.0
"""Work of all processors together, before the system ends the process."""
TICK_SECONDS = 1.0
DUMP_SECONDS = 10.0
"""How long the last words may take; the process ends by SIGALRM then."""
MAX_TICKS = 2.0
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
        processor_seconds: float = PROCESSOR_SECONDS,
    ) -> None:
        self._parts_now = parts
        self._ends_process = ends_process
        self._dumps_to = dumps_to
        self._tick_seconds = tick_seconds
        self._processor_seconds = processor_seconds
        self._loop = LivingPart("event loop", Pulse(), LOOP_SECONDS)
        self._parts: Sequence[LivingPart] = [self._loop]
        self._stethoscope = Stethoscope()
        self.heard: Sequence[Heartbeat] = []
        """How the parts did at the last look."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="heartbeats", daemon=True)

    @property
    def stalled(self) -> list[Heartbeat]:
        """The parts that are stuck, as of the last look."""
        return [one for one in self.heard if one.state is HeartState.STALLED]

    def are_well(self) -> bool:
        """Tell whether no part is stuck, and the thread listens."""
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
        if self._ends_process and sys.__stderr__ is not None:
            # the stacks, before the signal of the limit ends the process
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                faulthandler.register(signal.SIGPROF, file=sys.__stderr__, all_threads=True, chain=True)
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()

    def _listen(self) -> None:
        looked = time.monotonic()
        while not self._over.wait(self._tick_seconds):
            if self._ends_process:
                # without another call in so much work the process ends by SIGPROF, with its stacks on stderr
                signal.setitimer(signal.ITIMER_PROF, self._processor_seconds)
            now = time.monotonic()
            seconds, looked = min(now - looked, MAX_TICKS * self._tick_seconds), now
            were_stalled = bool(self.stalled)
            self.heard = self._stethoscope.listen(self._parts, seconds)
            if self._ends_process and self.stalled:
                end_stalled(self.stalled, self._dumps_to())
            if self.stalled and not were_stalled:
                # the manager will end us by a signal, at which one thread alone can be shown
                with contextlib.suppress(OSError, ValueError):
                    _dump(_stderr(), [])
        if self._ends_process:
            signal.setitimer(signal.ITIMER_PROF, 0)


def end_stalled(stalled: Sequence[Heartbeat], file: Path | None) -> None:
    """Write who is stuck and what every thread does to stderr and to the end of a file, and end the process at once.

    Nothing is logged: the thread that is stuck may hold a lock of the log.
    """
    # the part may be stuck at a full pipe or a disk that hangs, as this may then be; then the system ends us
    signal.setitimer(signal.ITIMER_REAL, DUMP_SECONDS)
    lines = [f"memoryd: {one.name} is stuck: no sign of life for {one.silent_seconds:.0f} s; ending" for one in stalled]
    with contextlib.suppress(OSError, ValueError):
        _dump(_stderr(), lines)
    if file is not None:
        with contextlib.suppress(OSError):
            _dump(opened_to_append(file), lines)
    os._exit(Exit.STALLED)


def _stderr() -> int:
    return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2


def _dump(descriptor: int, lines: Sequence[str]) -> None:
    was_blocking = os.get_blocking(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        # nobody may read what a pipe holds, and no thread runs meanwhile
        os.set_blocking(descriptor, False)
    try:
        os.write(descriptor, "\n".join([*lines, ""]).encode())
        faulthandler.dump_traceback(descriptor, all_threads=True)
    finally:
        os.set_blocking(descriptor, was_blocking)


_START_STEP = timedelta(seconds=10)
_PING_SHARE = 0.4  # a little under half, so that a late timer still pings within half the interval
_CLOEXEC = getattr(socket, "SOCK_CLOEXEC", 0)


class Notifier:
    """Sends state to $NOTIFY_SOCKET; without one, or when no process listens there, every call does nothing."""

    def __init__(self, *, address: str | None, watchdog: timedelta | None = None) -> None:
        self._address = _socket_address(address)
        self._watchdog = watchdog

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self:
        """Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and take them out so that no child sees them."""
        address = environ.pop("NOTIFY_SOCKET", None)
        usec, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        is_for_us = not pid or pid == str(os.getpid())
        wanted = is_for_us and usec.isdecimal() and int(usec) > 0
        return cls(address=address, watchdog=timedelta(microseconds=int(usec)) if wanted else None)

    @property
    def has_watchdog(self) -> bool:
        """Whether the service manager restarts us when the pings stop."""
        return self._watchdog is not None and self._address is not None

    def ready(self, status: str = "") -> None:
        """Say that requests are answered; ends the start and every reload."""
        self._send("READY=1", *([_status_line(status)] if status else []))

    def status(self, text: str) -> None:
        """Set the one line that `systemctl status` shows."""
        self._send(_status_line(text))

    def reloading(self) -> None:
        """Say that the configuration is read again; `ready` must follow."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Say that the stop has begun."""
        self._send("STOPPING=1")

    async def run_start(self) -> None:
        """Say again and again what a long start is busy with, so that the service manager does not end it."""
        while True:
            await asyncio.sleep(_START_STEP.total_seconds())
            self._send(
                f"EXTEND_TIMEOUT_USEC={3 * _START_STEP // timedelta(microseconds=1)}",
                _status_line("opening the indexes"),
            )

    async def run_watchdog(self, is_healthy: Callable[[], bool]) -> None:
        """Ping while `is_healthy()` holds, at 0.4 of the interval asked for; return at once if none was.

        It runs on the event loop, so a blocked loop stops the pings, and the service manager restarts the daemon.
        """
        if self._watchdog is None or not self.has_watchdog:
            return
        while True:
            if is_healthy():
                self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog.total_seconds() * _PING_SHARE)

    def _send(self, *lines: str) -> None:
        if self._address is None:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | _CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(errors="replace"), self._address)


def _socket_address(text: str | None) -> str | None:
    """Return the address to send to: a path, or `@name` of the abstract namespace; None for anything else."""
    if text and text.startswith("@"):
        return "\0" + text[1:]
    return text if text and text.startswith("/") else None


def _status_line(text: str) -> str:
    return "STATUS=" + " ".join(text.split())


CLOCK_SECONDS = 2.0
_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Linux has a clock of its own that goes on in sleep; on macOS the plain monotonic one of the system does."""


def read_clocks() -> Clocks:
    """Read the clocks of the system."""
    return Clocks(running=time.monotonic(), elapsed=time.clock_gettime(_ELAPSED), wall=time.time())


async def watch_clocks(
    on_jump: Callable[[Jump], None],
    *,
    read: Callable[[], Clocks] = read_clocks,
    pause_seconds: float = CLOCK_SECONDS,
) -> None:
    """Call `on_jump` whenever more lies between two readings of the clocks than the pause, until cancelled."""
    before = read()
    while True:
        await asyncio.sleep(pause_seconds)
        after = read()
        found = jump(before, after, pause_seconds)
        before = after
        if found is not None:
            log.info("looking at everything anew", reason=found.reason)
            on_jump(found)


YOUNG, MIDDLE = 10_000, 4
"""New objects between two collections of the youngest, and how many of these before the next generation's."""
NEVER = 10**9
COLLECTION_SECONDS, STEPS = 60.0, 12


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Have nothing looked at while modules are read: nearly all that they make stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_objects() -> None:
    """Leave out what lives by now, and the full collections that start by themselves; nothing is looked at."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


def collect_frozen() -> None:
    """Look at what was left out: the start leaves some garbage, and so do parts that are exchanged."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


M_ARENA_MAX = -8
"""Of glibc's `malloc.h`."""


def share_heap() -> None:
    """Have all threads take memory from one heap, of which each would have its own, half empty; before any begins.

    `MALLOC_ARENA_MAX` in the environment says otherwise.
    """
    with contextlib.suppress(OSError, AttributeError):
        if "MALLOC_ARENA_MAX" not in os.environ:
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Give the memory that is free by now to the system: of a large note glibc keeps a hundred megabytes else."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def collect_when_quiet(is_busy: Callable[[], bool], pause: float = COLLECTION_SECONDS) -> None:
    """Visit everything again and again, after a pause in seconds, unless work is going on.

    What work leaves free is given back a twelfth of the pause after it.
    """
    look: Callable[[], object] = collect_frozen
    was_busy = True
    for step in itertools.count(1):
        await asyncio.sleep(pause / STEPS)
        if is_busy():
            was_busy = True
            continue
        if is_due := step % STEPS == 0:
            look()
            look = gc.collect
        if is_due or was_busy:
            await asyncio.to_thread(give_back)
        was_busy = False
