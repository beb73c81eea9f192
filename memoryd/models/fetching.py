"""Parts of model downloads: request and timeouts, the lock across processes, progress, and the part file.

An unfinished download is NAME.part; NAME.part.json records which file it is a part of.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, json

from memoryd.errors import DownloadError
from memoryd.files.writing import replace_file


class DownloadRequest(Struct, frozen=True):
    """A file to fetch, its name for messages (`spec`), and what is known of its content."""

    spec: str
    url: str
    sha256: str | None = None
    size: int | None = None
    is_hub: bool = False
    """Whether it is on a model hub, which provides size and hash; a web page instead is a network's log-in page."""
    instead: str = ""
    """An alternative for the user if the server cannot be reached."""


class DownloadTimeouts(Struct, frozen=True):
    """How long to wait for a server, and between attempts that received nothing."""

    connect: timedelta = timedelta(seconds=10)
    read: timedelta = timedelta(seconds=30)
    pauses: Sequence[timedelta] = tuple(timedelta(seconds=seconds) for seconds in (1, 2, 4, 8))
    retry_after_max: timedelta = timedelta(seconds=60)


LOCK_POLL = timedelta(milliseconds=200)


@contextlib.asynccontextmanager
async def exclusive(lock: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the lock file, also against other stores of this process; call `on_wait` repeatedly while waiting for it."""
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(exclusive_now(lock))
                break
            except DownloadError:
                on_wait()
                await asyncio.sleep(LOCK_POLL.total_seconds())
        yield


@contextlib.contextmanager
def exclusive_now(lock: Path) -> Iterator[None]:
    """Hold the lock file; raises DownloadError if it is locked."""
    with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            hint = "wait for it, or stop the daemon first"
            raise DownloadError("the model is being fetched just now", hint=hint) from exc
        yield


REPORTS_PER_SECOND = 10


class Progress(Struct, frozen=True):
    """The progress of a step."""

    done_bytes: int
    total_bytes: int | None
    step: str
    """One or two words: waiting, connecting, downloading, checking, converting, ready."""
    trouble: str = ""
    """Why the last attempt failed, while it waits for another."""


Report = Callable[[Progress], None]


class Throttle(Struct):
    """Passes on the first and last report of each step, and at most ten a second in between."""

    report: Report
    clock: Callable[[], float] = time.monotonic
    _last_step: str = ""
    _next_at: float = 0.0

    def __call__(self, progress: Progress) -> None:
        is_last = progress.total_bytes is not None and progress.done_bytes >= progress.total_bytes
        now = self.clock()
        if progress.step == self._last_step and not is_last and now < self._next_at:
            return
        self._last_step = progress.step
        self._next_at = now + 1 / REPORTS_PER_SECOND
        self.report(progress)


class PartNote(Struct, frozen=True):
    """Which file, and which version of it, a part belongs to."""

    spec: str
    url: str
    validator: str
    """A strong ETag or a Last-Modified date for If-Range; empty if the server gave neither."""
    sha256: str | None
    size: int | None


class PartFile:
    """The beginning of `target`, stored beside it until it is complete."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    def bytes(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def note(self) -> PartNote | None:
        """Return which file the part belongs to; None if unknown, which makes it useless."""
        try:
            return json.decode(self._note.read_bytes(), type=PartNote)
        except (OSError, ValueError):
            return None

    def keep_note(self, note: PartNote) -> None:
        replace_file(self._note, json.encode(note))

    def open_at(self, start: int) -> BinaryIO:
        """Truncate the part to `start`, and return it opened for appending."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(descriptor, start)
        os.lseek(descriptor, start, os.SEEK_SET)
        return os.fdopen(descriptor, "wb", buffering=0)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def publish(self) -> None:
        """Move the part to the target; its bytes are synced to the disk before."""
        with self.path.open("rb") as stream:
            os.fsync(stream.fileno())
        self.path.replace(self.target)
        self._note.unlink(missing_ok=True)


MAX_RETRY_AFTER = 86_400.0


def seconds_until(retry_after: str, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header (RFC 9110 section 10.2.3), also for a date; None if it is invalid."""
    text = retry_after.strip()
    if re.fullmatch(r"[0-9]{1,99}(\.[0-9]+)?", text):
        # some servers send a Unix time: a number of more than 30 years is one
        wait = float(text) - (now.timestamp() if float(text) > 1e9 else 0.0)
        return min(max(0.0, wait), MAX_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    wait = (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds()
    return min(max(0.0, wait), MAX_RETRY_AFTER)
