"""The daemon's memory, descriptors and threads over time, and whether they grow."""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import psutil

from bench.stage import MIB
from memoryd.daemon.reloading import THREADS

PIECES = "descriptors", "threads"
MORE_DESCRIPTORS = 3
POOLED_THREADS = 2 + THREADS + min(32, (os.cpu_count() or 1) + 4)
"""Main thread, heartbeats, and the maximum of the pools of the indexes and of asyncio, whose threads never end.

How many of them run after a crowd depends on how many it needed at once.
"""


def most(piece: str, before: int) -> int:
    """Return how many a daemon may have in the end that had `before` after its first work."""
    return before + MORE_DESCRIPTORS if piece == "descriptors" else max(before, POOLED_THREADS)


@dataclass(frozen=True, slots=True)
class Held:
    """A sample of a process; `at` in monotonic seconds, memory in MiB, processor time in seconds."""

    at: float
    resident: float
    descriptors: int
    threads: int
    cpu: float


def held_by(pid: int) -> Held:
    """Take a sample of a process."""
    process = psutil.Process(pid)
    with process.oneshot():
        times = process.cpu_times()
        return Held(
            time.monotonic(),
            process.memory_info().rss / MIB,
            process.num_fds(),
            process.num_threads(),
            times.user + times.system,
        )


async def sampling(pid: int, step: float, samples: list[Held]) -> None:
    """Take a sample every `step` seconds."""
    while True:
        samples.append(held_by(pid))
        await asyncio.sleep(step)


def slope_a_minute(at: Sequence[float], values: Sequence[float]) -> float:
    """Return the growth of the values per minute, by least squares; 0 for fewer than three."""
    if len(at) < 3:
        return 0.0
    return float(np.polyfit(np.array(at) - at[0], np.array(values), 1)[0]) * 60
