"""The lock file of a model: one at a time fetches or removes it, over all processes."""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from memoryd.errors import DownloadError

LOCK_POLL: Final = timedelta(milliseconds=200)


@contextlib.asynccontextmanager
async def exclusive(lock: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the lock file against other processes and other stores of this one; calls `on_wait` as long as it waits."""
    with _open_lock(lock) as descriptor:
        while not _try_lock(descriptor):
            on_wait()
            await asyncio.sleep(LOCK_POLL.total_seconds())
        yield


@contextlib.contextmanager
def exclusive_now(lock: Path) -> Iterator[None]:
    """Hold the lock file, or raise DownloadError if somebody else does."""
    with _open_lock(lock) as descriptor:
        if not _try_lock(descriptor):
            raise DownloadError("the model is being fetched just now", hint="wait for it, or stop the daemon first")
        yield


@contextlib.contextmanager
def _open_lock(lock: Path) -> Iterator[int]:
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
