"""From a path that may have changed to what the index shall hold of it: blocking work that does not touch the store.

The chunks of a large document are spooled to disk until they are committed: in memory they are a multiple of its text.
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
from memoryd.domain.media import HEAD_BYTES, LABELS, Modality, checked, modality_of
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
from memoryd.domain.syncplan import Known, SyncPlan
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.sanitizing import Flag, marked_conflicts
from memoryd.domain.text.standing import standing_marks
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
from memoryd.files.scanner import CurrentRules, Scan, ScanRoot, ScanRules, why_unread
from memoryd.index.threads import in_thread, with_pauses
from memoryd.store.index.documents import Entries
from memoryd.store.index.passages import PendingFile

log = structlog.get_logger(__name__)

LARGE_BYTES = 2 * 2**20
"""A note of more is cut aside, while smaller ones are read and committed."""
READ_AHEAD_FILES, READ_AHEAD_BYTES = 128, LARGE_BYTES
"""How much is read, cut and committed in one go."""
QUERY_BYTES, QUERY_BATCH_BYTES = 2**20, 2**17
"""How much a question waits for, and how much of it is committed in one go, so that what is done in time counts."""
_BANK = "bank/"


class ReadStatus(StrEnum):
    """What reading a file says about it."""

    CHANGED = "changed"
    SAME = "same"
    LEFT_OUT = "left out"
    AGAIN = "again"
    FAILED = "failed"
    HELD = "held"
    """It may be private: nobody can say now."""


class Reading(Struct, frozen=True):
    """One file as it was read: `known` unless it could not be, `chunks` if it changed, else the reason."""

    path: RelativePath
    status: ReadStatus
    known: Known | None = None
    chunks: Entries = ()
    reason: str = ""
    lines: int = 1
    page: EntityPage | None = None
    flags: str = ""

    @property
    def read_as(self) -> Known:
        """As what it is known from now on; only for a file that could be read."""
        if self.known is None:
            raise ValueError(f"{self.path} was not read")
        return self.known


class Reader(Struct, frozen=True):
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
            content = self._content(path)
        except (FileNotFoundError, TornReadError):
            # it went, or was saved, since it was listed: the next look says what is so now
            return Reading(path, ReadStatus.AGAIN)
        except NotReadableError as exc:
            return Reading(path, ReadStatus.FAILED, reason=str(exc))
        except OSError as exc:
            return Reading(path, ReadStatus.FAILED, reason=why_unread(exc))
        # Of the devices only the folder's is compared: on an overlay each file may name another one.
        stat = replace(content.stat, device=self.disk[path].device)
        try:
            return self._judge(path, replace(content, stat=stat), known)
        except AbandonedError:
            return Reading(path, ReadStatus.AGAIN)
        except Exception as exc:
            # one note that trips a bug of ours must not keep the others out of the index
            log.error("note cannot be indexed", path=path, exc_info=exc)
            return Reading(path, ReadStatus.FAILED, reason=SkipReason.NOT_INDEXABLE.format(type(exc).__name__))

    def says_private(self, path: RelativePath) -> bool:
        """Tell whether a note can be read and says of itself that it is private."""
        try:
            data, _ = utf8_of(self._content(path))
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

    def _content(self, path: RelativePath) -> FileSnapshot:
        base, relative = base_of(path, self.rules.workspace, self.roots)
        limit, _ = self.rules.limit(path)
        return read_snapshot(base, relative, max_bytes=limit, follow_symlinks=self.rules.follow_symlinks)

    def _judge(self, path: RelativePath, content: FileSnapshot, known: Known | None) -> Reading:
        modality = modality_of(path)
        original = original_of(path)
        if original != path and self.says_private(original):
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
            return Reading(path, ReadStatus.HELD, reason=self.rules.hold.reason)
        entries = with_pauses(each_entry(data, self.settings, path))
        chunks = Spool(self._until_given_up(entries), self.spool) if size > LARGE_BYTES else tuple(entries)
        lines = data.count(b"\n", 0, size) + (size > 0 and data[size - 1] != ord("\n"))
        page, flags = entity_page_of(data, path), flags_of(content, flags)
        conflict = Flag.CONFLICT if any(marked_conflicts(data)) else ""
        flags = ", ".join(filter(None, (flags, conflict, standing_marks(data))))
        return Reading(path, ReadStatus.CHANGED, content.known, chunks, lines=lines, page=page, flags=flags)

    def _until_given_up(self, entries: Iterable[ChunkEntry]) -> Iterator[ChunkEntry]:
        for entry in entries:
            if self.is_given_up():
                raise AbandonedError
            yield entry


class AbandonedError(Exception):
    """Nobody wants the note any more that is being cut."""


def _judge_media(path: RelativePath, modality: Modality, content: FileSnapshot) -> Reading:
    mime = checked(path, content.data[:HEAD_BYTES])
    if mime is None:
        reason = SkipReason.OTHER_BYTES.format(LABELS[modality].lower())
        return Reading(path, ReadStatus.LEFT_OUT, content.known, reason=reason)
    chunks, flags = media_entries(path, mime, content.sha256), flags_of(content, mime)
    return Reading(path, ReadStatus.CHANGED, content.known, chunks, flags=flags)


def attachments(executor: Executor, look: CurrentRules) -> Callable[[PendingFile], Awaitable[Attachment]]:
    """Return what gives the lane the bytes of files that the rules of the moment let through; `look` says which.

    It raises NotReadableError for one that is gone, changed, left out by now, or cannot be read.
    """

    def read(file: PendingFile) -> Attachment:
        roots, rules = look()
        if rules.media is None or not rules.media.admits(file.path) or rules.hold or rules.is_ignored(file.path):
            raise NotReadableError("it is left out now")
        base, relative = base_of(file.path, rules.workspace, roots)
        limit, _ = rules.limit(file.path)
        try:
            content = read_snapshot(base, relative, max_bytes=limit, follow_symlinks=rules.follow_symlinks)
        except TornReadError as exc:
            raise NotReadableError("it is being written") from exc
        except OSError as exc:
            raise NotReadableError(f"it cannot be read: {exc.strerror}") from exc
        mime = checked(file.path, content.data[:HEAD_BYTES])
        if content.sha256 != file.sha256 or mime is None:
            raise NotReadableError("it has changed since it was indexed")
        return Attachment(mime, content.sha256, content.data)

    return lambda file: in_thread(executor, lambda: read(file))


class ScanCycle(Struct, frozen=True):
    """What one round reads under: the scan, and what is held of each file, of a renamed one under its new name."""

    seen: Scan
    reader: Reader
    held: Mapping[RelativePath, Known]
    came_from: Mapping[RelativePath, RelativePath]
    """The old path of each file that may be a renamed one."""
    is_forced: bool

    def is_large(self, path: RelativePath) -> bool:
        """Tell whether a file is to be cut aside."""
        return self.seen.files[path].size > LARGE_BYTES and modality_of(path) is None

    def is_move(self, reading: Reading) -> bool:
        """Tell whether a file that may be a renamed one holds what the old one held."""
        if reading.path not in self.came_from or reading.status not in (ReadStatus.SAME, ReadStatus.CHANGED):
            return False
        return reading.read_as.digest == self.held[reading.path].digest

    def soon_and_later(self, paths: Sequence[RelativePath]) -> tuple[list[RelativePath], list[RelativePath]]:
        """Part what a question waits for, what changed last up to `QUERY_BYTES` together, from the others.

        A file that is too large for the room that is left gives way to older ones. The former stand by their size, in
        an order that no clock changes: of equally good answers the one that was read first comes first. Of the latter
        what changed last does.
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
        self, paths: Sequence[RelativePath], most_bytes: int, most_files: Callable[[], int]
    ) -> Iterator[list[RelativePath]]:
        """Yield the paths in runs of few enough files and bytes; a large file goes alone."""
        batch: list[RelativePath] = []
        size = 0
        for path in paths:
            size += self.seen.files[path].size
            if batch and (len(batch) >= min(READ_AHEAD_FILES, most_files()) or size > most_bytes):
                yield batch
                batch, size = [], self.seen.files[path].size
            batch.append(path)
        if batch:
            yield batch


def queued(
    queue: Mapping[RelativePath, bool], paths: Iterable[RelativePath], work: ScanCycle
) -> dict[RelativePath, bool]:
    """Return a queue of files with these added, without those that are no longer on disk.

    Each says whether it is to be cut anew whatever it holds; what was to be stays so.
    """
    kept = {path: is_forced for path, is_forced in queue.items() if path in work.seen.files}
    return kept | {path: work.is_forced for path in paths if not kept.get(path)}


def scan_cycle_of(
    todo: SyncPlan, seen: Scan, reader: Reader, known: Mapping[RelativePath, Known], *, is_forced: bool
) -> ScanCycle:
    """Return the round that works off a plan."""
    # under rules that nobody knows, the new name may be private; the old one goes when its grace has passed
    came_from = {new: old for old, new in todo.rename} if reader.rules.hold is None else {}
    renamed = {
        new: replace(known[old], is_stale=known[old].is_stale or _says_something_else(old, new))
        for new, old in came_from.items()
    }
    return ScanCycle(seen, reader, {**known, **renamed}, came_from, is_forced)


def _says_something_else(old: RelativePath, new: RelativePath) -> bool:
    """Tell whether the same bytes are cut in another way under a new name.

    The text of a picture or sound is its name, and whether a bullet is a memory, or a page one of an entity, is told
    by the path, too. From one log to another all lines stay what they are.
    """
    if is_daily_log(old) and is_daily_log(new):
        return False
    return modality_of(new) is not None or any(holds_memories(path) or path.startswith(_BANK) for path in (old, new))


def read_under_the_rules(work: ScanCycle, batch: Sequence[RelativePath]) -> list[Reading]:
    """Read files; if the privacy rules changed before that was done, nothing may follow from it."""
    readings = [work.reader.read(path, work.held.get(path)) for path in with_pauses(batch)]
    # asked last: rules that change from here on are seen by the next look, which a change of their file brings about
    if not batch or work.reader.rules.is_current():
        return readings
    return [replace(reading, status=ReadStatus.AGAIN) for reading in readings]


def may_follow(reading: Reading, work: ScanCycle) -> bool:
    """Tell whether what was read a while ago may be done still; what is to be kept may have become private."""
    reader = work.reader
    return reader.is_still_public(reading.path) if reading.status is ReadStatus.CHANGED else reader.rules.is_current()


_DECODER = msgspec.msgpack.Decoder(ChunkEntry)


class Spool:
    """Entries in their order, to be gone through more than once. The file has no name and ends with this."""

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
