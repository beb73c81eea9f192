"""Python's collector of cyclic garbage, kept from holding up the daemon in the middle of its work.

A full collection visits every object and lets nothing else run: a second and more while a long note is cut into a
million parts. So at work only young objects are visited, which takes milliseconds, and all of them in quiet moments.
"""

import asyncio
import gc
from collections.abc import Callable

YOUNG, MIDDLE = 10_000, 4
"""New objects between two collections of the youngest, and how many of these before the next generation's."""
NEVER = 10**9
PAUSE_SECONDS = 60.0


def restrain() -> None:
    """Leave out for good what lives since the start, and the full collections that start by themselves."""
    # what was left out before may be garbage by now, where parts were exchanged
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


async def collect_when_quiet(is_busy: Callable[[], bool], pause: float = PAUSE_SECONDS) -> None:
    """Visit everything again and again, after a pause in seconds, unless somebody works."""
    while True:
        await asyncio.sleep(pause)
        if not is_busy():
            gc.collect()
