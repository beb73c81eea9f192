"""Clocks and order statistics."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

import numpy as np


class ProcessorWatch:
    """Seconds of processor time since it was made: of this process, or of another one, of which `used` tells.

    Unlike the clock, it hardly depends on what else the machine does.
    """

    def __init__(self, used: Callable[[], float] = time.process_time) -> None:
        self._used = used
        self._start = used()

    @property
    def seconds(self) -> float:
        return self._used() - self._start


class Stopwatch:
    """Seconds since it was made, or until it was stopped."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._end: float | None = None

    def stop(self) -> None:
        """Keep the time as it is now."""
        self._end = time.perf_counter()

    @property
    def seconds(self) -> float:
        return (self._end or time.perf_counter()) - self._start

    @property
    def ms(self) -> float:
        return self.seconds * 1000


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """Yield a stopwatch that stops with the block."""
    watch = Stopwatch()
    yield watch
    watch.stop()


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return float(np.median(values))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` per cent of the values do not exceed."""
    return float(np.percentile(values, share))


def poll(condition: Callable[[], object], *, seconds: float, step: float = 0.005) -> None:
    """Wait until `condition` holds; raises TimeoutError after `seconds`."""
    watch = Stopwatch()
    while not condition():
        if watch.seconds > seconds:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(step)


@contextmanager
def sampled(take: Callable[[], float], *, step: float) -> Iterator[list[float]]:
    """Take a sample every `step` seconds in a thread for as long as the block lasts, and once at its end."""
    samples: list[float] = []
    over = Event()

    def run() -> None:
        while not over.wait(step):
            samples.append(take())
        samples.append(take())

    thread = Thread(target=run)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
