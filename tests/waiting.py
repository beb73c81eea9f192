"""Wait for a condition, never for a duration: in a thread, and in an event loop.

A limit says when a wait has failed, not how fast something must be: it costs nothing where the condition holds, so it
is far beyond what a machine with other things to do may miss. A condition does not hold while a file that it lists goes
before it is read.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator

SECONDS = 90.0
LINEAR_SECONDS = 20.0
"""Of a processor: far beyond what one look through a long text takes, and below what a look for each letter does."""
STEPS = 0.01, 0.4
"""Seconds between two looks: the fewest and the most."""


def eventually(condition: Callable[[], object], *, seconds: float = SECONDS, step: float | None = None) -> None:
    """Wait until `condition` holds; fail after `seconds`.

    It looks every `step` seconds. Without one it looks often at first, and less often the longer it takes: a look
    costs milliseconds of a processor that what is waited for may need.
    """
    start = time.monotonic()
    while True:
        with contextlib.suppress(FileNotFoundError):
            if condition():
                return
        waited = time.monotonic() - start
        if waited > seconds:
            raise AssertionError(f"not within {seconds:g} s: {condition}")
        time.sleep(step or _pause(waited))


def _pause(waited: float) -> float:
    return min(max(STEPS[0], waited / 8), STEPS[1])


@contextlib.contextmanager
def soon(seconds: float = LINEAR_SECONDS) -> Iterator[None]:
    """Fail where what is done within takes this process longer, whatever else the machine does."""
    began = time.process_time()
    yield
    assert (took := time.process_time() - began) < seconds, f"{took:.1f} s"


async def eventually_async(
    condition: Callable[[], object | Awaitable[object]], *, seconds: float = SECONDS, step: float | None = None
) -> None:
    """Wait likewise and let the event loop go on; what `condition` returns is awaited if it can be."""
    start = time.monotonic()
    while True:
        with contextlib.suppress(FileNotFoundError):
            found = condition()
            if await found if isinstance(found, Awaitable) else found:
                return
        waited = time.monotonic() - start
        if waited > seconds:
            raise AssertionError(f"not within {seconds:g} s: {condition}")
        await asyncio.sleep(step or _pause(waited))
