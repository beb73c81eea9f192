"""From a suspect path to what the index shall hold of it. Blocking work without decisions about the store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import structlog

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.media import LABELS, Media, Modality, modality_of
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.entity_edits import entity_page_of
from memoryd.domain.syncplan import Known
from memoryd.domain.text.entries import ChunkEntry, ChunkSettings, each_entry, media_entries
from memoryd.domain.text.lines import PADDING
from memoryd.files.ignore import is_private_file, why_private
from memoryd.files.reading import (
    NotReadableError,
    Octets,
    Stamp,
    TornReadError,
    media_content,
    read_octets,
    stamp_of,
    utf8_of,
)
from memoryd.files.roots import base_of
from memoryd.files.scanner import ScanRoot, ScanRules
from memoryd.index.spool import Spool
from memoryd.index.yielding import with_pauses
from memoryd.store.index.documents import Entries

LARGE_BYTES = 2 * 2**20
"""A note of more is cut aside, while smaller ones are read and committed."""

log = structlog.get_logger(__name__)


class ReadStatus(StrEnum):
    """What reading a file says about it."""

    CHANGED = "changed"
    SAME = "same"
    LEFT_OUT = "left out"
    AGAIN = "again"
    FAILED = "failed"
    HELD = "held"
    """It may be private: nobody can say now."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as it was read: `stamp` unless it could not be, `chunks` if it changed, else the reason."""

    path: RelativePath
    status: ReadStatus
    stamp: Stamp | None = None
    chunks: Entries = ()
    reason: str = ""
    lines: int = 1
    page: EntityPage | None = None

    @property
    def read_stamp(self) -> Stamp:
        """The stamp; only for a file that could be read."""
        if self.stamp is None:
            raise ValueError(f"{self.path} was not read")
        return self.stamp


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads suspects of one workspace under the rules of one scan, which found them at `disk`."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    settings: ChunkSettings
    disk: Mapping[RelativePath, FileStat]
    spool: Path
    """The folder for what is cut of large notes."""
    is_given_up: Callable[[], bool] = lambda: False
    """Asked again and again while a large note is cut."""

    def read(self, path: RelativePath, known: Known | None) -> Reading:
        """Read one file; never raises for what a file or a disk may do."""
        if known is None and self.rules.hold is not None:
            return Reading(path, ReadStatus.HELD, reason=self.rules.hold.reason)
        try:
            octets = self._octets(path)
        except (FileNotFoundError, TornReadError):
            # it went, or was saved, since it was listed: the next look says what is so now
            return Reading(path, ReadStatus.AGAIN)
        except NotReadableError as exc:
            return Reading(path, ReadStatus.FAILED, reason=str(exc))
        except OSError as exc:
            return Reading(path, ReadStatus.FAILED, reason=f"cannot be read: {exc.strerror}")
        # Of the devices only the folder's is compared: on an overlay each file may name another one.
        stat = replace(octets.stat, device=self.disk[path].device)
        try:
            return self._judge(path, replace(octets, stat=stat), known)
        except GivenUpError:
            return Reading(path, ReadStatus.AGAIN)
        except Exception as exc:
            # one note that trips a bug of ours must not keep the others out of the index
            log.error("note cannot be indexed", path=path, exc_info=exc)
            return Reading(path, ReadStatus.FAILED, reason=f"cannot be indexed ({type(exc).__name__}); the log has it")

    def says_private(self, path: RelativePath) -> bool:
        """Tell whether a note can be read and says of itself that it is private."""
        try:
            data, _ = utf8_of(self._octets(path))
        except (OSError, NotReadableError, TornReadError):
            return False
        return modality_of(path) is None and bool(why_private(data))

    def is_still_public(self, path: RelativePath) -> bool:
        """Tell whether the rules are those of the scan, and the file, as it is now, says nothing against it; blocks."""
        base, relative = base_of(path, self.rules.workspace, self.roots)
        try:
            is_private = is_private_file(base, relative, follow_symlinks=self.rules.follow_symlinks)
        except OSError:
            return False
        # the rules last: they may have changed while the file was read
        return self.rules.is_current() and not is_private

    def _octets(self, path: RelativePath) -> Octets:
        base, relative = base_of(path, self.rules.workspace, self.roots)
        limit, _ = self.rules.limit(path)
        return read_octets(base, relative, max_bytes=limit, follow_symlinks=self.rules.follow_symlinks)

    def _judge(self, path: RelativePath, octets: Octets, known: Known | None) -> Reading:
        modality = modality_of(path)
        if known is not None and not known.is_stale and known.digest == octets.sha256:
            return Reading(path, ReadStatus.SAME, stamp_of(octets, ""))
        if modality and self.rules.hold is None:
            return _judge_media(path, modality, *media_content(path, octets))
        return self._judge_note(path, octets)

    def _judge_note(self, path: RelativePath, octets: Octets) -> Reading:
        data, flags = utf8_of(octets)
        stamp, size = stamp_of(octets, flags), len(data) - len(PADDING)
        if reason := why_private(data):
            return Reading(path, ReadStatus.LEFT_OUT, stamp, reason=reason)
        if self.rules.hold is not None:
            return Reading(path, ReadStatus.HELD, reason=self.rules.hold.reason)
        entries = with_pauses(each_entry(data, self.settings, path))
        chunks = Spool(self._wanted(entries), self.spool) if size > LARGE_BYTES else tuple(entries)
        lines = data.count(b"\n", 0, size) + (size > 0 and data[size - 1] != ord("\n"))
        return Reading(path, ReadStatus.CHANGED, stamp, chunks, lines=lines, page=entity_page_of(data, path))

    def _wanted(self, entries: Iterable[ChunkEntry]) -> Iterator[ChunkEntry]:
        for entry in entries:
            if self.is_given_up():
                raise GivenUpError
            yield entry


class GivenUpError(Exception):
    """Nobody wants the note any more that is being cut."""


def _judge_media(path: RelativePath, modality: Modality, stamp: Stamp, media: Media | None) -> Reading:
    if media is None:
        reason = f"its bytes are not those of an {LABELS[modality].lower()} of a known kind"
        return Reading(path, ReadStatus.LEFT_OUT, stamp, reason=reason)
    return Reading(path, ReadStatus.CHANGED, stamp, media_entries(path, media, stamp.sha256))
