"""What a download is asked for: which file, and how long to wait for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A file to fetch, what people call it, and what is known of its content."""

    spec: str
    url: str
    sha256: str | None = None
    size: int | None = None
    is_hub: bool = False
    """A model hub tells size and hash beforehand; a web page in its place is some network's log-in page."""


@dataclass(frozen=True, slots=True)
class DownloadTimeouts:
    """How long to wait for a server, and between attempts that gained nothing."""

    connect: timedelta = timedelta(seconds=10)
    read: timedelta = timedelta(seconds=30)
    pauses: Sequence[timedelta] = tuple(timedelta(seconds=seconds) for seconds in (1, 2, 4, 8))
    retry_after_max: timedelta = timedelta(seconds=60)
