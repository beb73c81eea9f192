"""Garbage collection in quiet moments, and the number of heaps."""

import asyncio
import ctypes
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import psutil
import pytest

from memoryd.daemon import heartbeats
from tests.waiting import eventually_async


class Knot:
    """An object that references itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def restrained() -> Iterator[list[int]]:
    """Yield the collected generations, in a process configured like the daemon."""
    before, seen = gc.get_threshold(), list[int]()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    heartbeats.freeze_objects()
    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.set_threshold(*before)
    gc.unfreeze()


def test_work_starts_only_young_collections(restrained: list[int]) -> None:
    held = [[number] for number in range(1_000_000)]
    assert len(held) == 1_000_000
    assert 0 in restrained
    assert 1 in restrained
    assert 2 not in restrained


async def test_old_garbage_is_collected_in_a_quiet_moment(restrained: list[int]) -> None:
    asked = []
    is_busy = True

    def tell() -> bool:
        asked.append(is_busy)
        return is_busy

    knot = Knot()
    gc.collect(1)
    end = ref(knot)
    del knot
    collecting = asyncio.create_task(heartbeats.collect_when_quiet(tell, pause=0.01))
    restrained.clear()
    await eventually_async(lambda: len(asked) >= 3)
    assert 2 not in restrained
    is_busy = False
    await eventually_async(lambda: end() is None)
    collecting.cancel()


async def test_garbage_of_startup_is_collected_when_quiet() -> None:
    knot = Knot()
    end = ref(knot)
    del knot
    before = gc.get_threshold()
    try:
        heartbeats.freeze_objects()
        gc.collect()
        assert end() is not None
        collecting = asyncio.create_task(heartbeats.collect_when_quiet(lambda: False, pause=0.01))
        await eventually_async(lambda: end() is None)
        collecting.cancel()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def test_freed_memory_is_returned_soon_after_work() -> None:
    left, process = [bytes(2_000) for _ in range(50_000)], psutil.Process()
    top = bytes(2_000)
    is_busy = True
    collecting = asyncio.create_task(heartbeats.collect_when_quiet(lambda: is_busy, pause=30.0))
    before = process.memory_info().rss
    left.clear()
    is_busy = False
    await eventually_async(lambda: process.memory_info().rss < before - 50 * 2**20, seconds=25)
    collecting.cancel()
    assert top


HEAPS = """
import ctypes, sys
from threading import Barrier, Thread
from memoryd.daemon.heartbeats import share_heap

share_heap()
libc, together = ctypes.CDLL(None), Barrier(4)
libc.fopen.restype = ctypes.c_void_p

def work():
    together.wait()
    for _ in range(1_000):
        bytearray(4_096)
    together.wait()

threads = [Thread(target=work) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
told = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, told)
libc.fclose(told)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="only glibc gives each thread a heap")
@pytest.mark.parametrize(("limit", "heaps"), [({}, {1}), ({"MALLOC_ARENA_MAX": "3"}, {2, 3})])
def test_threads_share_one_heap_unless_configured(limit: dict[str, str], heaps: set[int], tmp_path: Path) -> None:
    """Memory freed in the heap of one thread is not used by other threads."""
    report = tmp_path / "heaps.xml"
    others = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    subprocess.run([sys.executable, "-c", HEAPS, str(report)], check=True, env=others | limit)
    assert report.read_text().count("<heap nr=") in heaps
