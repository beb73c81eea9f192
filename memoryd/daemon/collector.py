"""Python's collector of cyclic garbage, kept from holding up the daemon in the middle of its work.

A full collection visits every object and lets nothing else run: a second and more while a long note is cut into a
million parts. So at work only young objects are visited, which takes milliseconds, and all of them in quiet moments.
"""

import asyncio
import contextlib
import gc
from collections.abc import Callable, Iterator

YOUNG, MIDDLE = 10_000, 4
"""New objects between two collections of the youngest, and how many of these before the next generation's."""
NEVER = 10**9
PAUSE_SECONDS = 60.0


@contextlib.contextmanager
def left_alone() -> Iterator[None]:
    """Have nothing looked at while modules are read: nearly all that they make stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def restrain() -> None:
    """Leave out what lives by now, and the full collections that start by themselves; nothing is looked at."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


def sift() -> None:
    """Look at what was left out: the start leaves some garbage, and so do parts that are exchanged."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


async def collect_when_quiet(is_busy: Callable[[], bool], pause: float = PAUSE_SECONDS) -> None:
    """Visit everything again and again, after a pause in seconds, unless somebody works."""
    look: Callable[[], object] = sift
    while True:
        await asyncio.sleep(pause)
        if not is_busy():
            look()
            look = gc.collect
