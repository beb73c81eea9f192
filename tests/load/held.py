"""What the daemon holds over time: memory, descriptors, threads; and whether it grows."""

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
"""Main thread, heartbeats, and all that the pool of the indexes and that of asyncio ever start, none of which ends.

How many of them are started when a crowd has left depends on how many it needed at once.
"""


def most(piece: str, before: int) -> int:
    """Return how many a daemon may hold in the end that held `before` after its first work."""
    return before + MORE_DESCRIPTORS if piece == "descriptors" else max(before, POOLED_THREADS)


@dataclass(frozen=True, slots=True)
class Held:
    """One look at a process; `at` in monotonic seconds, memory in MiB, processor time in seconds."""

    at: float
    resident: float
    descriptors: int
    threads: int
    cpu: float


def held_by(pid: int) -> Held:
    """Look at a process."""
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
    """Look every `step` seconds."""
    while True:
        samples.append(held_by(pid))
        await asyncio.sleep(step)


def slope_a_minute(at: Sequence[float], values: Sequence[float]) -> float:
    """Return by how much the values grow in a minute, by least squares; 0 of fewer than three."""
    if len(at) < 3:
        return 0.0
    return float(np.polyfit(np.array(at) - at[0], np.array(values), 1)[0]) * 60
