"""When the daemon looks for cyclic garbage, and how many heaps it has."""

import asyncio
import gc
import platform
import subprocess
import sys
from collections.abc import Iterator
from weakref import ref

import pytest

from memoryd.daemon import heartbeats
from tests.waiting import eventually_async


class Knot:
    """Holds itself, so that only a collection ends it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def restrained() -> Iterator[list[int]]:
    """The generations that were collected, in a process that is restrained as the daemon is."""
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


def test_work_starts_no_full_collection_but_those_of_young_objects(restrained: list[int]) -> None:
    held = [[number] for number in range(1_000_000)]
    assert len(held) == 1_000_000
    assert 0 in restrained
    assert 1 in restrained
    assert 2 not in restrained


async def test_old_garbage_goes_in_a_quiet_moment(restrained: list[int]) -> None:
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


async def test_garbage_of_the_start_goes_in_the_first_quiet_moment() -> None:
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


HEAPS_OF_EIGHT = """
import ctypes, threading
from memoryd.daemon import heartbeats
heartbeats.share_heaps()
libc, held = ctypes.CDLL(None), threading.Barrier(9)
libc.malloc.restype = ctypes.c_void_p
def work():
    libc.malloc(1000)
    held.wait()
for _ in range(8):
    threading.Thread(target=work).start()
held.wait()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have no heap for each thread")
def test_threads_share_heaps() -> None:
    run = subprocess.run([sys.executable, "-c", HEAPS_OF_EIGHT], capture_output=True, text=True, check=True)
    assert run.stdout.count("<heap ") == heartbeats.HEAPS
