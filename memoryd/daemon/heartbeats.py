"""Supervision of the process: parts that must not hang, clocks, the garbage collector, and the service manager.

A separate thread checks the heartbeats, so that a blocked loop is detected too. Under a service manager with a watchdog
the pings stop while a part hangs, and the manager restarts the daemon (sd_notify(3), sd_watchdog_enabled(3)). Without
one the daemon ends itself. In both cases the stacks of all threads are written first.

Against native code that does not let any Python thread run there is a system timer. It counts the CPU time of the
process, and is reset as long as Python runs. When it expires, the stacks are written without Python's help, and the
process ends. A sleeping machine and a stopped process use no CPU time, so neither is mistaken for a hang.

A full garbage collection visits every object and blocks everything: for a second and more while a long note is cut into
a million parts. So during work only young objects are visited, which takes milliseconds, and all of them when idle.
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

from memoryd.daemon.log_output import open_to_append
from memoryd.domain.clock import (
    LOOP_SECONDS,
    Clocks,
    Heartbeat,
    HeartbeatChecker,
    HeartState,
    Jump,
    MonitoredPart,
    Pulse,
    jump,
)
from memoryd.wire import Exit

log = structlog.get_logger(__name__)

POOL = "memoryd"
"""The prefix of the names of the threads that databases, scans and reads share."""
PROCESSOR_SECONDS = 900.0
"""The CPU time, summed over all processors, after which the system ends the process."""
TICK_SECONDS = 1.0
DUMP_SECONDS = 10.0
"""Seconds that writing the stacks may take; then SIGALRM ends the process."""
MAX_TICKS = 2.0
"""A check that is later than this many ticks was late because nothing ran: a sleep, a stop, a crowded machine."""


class Heartbeats:
    """Checks the event loop and `parts`. `run` gives the heartbeats of the loop; `listening` runs the checking thread.

    With `ends_process` a hanging part ends the process with `Exit.STALLED`. The stacks of its threads are written to
    stderr, and to the end of the file that `dumps_to` returns. If not even the checking thread runs, because native
    code blocks all threads, the system ends the process after `processor_seconds` of CPU time.
    """

    def __init__(
        self,
        parts: Callable[[], Sequence[MonitoredPart]],
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
        self._loop = MonitoredPart("event loop", Pulse(), LOOP_SECONDS)
        self._parts: Sequence[MonitoredPart] = [self._loop]
        self._stethoscope = HeartbeatChecker()
        self.latest: Sequence[Heartbeat] = []
        """The states of the parts at the last check."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="heartbeats", daemon=True)

    @property
    def stalled(self) -> list[Heartbeat]:
        """The parts that hung at the last check."""
        return [heartbeat for heartbeat in self.latest if heartbeat.state is HeartState.STALLED]

    def are_well(self) -> bool:
        """Return whether no part hangs and the checking thread is alive."""
        return self._thread.is_alive() and not self.stalled

    async def run(self) -> None:
        """Give the heartbeats of the event loop until cancelled."""
        with self._loop.pulse.work():
            while True:
                # collected here, because the parts change only in the event loop
                self._parts = [self._loop, *self._parts_now()]
                self._loop.pulse.beat()
                await asyncio.sleep(self._tick_seconds)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Run the checking thread during the block."""
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
        checked_at = time.monotonic()
        while not self._over.wait(self._tick_seconds):
            if self._ends_process:
                # if this is not called again within that CPU time, SIGPROF ends the process, with its stacks on stderr
                signal.setitimer(signal.ITIMER_PROF, self._processor_seconds)
            now = time.monotonic()
            seconds, checked_at = min(now - checked_at, MAX_TICKS * self._tick_seconds), now
            were_stalled = bool(self.stalled)
            self.latest = self._stethoscope.check(self._parts, seconds)
            if self._ends_process and self.stalled:
                end_stalled(self.stalled, self._dumps_to())
            if self.stalled and not were_stalled:
                # the manager will end the process by a signal, whose handler can show only one thread
                with contextlib.suppress(OSError, ValueError):
                    _dump(_stderr(), [])
        if self._ends_process:
            signal.setitimer(signal.ITIMER_PROF, 0)


def end_stalled(stalled: Sequence[Heartbeat], file: Path | None) -> None:
    """Write the hanging parts and all stacks to stderr and to the end of a file, and end the process at once.

    Nothing is logged, since the hanging thread may hold a lock of the log.
    """
    # this may block as well, on a full pipe or an unresponsive disk; then the alarm ends the process
    signal.setitimer(signal.ITIMER_REAL, DUMP_SECONDS)
    lines = [
        f"memoryd: {part.name} is stuck: no sign of life for {part.silent_seconds:.0f} s; ending" for part in stalled
    ]
    with contextlib.suppress(OSError, ValueError):
        _dump(_stderr(), lines)
    if file is not None:
        with contextlib.suppress(OSError):
            _dump(open_to_append(file), lines)
    os._exit(Exit.STALLED)


def _stderr() -> int:
    return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2


def _dump(descriptor: int, lines: Sequence[str]) -> None:
    was_blocking = os.get_blocking(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        # the pipe may have no reader, and no other thread runs during the write
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
    """Sends states to $NOTIFY_SOCKET. Without it, or if no process listens there, every call does nothing."""

    def __init__(self, *, address: str | None, watchdog: timedelta | None = None) -> None:
        self._address = _socket_address(address)
        self._watchdog = watchdog

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self:
        """Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and remove them so that no child sees them."""
        address = environ.pop("NOTIFY_SOCKET", None)
        usec, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        is_for_us = not pid or pid == str(os.getpid())
        is_watched = is_for_us and usec.isdecimal() and int(usec) > 0
        return cls(address=address, watchdog=timedelta(microseconds=int(usec)) if is_watched else None)

    @property
    def has_watchdog(self) -> bool:
        """Whether the service manager restarts us when the pings stop."""
        return self._watchdog is not None and self._address is not None

    def ready(self, status: str = "") -> None:
        """Report that requests are answered; ends the start and every reload."""
        self._send("READY=1", *([_status_line(status)] if status else []))

    def status(self, text: str) -> None:
        """Set the status line that `systemctl status` shows."""
        self._send(_status_line(text))

    def reloading(self) -> None:
        """Report that the configuration is read again; `ready` must follow."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Report that the stop has begun."""
        self._send("STOPPING=1")

    async def run_start(self) -> None:
        """Extend the start time-out repeatedly, with a status, so that the manager does not end a long start."""
        while True:
            await asyncio.sleep(_START_STEP.total_seconds())
            self._send(
                f"EXTEND_TIMEOUT_USEC={3 * _START_STEP // timedelta(microseconds=1)}",
                _status_line("opening the indexes"),
            )

    async def run_watchdog(self, is_healthy: Callable[[], bool]) -> None:
        """Ping at 0.4 of the requested interval while `is_healthy()` is true; return at once without a watchdog.

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
"""On Linux a separate clock that continues during sleep; on macOS the monotonic clock does so."""


def read_clocks() -> Clocks:
    """Read the clocks of the system."""
    return Clocks(running=time.monotonic(), elapsed=time.clock_gettime(_ELAPSED), wall=time.time())


async def watch_clocks(
    on_jump: Callable[[Jump], None],
    *,
    read: Callable[[], Clocks] = read_clocks,
    pause_seconds: float = CLOCK_SECONDS,
) -> None:
    """Call `on_jump` whenever the clocks advanced by more than the pause between two readings, until cancelled."""
    before = read()
    while True:
        await asyncio.sleep(pause_seconds)
        after = read()
        clock_jump = jump(before, after, pause_seconds)
        before = after
        if clock_jump is not None:
            log.info("looking at everything anew", reason=clock_jump.reason)
            on_jump(clock_jump)


YOUNG, MIDDLE = 10_000, 4
"""The number of new objects between two collections of the youngest generation, and of these per older collection."""
NEVER = 10**9
COLLECTION_SECONDS, STEPS = 60.0, 12


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Disable the collector while modules are imported: nearly all objects that they create stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_objects() -> None:
    """Exclude all current objects from collections, and disable automatic full collections; nothing is collected."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


def collect_frozen() -> None:
    """Collect the excluded objects: the start leaves some garbage, and so do replaced parts."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


M_ARENA_MAX = -8
"""The constant of glibc's `malloc.h`."""


def share_heap() -> None:
    """Make all threads allocate from one heap instead of one half-empty heap each; call it before threads start.

    `MALLOC_ARENA_MAX` in the environment takes precedence.
    """
    with contextlib.suppress(OSError, AttributeError):
        if "MALLOC_ARENA_MAX" not in os.environ:
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory to the system; after a large note glibc would otherwise keep a hundred megabytes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def collect_when_quiet(is_busy: Callable[[], bool], pause: float = COLLECTION_SECONDS) -> None:
    """Run full collections at intervals of `pause` seconds, except during work.

    The memory that work has freed is returned to the system a twelfth of the pause after it.
    """
    collect: Callable[[], object] = collect_frozen
    was_busy = True
    for step in itertools.count(1):
        await asyncio.sleep(pause / STEPS)
        if is_busy():
            was_busy = True
            continue
        if is_due := step % STEPS == 0:
            collect()
            collect = gc.collect
        if is_due or was_busy:
            await asyncio.to_thread(give_back)
        was_busy = False
