"""Reads files that may have changed and cuts them into chunks: blocking work that does not use the store.

The chunks of a large document are spooled to disk until they are committed: in memory they take a multiple of its size.
"""

import tempfile
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from enum import StrEnum
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import FileStat, RelativePath, original_of
from memoryd.domain.media import HEAD_BYTES, LABELS, Modality, modality_of, verified_mime
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.entity_edits import entity_page_of
from memoryd.domain.memories.entries import (
    ChunkEntry,
    ChunkSettings,
    each_entry,
    media_entries,
)
from memoryd.domain.memories.sections import holds_memories, is_daily_log
from memoryd.domain.skips import SkipReason
from memoryd.domain.syncplan import IndexedFile, SyncPlan
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.note_status import status_marks
from memoryd.domain.text.sanitizing import Flag, marked_conflicts
from memoryd.embed.protocol import Attachment
from memoryd.files.ignore import is_private_file, why_private
from memoryd.files.reading import (
    FileSnapshot,
    NotReadableError,
    TornReadError,
    flags_of,
    read_snapshot,
    utf8_of,
)
from memoryd.files.roots import base_of
from memoryd.files.scanner import CurrentRules, Scan, ScanRoot, ScanRules, unreadable_reason
from memoryd.index.threads import in_thread, with_pauses
from memoryd.store.index.documents import Entries
from memoryd.store.index.passages import PendingFile

log = structlog.get_logger(__name__)

LARGE_BYTES = 2 * 2**20
"""A larger note is cut in the background, while smaller ones are read and committed."""
READ_AHEAD_FILES, READ_AHEAD_BYTES = 128, LARGE_BYTES
"""How much is read, cut and committed in one batch."""
QUERY_BYTES, QUERY_BATCH_BYTES = 2**20, 2**17
"""How much a query waits for, and the size of its batches: small, so that the files read in time are committed."""
_BANK = "bank/"


class ReadStatus(StrEnum):
    """The result of reading a file."""

    CHANGED = "changed"
    SAME = "same"
    LEFT_OUT = "left out"
    AGAIN = "again"
    FAILED = "failed"
    UNDECIDED = "held"
    """The file may be private; that cannot be decided now."""


class Reading(Struct, frozen=True):
    """A file as read: `known` if it could be read, `chunks` if it changed, else `reason`."""

    path: RelativePath
    status: ReadStatus
    known: IndexedFile | None = None
    chunks: Entries = ()
    reason: str = ""
    lines: int = 1
    page: EntityPage | None = None
    flags: str = ""

    @property
    def read_as(self) -> IndexedFile:
        """The stat and hash of a file that could be read; raises ValueError for others."""
        if self.known is None:
            raise ValueError(f"{self.path} was not read")
        return self.known


class Reader(Struct, frozen=True):
    """Reads files of one workspace under the rules of one scan, which found them with the stats in `disk`."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    settings: ChunkSettings
    disk: Mapping[RelativePath, FileStat]
    spool: Path
    """The folder for the chunks of large notes."""
    is_abandoned: Callable[[], bool] = lambda: False
    """Whether to stop cutting a large note; called before each chunk."""

    def read(self, path: RelativePath, known: IndexedFile | None) -> Reading:
        """Read one file; never raises for anything in the file or on the disk."""
        if known is None and self.rules.hold is not None:
            return Reading(path, ReadStatus.UNDECIDED, reason=self.rules.hold.reason)
        try:
            content = _snapshot(path, self.roots, self.rules)
        except (FileNotFoundError, TornReadError):
            # it was deleted or saved since the scan: the next scan decides
            return Reading(path, ReadStatus.AGAIN)
        except NotReadableError as exc:
            return Reading(path, ReadStatus.FAILED, reason=str(exc))
        except OSError as exc:
            return Reading(path, ReadStatus.FAILED, reason=unreadable_reason(exc))
        # take the device of the scan, which is the folder's: on an overlay file system a file may have another one
        stat = replace(content.stat, device=self.disk[path].device)
        try:
            return self._judge(path, replace(content, stat=stat), known)
        except AbandonedError:
            return Reading(path, ReadStatus.AGAIN)
        except Exception as exc:
            # a note that triggers a bug of ours must not keep the others out of the index
            log.error("note cannot be indexed", path=path, exc_info=exc)
            return Reading(path, ReadStatus.FAILED, reason=SkipReason.NOT_INDEXABLE.format(type(exc).__name__))

    def is_marked_private(self, path: RelativePath) -> bool:
        """Return whether a note can be read and is marked private."""
        try:
            data, _ = utf8_of(_snapshot(path, self.roots, self.rules))
        except (OSError, NotReadableError, TornReadError):
            return False
        return modality_of(path) is None and bool(why_private(data))

    def is_still_public(self, path: RelativePath) -> bool:
        """Return whether the rules are still those of the scan and the file on disk is not marked private; blocks."""
        base, relative = base_of(path, self.rules.workspace, self.roots)
        try:
            is_private = is_private_file(base, relative, follow_symlinks=self.rules.follow_symlinks)
        except OSError:
            return False
        # the rules last: they may have changed while the file was read
        return self.rules.is_current() and not is_private

    def _judge(self, path: RelativePath, content: FileSnapshot, known: IndexedFile | None) -> Reading:
        modality = modality_of(path)
        original = original_of(path)
        if original != path and self.is_marked_private(original):
            return Reading(path, ReadStatus.LEFT_OUT, content.known, reason=SkipReason.OF_PRIVATE)
        if known is not None and not known.is_stale and known.digest == content.sha256:
            return Reading(path, ReadStatus.SAME, content.known)
        if modality and self.rules.hold is None:
            return _judge_media(path, modality, content)
        return self._judge_note(path, content)

    def _judge_note(self, path: RelativePath, content: FileSnapshot) -> Reading:
        data, flags = utf8_of(content)
        size = len(data) - len(PADDING)
        if reason := why_private(data):
            return Reading(path, ReadStatus.LEFT_OUT, content.known, reason=reason)
        if self.rules.hold is not None:
            return Reading(path, ReadStatus.UNDECIDED, reason=self.rules.hold.reason)
        entries = with_pauses(each_entry(data, self.settings, path))
        chunks = Spool(self._abortable(entries), self.spool) if size > LARGE_BYTES else tuple(entries)
        lines = data.count(b"\n", 0, size) + (size > 0 and data[size - 1] != ord("\n"))
        page, flags = entity_page_of(data, path), flags_of(content, flags)
        conflict = Flag.CONFLICT if any(marked_conflicts(data)) else ""
        flags = ", ".join(filter(None, (flags, conflict, status_marks(data))))
        return Reading(path, ReadStatus.CHANGED, content.known, chunks, lines=lines, page=page, flags=flags)

    def _abortable(self, entries: Iterable[ChunkEntry]) -> Iterator[ChunkEntry]:
        for entry in entries:
            if self.is_abandoned():
                raise AbandonedError
            yield entry


class AbandonedError(Exception):
    """The note being cut is no longer needed, or its commit was broken off in favour of smaller notes."""


def _snapshot(path: RelativePath, roots: Sequence[ScanRoot], rules: ScanRules) -> FileSnapshot:
    base, relative = base_of(path, rules.workspace, roots)
    limit, _ = rules.limit(path)
    return read_snapshot(base, relative, max_bytes=limit, follow_symlinks=rules.follow_symlinks)


def _judge_media(path: RelativePath, modality: Modality, content: FileSnapshot) -> Reading:
    mime = verified_mime(path, content.data[:HEAD_BYTES])
    if mime is None:
        reason = SkipReason.OTHER_BYTES.format(LABELS[modality].lower())
        return Reading(path, ReadStatus.LEFT_OUT, content.known, reason=reason)
    chunks, flags = media_entries(path, mime, content.sha256), flags_of(content, mime)
    return Reading(path, ReadStatus.CHANGED, content.known, chunks, flags=flags)


def attachments(executor: Executor, current_rules: CurrentRules) -> Callable[[PendingFile], Awaitable[Attachment]]:
    """Return a function that reads pictures and sounds for the embedding loop, as far as the current rules allow.

    It raises NotReadableError for a file that is missing, changed, excluded by now, or cannot be read.
    """

    def read(file: PendingFile) -> Attachment:
        roots, rules = current_rules()
        if rules.media is None or not rules.media.admits(file.path) or rules.hold or rules.is_ignored(file.path):
            raise NotReadableError("it is left out now")
        try:
            content = _snapshot(file.path, roots, rules)
        except TornReadError as exc:
            raise NotReadableError("it is being written") from exc
        except OSError as exc:
            raise NotReadableError(f"it cannot be read: {exc.strerror}") from exc
        mime = verified_mime(file.path, content.data[:HEAD_BYTES])
        if content.sha256 != file.sha256 or mime is None:
            raise NotReadableError("it has changed since it was indexed")
        return Attachment(mime, content.sha256, content.data)

    return lambda file: in_thread(executor, lambda: read(file))


class ScanCycle(Struct, frozen=True):
    """What one round reads with: the scan, and what is known of each file; of a renamed file under its new name."""

    seen: Scan
    reader: Reader
    known: Mapping[RelativePath, IndexedFile]
    old_paths: Mapping[RelativePath, RelativePath]
    """The old path of each file that may have been renamed."""
    is_forced: bool

    def is_large(self, path: RelativePath) -> bool:
        """Return whether a file is to be cut in the background."""
        return self.seen.files[path].size > LARGE_BYTES and modality_of(path) is None

    def is_move(self, reading: Reading) -> bool:
        """Return whether a file that may have been renamed has the content of its old path."""
        if reading.path not in self.old_paths or reading.status not in (ReadStatus.SAME, ReadStatus.CHANGED):
            return False
        return reading.read_as.digest == self.known[reading.path].digest

    def soon_and_later(self, paths: Sequence[RelativePath]) -> tuple[list[RelativePath], list[RelativePath]]:
        """Split the paths into those that a query waits for, and the others.

        The first are the latest changed files, up to `QUERY_BYTES` together; a file that is too large for the rest of
        that is left for later. They are sorted by size, so that the order does not depend on clocks: of equally good
        answers the one that was read first ranks first. The others are sorted by time, the latest change first.
        """
        soon, later, room = set[RelativePath](), list[RelativePath](), QUERY_BYTES
        for path in sorted(paths, key=lambda path: -self.seen.files[path].ctime_ns):
            size = self.seen.files[path].size
            if size <= room:
                soon.add(path)
                room -= size
            else:
                later.append(path)
        return sorted(filter(soon.__contains__, paths), key=lambda path: self.seen.files[path].size), later

    def batches(
        self, paths: Sequence[RelativePath], max_bytes: int, max_files: Callable[[], int]
    ) -> Iterator[list[RelativePath]]:
        """Yield the paths in batches within the limits of files and bytes; a file larger than that is a batch alone."""
        batch: list[RelativePath] = []
        size = 0
        for path in paths:
            size += self.seen.files[path].size
            if batch and (len(batch) >= min(READ_AHEAD_FILES, max_files()) or size > max_bytes):
                yield batch
                batch, size = [], self.seen.files[path].size
            batch.append(path)
        if batch:
            yield batch


def queued(
    queue: Mapping[RelativePath, bool], paths: Iterable[RelativePath], work: ScanCycle
) -> dict[RelativePath, bool]:
    """Return the queue with these files added, and without those that are no longer on disk.

    A value is True if the file is to be cut again even if unchanged; a queued True stays True.
    """
    remaining = {path: is_forced for path, is_forced in queue.items() if path in work.seen.files}
    return remaining | {path: work.is_forced for path in paths if not remaining.get(path)}


def scan_cycle_of(
    todo: SyncPlan, seen: Scan, reader: Reader, known: Mapping[RelativePath, IndexedFile], *, is_forced: bool
) -> ScanCycle:
    """Return the scan cycle for a plan."""
    # while the rules are in doubt, the new name may be private; the old one is removed after its grace period
    old_paths = {new: old for old, new in todo.rename} if reader.rules.hold is None else {}
    renamed = {
        new: replace(known[old], is_stale=known[old].is_stale or _is_cut_differently(old, new))
        for new, old in old_paths.items()
    }
    return ScanCycle(seen, reader, {**known, **renamed}, old_paths, is_forced)


def _is_cut_differently(old: RelativePath, new: RelativePath) -> bool:
    """Return whether the same bytes give other chunks under the new name.

    The text of a picture or sound is its name, and the path decides whether a bullet is a memory and whether a page is
    that of an entity. Between two daily logs nothing changes.
    """
    if is_daily_log(old) and is_daily_log(new):
        return False
    return modality_of(new) is not None or any(holds_memories(path) or path.startswith(_BANK) for path in (old, new))


def read_under_the_rules(work: ScanCycle, batch: Sequence[RelativePath]) -> list[Reading]:
    """Read files; if the privacy rules changed by then, return them all with status AGAIN."""
    readings = [work.reader.read(path, work.known.get(path)) for path in with_pauses(batch)]
    # checked last: a later change of the rules file causes another scan
    if not batch or work.reader.rules.is_current():
        return readings
    return [replace(reading, status=ReadStatus.AGAIN) for reading in readings]


def may_follow(reading: Reading, work: ScanCycle) -> bool:
    """Return whether an older reading may still be committed: a changed file may have become private since."""
    reader = work.reader
    return reader.is_still_public(reading.path) if reading.status is ReadStatus.CHANGED else reader.rules.is_current()


_DECODER = msgspec.msgpack.Decoder(ChunkEntry)


class Spool:
    """Entries in a file without a name, in order, iterable more than once; the file is deleted with the spool."""

    def __init__(self, entries: Iterable[ChunkEntry], folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as the spool
        weakref.finalize(self, self._file.close)
        self._count = 0
        for entry in entries:
            data = msgspec.msgpack.encode(entry)
            self._file.write(len(data).to_bytes(8, "little") + data)
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ChunkEntry]:
        self._file.seek(0)
        for _ in range(self._count):
            size = int.from_bytes(self._file.read(8), "little")
            yield _DECODER.decode(self._file.read(size))
