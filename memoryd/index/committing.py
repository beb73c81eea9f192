"""From readings to the index: each is committed whole, and what is known of the file follows the commit."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace

import structlog

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.media import modality_of
from memoryd.domain.syncplan import Known
from memoryd.domain.text.entries import MEDIA_CHUNKER, ChunkSettings
from memoryd.index.file_table import FileTable
from memoryd.index.purging import Purger
from memoryd.index.reading import Reading, ReadStatus
from memoryd.index.round import Round
from memoryd.index.sync_reporter import SyncReporter
from memoryd.index.withdrawn import Withdrawn
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent, FileRow, Rename

log = structlog.get_logger(__name__)


class Committer:
    """Does what readings say; raises StoreError, and what is known then is still what the index holds."""

    def __init__(
        self,
        *,
        database: Database,
        table: FileTable,
        withdrawn: Withdrawn,
        purger: Purger,
        reporter: SyncReporter,
        chunks: ChunkSettings,
        failure_grace: float,
    ) -> None:
        self._database = database
        self._table = table
        self._withdrawn = withdrawn
        self._purger = purger
        self._reporter = reporter
        self._chunks = chunks
        self._failure_grace = failure_grace
        """For so many seconds the index keeps what it has of a file that cannot be read."""

    async def commit(self, readings: Sequence[Reading], work: Round) -> None:
        """Commit; what is alike is written in one transaction, which costs a third of many."""
        moved = [(work.came_from[reading.path], reading) for reading in readings if work.is_move(reading)]
        if moved:
            await self._rename(moved)
        new_names = {reading.path for _, reading in moved}
        # what goes, goes before anything new comes: a failing disk then keeps less of what is private, not more
        left_out = [reading.path for reading in readings if reading.status is ReadStatus.LEFT_OUT]
        await self._purger.remove(left_out, hidden=set(left_out))
        for reading in readings:
            if reading.path not in new_names:
                await self._note(reading)
        changed = [reading for reading in readings if reading.status is ReadStatus.CHANGED]
        if changed:
            await self._put(changed, is_forced=work.is_forced)

    async def _rename(self, moved: Sequence[tuple[RelativePath, Reading]]) -> None:
        """Give what is held of the old paths to the new ones; what is to be cut anew stays so after a crash."""
        moves = [(old, reading.path, _known_as(reading), reading.status is ReadStatus.SAME) for old, reading in moved]
        renames = [
            Rename(old, new, known.stat, known.read_at_ns, not is_same)
            for old, new, known, is_same in moves
            if old in self._table.indexed
        ]
        await self._database.documents.rename(renames)
        for old, new, known, is_same in moves:
            self._table.rename(old, new, replace(known, is_stale=not is_same), is_same=is_same)
            log.debug("file renamed", path=old, to=new)
        self._reporter.note_commit()

    async def _note(self, reading: Reading) -> None:
        match reading:
            case Reading(path, ReadStatus.FAILED, _, _, reason):
                await self._fail(path, reason)
            case Reading(path, ReadStatus.HELD, _, _, reason):
                self._table.hold(path, reason)
            case Reading(path, ReadStatus.LEFT_OUT, _, _, reason):
                # its text may have been indexed before, under another name or before it was away for a while
                self._purger.owe()
                self._table.leave_out(path, _known_as(reading), reason)
            case Reading(path, ReadStatus.SAME):
                await self._touch(path, _known_as(reading))

    async def _touch(self, path: RelativePath, known: Known) -> None:
        if path in self._table.indexed:
            await self._database.documents.touch(path, known.stat, known.read_at_ns)
            self._withdrawn.release([path])
        self._table.touch(path, known)

    async def _fail(self, path: RelativePath, reason: str) -> None:
        """Keep what the index has of an unreadable file for the grace period, then let it go."""
        now = time.monotonic()
        since = self._table.fail(path, reason, now)
        if path in self._table.indexed and now - since >= self._failure_grace:
            await self._purger.remove([path], hidden={path})
            # to remove it was to forget it, but it still cannot be read
            self._table.fail(path, reason, since)

    async def _put(self, changed: Sequence[Reading], *, is_forced: bool) -> None:
        rows = [_file_row(reading, self._chunks) for reading in changed]
        # a picture's chunk says nothing of its bytes, and must not be taken for one that stays
        anew = [is_forced or row.chunker == MEDIA_CHUNKER for row in rows]
        chunks, pages = [reading.chunks for reading in changed], [reading.page for reading in changed]
        done = await self._database.documents.put(list(map(FileContent, rows, chunks, anew, pages)))
        for row, indexed in zip(rows, done, strict=True):
            self._table.put(row.path, Known(row.stat, row.read_at_ns, row.sha256))
            self._withdrawn.release([row.path])
            log.debug("file indexed", path=row.path, **asdict(indexed))
        self._reporter.note_commit()


def _known_as(reading: Reading) -> Known:
    stamp = reading.read_stamp
    return Known(stamp.stat, stamp.read_at_ns, stamp.sha256)


def _file_row(reading: Reading, settings: ChunkSettings) -> FileRow:
    stamp = reading.read_stamp
    return FileRow(
        path=reading.path,
        source=Source.MEMORY,
        stat=stamp.stat,
        read_at_ns=stamp.read_at_ns,
        sha256=stamp.sha256,
        lines=reading.lines,
        chunker=settings.fingerprint if modality_of(reading.path) is None else MEDIA_CHUNKER,
        flags=stamp.flags,
    )
