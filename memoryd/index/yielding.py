"""Letting other threads run while one works for long.

Python takes the interpreter from a busy thread after 5 ms. But NumPy lets it go by itself all the time, for moments
too short for another thread to wake up in, and each of them puts those 5 ms off: the event loop would wait for half a
second and more. A pause that is long enough to wake up in, every few milliseconds, costs a hundredth of the work.
"""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

WORK_SECONDS, PAUSE_SECONDS = 0.005, 0.000_1


def with_pauses(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, with pauses."""
    begun = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - begun > WORK_SECONDS:
            time.sleep(PAUSE_SECONDS)
            begun = time.monotonic()
