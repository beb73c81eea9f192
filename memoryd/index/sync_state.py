"""What the index parts tell the outside: numbers for status, and news for whoever listens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memoryd.domain.documents import SkippedFile
from memoryd.files.ignore import Hold
from memoryd.files.scanner import RootReport, Scan
from memoryd.wire import Event

Publish = Callable[[Event, Mapping[str, object]], None]
"""Hands a piece of news on; never blocks."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Most files went at once: `files` of them, and `left` stayed."""

    at: datetime
    files: int
    left: int


@dataclass(frozen=True, slots=True)
class SyncState:
    """How near the index of one workspace is to its disk."""

    pending_files: int = 0
    is_dirty: bool = True
    generation: int = 0
    """Counts the changes that were committed since the start."""
    last_scan_at: datetime | None = None
    last_sync_at: datetime | None = None
    roots: tuple[RootReport, ...] = ()
    skipped: tuple[SkippedFile, ...] = field(default=())
    remote: str = ""
    """Why scans alone tell what changes: other machines write to the disk. Empty if they do not."""
    mass_removal: Removal | None = None
    """The last one since the start."""
    trouble: str | None = None
    """Why the last sync could not finish."""
    hold: Hold | None = None
    """Why nothing new may be indexed or embedded now, since nobody can say what is private."""
    notice: str = ""
    """What the owner is to know of the privacy rules though nothing is held up."""


@dataclass(frozen=True, slots=True)
class IndexEvents:
    """Whom the indexer tells what. All are called in its event loop, and none of them blocks."""

    on_scan: Callable[[Scan], None]
    """The disk was looked at."""
    on_commit: Callable[[], None]
    """The index holds something else than before."""
    on_purge: Callable[[], None]
    """Texts are to be forgotten: what somebody keeps of the index may be theirs."""
    publish: Publish
