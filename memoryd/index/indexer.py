"""The indexer of one workspace: scans, plans, reads what may have changed, and commits it file by file.

One loop owns all of it. Hints and demands only say when to look; what to do follows from the disk.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import structlog

from memoryd.domain.debounce import Debounce
from memoryd.domain.documents import RelativePath, SkippedFile, Source
from memoryd.domain.media import modality_of
from memoryd.domain.syncplan import Grace, Known, Observation, SyncPlan, is_mass_removal, plan
from memoryd.domain.text.entries import MEDIA_CHUNKER, ChunkSettings
from memoryd.errors import StoreError
from memoryd.files.mount_table import ReadMounts, read_mounts, remote_reason
from memoryd.files.roots import unreadable_files, vanished_roots
from memoryd.files.scanner import Scan, ScanRoot, ScanRules, scan
from memoryd.index.large import Cut, LargeNotes, PutOffError, Stoppable
from memoryd.index.reading import LARGE_BYTES, Reader, Reading, ReadStatus
from memoryd.index.sync_state import MassRemoval, Publish, SyncState
from memoryd.index.withdrawn import Withdrawn
from memoryd.index.work import Work, read_under_the_rules
from memoryd.index.yielding import in_turns
from memoryd.store.database import Database
from memoryd.store.document_rows import FileContent, FileRow, Rename
from memoryd.wire import Event

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

READ_AHEAD_FILES, READ_AHEAD_BYTES = 128, LARGE_BYTES
"""How much is read, cut and committed in one go."""
MAX_YIELDS = 3
"""So often the commit of a large note is put off for smaller ones; then they wait for it."""
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Times in seconds."""

    chunks: ChunkSettings
    debounce: float = 1.5
    max_hold: float = 2.0
    settle: float = 0.2
    grace: Grace = field(default_factory=lambda: Grace(file=2.0, root=60.0))
    reconcile: float = 30.0
    remote_reconcile: float = 10.0
    """At most so long between scans where other machines write to the disk."""
    retry: float = 1.0


class Indexer:
    """Keeps the index of one workspace equal to its disk.

    `run` loops until cancelled. `hint` says that something may have changed, `demand` asks for a scan now,
    `settled` waits until a scan that began after the call has been worked off.
    """

    def __init__(
        self,
        *,
        database: Database,
        executor: Executor,
        workspace: Path,
        look: Callable[[], tuple[Sequence[ScanRoot], ScanRules]],
        settings: IndexSettings,
        on_scan: Callable[[Scan], None],
        on_commit: Callable[[], None],
        on_purge: Callable[[], None],
        publish: Publish,
        mounts: ReadMounts = read_mounts,
    ) -> None:
        self.state = SyncState()
        self.withdrawn = Withdrawn()
        self._database = database
        self._executor = executor
        self._workspace = workspace
        self._look = look
        self._settings = settings
        self._on_scan = on_scan
        self._on_commit = on_commit
        self._on_purge = on_purge
        self._publish = publish
        self._mounts = mounts
        self._known: dict[RelativePath, Known] = {}
        self._left_out: dict[RelativePath, tuple[Known, str]] = {}
        self._failed: dict[RelativePath, tuple[float, str]] = {}
        self._held: dict[RelativePath, str] = {}
        self._has_patterns = False
        self._owes_purge = False
        self._missing_since: dict[RelativePath, float] = {}
        self._debounce = Debounce(settings.debounce, settings.max_hold)
        self._wake = asyncio.Event()
        self._asked = 1
        self._served = 0
        self._force = False
        self._trusts_times = True
        self._epoch = 0
        self._ticket = 0
        self._large = LargeNotes(executor=executor, commit=self._commit_large, on_cut=self._wake.set)
        self._progress = asyncio.Condition()

    @property
    def known_paths(self) -> Set[RelativePath]:
        """The paths of the indexed files, save those that nobody may be told of."""
        return self._known.keys() - self.withdrawn.paths if self.withdrawn else self._known.keys()

    @property
    def is_withholding(self) -> bool:
        """Whether texts that are to be purged are still in the index, which cannot be written."""
        return bool(self.withdrawn) and self.state.trouble is not None

    @property
    def is_settled(self) -> bool:
        """Whether the index that is open now holds what the last scan saw."""
        return self._is_current() and self.state.last_sync_at is not None and not self.state.is_dirty

    def read_since(self, paths: Iterable[str], moment: float) -> set[str]:
        """Return those of the documents that were read, or got their path, after `moment` (system clock)."""
        known = ((path, self._known.get(RelativePath(path))) for path in paths)
        return {path for path, one in known if one is not None and one.read_at_ns >= moment * 1e9}

    def hint(self) -> None:
        """Note that something may have changed; a scan follows after the debounce."""
        self._debounce.hint(time.monotonic())
        self._wake.set()

    def demand(self, *, force: bool = False) -> int:
        """Ask for a scan now and return its ticket; `force` reads and cuts every file anew."""
        self._asked += 1
        self._force = self._force or force
        self._wake.set()
        return self._asked

    def distrust_times(self) -> None:
        """Say that the clock was set back: a scan follows that believes no file to be unchanged by its times."""
        self._trusts_times = False
        self.demand()

    async def settled(self, ticket: int) -> None:
        """Wait until the scan of this ticket has been worked off, save what an unreadable root holds back."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._served >= ticket)

    async def run(self) -> None:
        """Follow the disk until cancelled; trouble with the store is noted and tried again."""
        try:
            while True:
                await self._turn()
        finally:
            self._large.drop()

    async def _turn(self) -> None:
        ticket = self._ticket = self._asked
        self._debounce.clear()
        try:
            retry_in, is_settled = await self._sync()
        except StoreError as exc:
            retry_in, is_settled = self._settings.retry, False
            self._large.drop()
            self._note_trouble(exc)
        if is_settled:
            await self._serve(ticket)
        await self._wait(ticket, NEVER if retry_in is None else retry_in)

    async def _serve(self, ticket: int) -> None:
        async with self._progress:
            self._served = ticket
            self._progress.notify_all()

    async def _wait(self, ticket: int, retry_in: float) -> None:
        """Sleep until a demand, the end of a debounce, a retry, the reconciling scan, or until a large note is cut."""
        until = time.monotonic() + min(retry_in, self._pause)
        while self._asked <= ticket and not self._large.is_cut:
            due = min(until, self._debounce.due or NEVER)
            left = due - time.monotonic()
            if left <= 0:
                return
            await self._woken(due)

    async def _woken(self, due: float) -> None:
        """Sleep until something happens, or until then."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if due == NEVER else max(due - time.monotonic(), 0)):
                await self._wake.wait()

    @property
    def _pause(self) -> float:
        """The longest time between two scans."""
        longest = self._settings.reconcile or NEVER
        return min(longest, self._settings.remote_reconcile) if self.state.remote and longest < NEVER else longest

    async def _sync(self) -> tuple[float | None, bool]:
        """Scan, plan and do it; return in how many seconds to look again, and whether index and disk are equal."""
        await self._learn()
        force, self._force = self._force, False
        roots, rules = await self._in_thread(self._look)
        seen = await self._in_thread(lambda: scan(roots, rules))
        remote = await self._in_thread(lambda: remote_reason([rules.workspace, *(r.path for r in roots)], self._mounts))
        self._update(remote=remote)
        self._on_scan(seen)
        observed, todo = await self._in_thread(lambda: self._plan(seen, rules, force=force))
        self._missing_since, self._trusts_times = dict(todo.missing_since), True
        self._note_rules(rules)
        self._note_scan(seen, todo)
        reader = Reader(roots, rules, self._settings.chunks, seen.files, self._database.path.parent)
        was_withholding = self.is_withholding
        self.withdrawn.keep({*todo.read, *todo.remove, *(old for old, _ in todo.rename), *todo.missing_since})
        try:
            again = await self._execute(todo, seen, reader, force=force)
        except StoreError:
            await self._withdraw(todo, reader)
            raise
        self._note_done(seen, todo, again, held=len(observed.unreadable & todo.missing_since.keys()))
        if was_withholding and not self.is_withholding:
            self._on_commit()
        if not self._is_current():
            return self._settings.retry, False
        hold_ends_in = None if rules.hold is None else rules.hold.ends_in
        soon = min((it for it in (todo.retry_in, hold_ends_in) if it is not None), default=None)
        retry_in = self._settings.settle if again else soon
        return retry_in, todo.is_settled and hold_ends_in is None and not again and not self._large.queued

    def _is_current(self) -> bool:
        """Whether what is known of the index still holds: it may have been found damaged or lost meanwhile."""
        database = self._database
        return database.is_open and database.damage is None and database.epoch == self._epoch

    async def _learn(self) -> None:
        """Ask the index what it holds, once for each opening of its file."""
        if self._epoch != self._database.epoch:
            chunker = self._settings.chunks.fingerprint
            self._known = await self._database.documents.known(chunker)
            self._left_out, self._failed = {}, {}
            self.withdrawn.keep(self._known)
            self._epoch = self._database.epoch

    def _observation(self, seen: Scan, rules: ScanRules) -> Observation:
        seen.roots += vanished_roots(seen, self._known, rules.workspace)
        lost = unreadable_files(seen, self._known, rules.workspace)
        now, wall_ns = time.monotonic(), time.time_ns()
        return Observation(seen.files, lost, self._missing_since, now, wall_ns, self._trusts_times)

    def _plan(self, seen: Scan, rules: ScanRules, *, force: bool) -> tuple[Observation, SyncPlan]:
        """Compare disk and index; in a thread, since 100,000 files take a while."""
        observed = self._observation(seen, rules)
        return observed, plan(observed, self._view(force), self._settings.grace)

    def _view(self, force: bool) -> dict[RelativePath, Known]:
        view = self._known | {path: known for path, (known, _) in self._left_out.items()}
        return {path: replace(known, is_stale=True) for path, known in view.items()} if force else view

    async def _execute(self, todo: SyncPlan, seen: Scan, reader: Reader, *, force: bool) -> list[RelativePath]:
        """Do what the plan says; return the files that changed while they were read, or were not renamed after all."""
        held = self._view(force)
        # under rules that nobody knows, the new name may be private; the old one goes when its grace has passed
        came_from = {new: old for old, new in todo.rename} if reader.rules.hold is None else {}
        held |= {new: _under_new_name(held[old], new) for new, old in came_from.items()}
        work = Work(seen, reader, held, came_from, afresh=force)
        again = await self._read_all(list(came_from), work)
        again += [old for old in came_from.values() if old in self._known or old in self._left_out]
        await self._remove(todo.remove)
        self._large.queue(todo.read, work)
        again += await self._read_all([path for path in todo.read if path not in self._large.queued], work)
        again += await self._large.advance(work)
        await self._drop_remains()
        return again

    async def _withdraw(self, todo: SyncPlan, reader: Reader) -> None:
        """Let nobody be told of what is private now, though the index cannot be written."""
        known = [(path, path) for path in todo.read] + [(old, new) for old, new in todo.rename]
        held = [(old, new) for old, new in known if old in self._known]
        private = await self._in_thread(lambda: [old for old, new in in_turns(held) if reader.says_private(new)])
        if self.withdrawn.add([*private, *(path for path in todo.remove if path in self._known)]):
            self._on_purge()

    async def _commit_large(self, reading: Reading, cut: Cut) -> bool:
        """Commit a large note wholly, or, if small ones come before that is done, not at all; tell which."""
        entries, is_over = Stoppable(reading.chunks), asyncio.Event()

        async def commit() -> bool:
            try:
                await self._commit_all([replace(reading, chunks=entries)], cut.work)
            except PutOffError:
                return False
            finally:
                is_over.set()
                self._wake.set()
            return True

        async def look_out() -> None:
            asked, has_looked = self._ticket, False
            try:
                while not is_over.is_set():
                    is_due = self._asked > asked or (self._debounce.due or NEVER) <= time.monotonic()
                    if is_due and cut.yields < MAX_YIELDS:
                        asked, has_looked = self._asked, True
                        self._debounce.clear()
                        if await self._has_newcomers():
                            return
                        # the commit may have ended meanwhile, and called in vain
                        continue
                    await self._woken(NEVER if cut.yields >= MAX_YIELDS else self._debounce.due or NEVER)
            finally:
                entries.stop.set()
                if has_looked:
                    self.hint()

        is_done, _ = await asyncio.gather(commit(), look_out())
        return is_done

    async def _has_newcomers(self) -> bool:
        """Tell whether anything but large notes is to be done."""
        roots, rules = await self._in_thread(self._look)
        seen = await self._in_thread(lambda: scan(roots, rules))
        _, todo = await self._in_thread(lambda: self._plan(seen, rules, force=False))
        self._missing_since = dict(todo.missing_since)
        small = [path for path in todo.read if seen.files[path].size <= LARGE_BYTES]
        return bool(small or todo.rename or todo.remove)

    async def _read_all(self, paths: Sequence[RelativePath], work: Work) -> list[RelativePath]:
        """Read files and commit what they hold; return those that changed meanwhile."""
        again: list[RelativePath] = []
        batches = list(_batches(paths, work.seen))
        readings = await self._read(work, batches[0] if batches else [])
        for following in [*batches[1:], []]:
            # one thread writes while another reads ahead
            ahead, _ = await asyncio.gather(self._read(work, following), self._commit_all(readings, work))
            changing = [reading.path for reading in readings if reading.status is ReadStatus.AGAIN]
            again += changing
            self._update(pending_files=self.state.pending_files - len(readings) + len(changing))
            readings = ahead
        return again

    async def _read(self, work: Work, batch: Sequence[RelativePath]) -> list[Reading]:
        return await self._in_thread(lambda: read_under_the_rules(work, batch))

    async def _commit_all(self, readings: Sequence[Reading], work: Work) -> None:
        """Do what the readings say; what is alike is written in one transaction, which costs a third of many."""
        moved = [(work.came_from[reading.path], reading) for reading in readings if work.is_move(reading)]
        if moved:
            await self._rename(moved)
        new_names = {reading.path for _, reading in moved}
        await self._remove([reading.path for reading in readings if reading.status is ReadStatus.LEFT_OUT])
        self._held |= {reading.path: reading.reason for reading in readings if reading.status is ReadStatus.HELD}
        for reading in readings:
            if reading.path not in new_names:
                await self._commit(reading)
        changed = [reading for reading in readings if reading.status is ReadStatus.CHANGED]
        if changed:
            await self._put(changed, afresh=work.afresh)

    async def _rename(self, moved: Sequence[tuple[RelativePath, Reading]]) -> None:
        """Give what is held of the old paths to the new ones; what is to be cut anew stays so after a crash."""
        moves = [(old, reading.path, _known_as(reading), reading.status) for old, reading in moved]
        indexed = [
            (old, new, replace(known, is_stale=status is ReadStatus.CHANGED))
            for old, new, known, status in moves
            if old in self._known
        ]
        renames = [Rename(old, new, known.stat, known.read_at_ns, known.is_stale) for old, new, known in indexed]
        await self._database.documents.rename(renames)
        for old, new, known in indexed:
            self._known[new] = known
            del self._known[old]
            self._failed.pop(new, None)
            log.debug("file renamed", path=old, to=new)
        for old, new, known, status in moves:
            left_out = self._left_out.pop(old, None)
            if left_out is not None and status is ReadStatus.SAME:
                self._left_out[new] = (known, left_out[1])
        self._note_commit()

    async def _remove(self, paths: Sequence[RelativePath]) -> None:
        indexed = [path for path in paths if path in self._known]
        if indexed:
            self.withdrawn.add(indexed)
            await self._erase(indexed)
            self.withdrawn.release(indexed)
            self._note_commit()
            log.debug("files removed", count=len(indexed), first=indexed[0])
        for path in paths:
            for table in (self._known, self._left_out, self._failed):
                table.pop(path, None)

    async def _erase(self, indexed: Sequence[RelativePath]) -> None:
        """Remove files; of what may be private now, not even a vector may stay.

        That is what is still on disk, and what is gone while there are places that are kept out: it may have been
        moved there.
        """
        hidden = set(await self._in_thread(lambda: [path for path in indexed if self._may_be_private(path)]))
        gone = [path for path in indexed if path not in hidden]
        await self._database.documents.remove(gone, purged=list(hidden))
        self._owes_purge = self._owes_purge or bool(hidden)
        if hidden:
            self._on_purge()
        else:
            await self._database.checkpoint()

    def _may_be_private(self, path: RelativePath) -> bool:
        full = self._workspace / path
        if os.path.lexists(full):
            return True
        # an extra folder that vanished as a whole was unmounted, or is no longer wanted
        is_out_of_sight = path.startswith("../") and not os.path.lexists(full.parent)
        return (self._has_patterns or bool(self._left_out)) and not is_out_of_sight

    async def _drop_remains(self) -> None:
        """Rewrite the keyword index without what was purged, once for all of it, and cut the log that had it.

        Vectors of texts that no note holds any more go too: they may be of an earlier version of what is private now.
        """
        if self._owes_purge:
            await self._database.documents.drop_remains()
            self._on_purge()
            await self._database.checkpoint()
            self._owes_purge = False

    async def _commit(self, reading: Reading) -> None:
        match reading:
            case Reading(path, ReadStatus.FAILED, _, _, reason):
                await self._fail(path, reason)
            case Reading(path, ReadStatus.LEFT_OUT, _, _, reason):
                # its text may have been indexed before, under another name or before it was away for a while
                self._owes_purge = self._owes_purge or path not in self._left_out
                self._left_out[path] = (_known_as(reading), reason)
            case Reading(path, ReadStatus.SAME):
                await self._touch(path, _known_as(reading))

    async def _touch(self, path: RelativePath, known: Known) -> None:
        self._failed.pop(path, None)
        if path in self._left_out:
            self._left_out[path] = (known, self._left_out[path][1])
        else:
            await self._database.documents.touch(path, known.stat, known.read_at_ns)
            self._known[path] = known
            self.withdrawn.release([path])

    async def _put(self, changed: Sequence[Reading], *, afresh: bool) -> None:
        rows = [_file_row(reading, self._settings.chunks) for reading in changed]
        # a picture's chunk says nothing of its bytes, and must not be taken for one that stays
        anew = [afresh or row.chunker == MEDIA_CHUNKER for row in rows]
        files = map(FileContent, rows, (reading.chunks for reading in changed), anew)
        done = await self._database.documents.put(list(files))
        for row, indexed in zip(rows, done, strict=True):
            self._known[row.path] = Known(row.stat, row.read_at_ns, row.sha256)
            self._left_out.pop(row.path, None)
            self._failed.pop(row.path, None)
            self.withdrawn.release([row.path])
            log.debug("file indexed", path=row.path, **asdict(indexed))
        self._note_commit()

    async def _fail(self, path: RelativePath, reason: str) -> None:
        """Keep what the index has of an unreadable file for the grace period, then let it go."""
        since, _ = self._failed.get(path, (time.monotonic(), ""))
        if path in self._known and time.monotonic() - since >= self._settings.grace.root:
            await self._remove([path])
        self._failed[path] = (since, reason)

    def _note_rules(self, rules: ScanRules) -> None:
        self._has_patterns, self._held = rules.has_patterns, {}
        self._update(notice=rules.notice)
        if rules.hold != self.state.hold:
            self._update(hold=rules.hold)
            self._on_commit()

    def _note_scan(self, seen: Scan, todo: SyncPlan) -> None:
        self._failed = {path: why for path, why in self._failed.items() if path in seen.files}
        self._update(
            last_scan_at=datetime.now(UTC),
            roots=tuple(seen.roots),
            pending_files=len(todo.read) + len(todo.rename) + len(todo.remove),
            is_dirty=not todo.is_empty or not todo.is_settled,
        )
        if not todo.is_empty:
            self._publish(Event.SYNC, {"state": "started", "pendingFiles": self.state.pending_files})

    def _note_done(self, seen: Scan, todo: SyncPlan, again: list[RelativePath], *, held: int) -> None:
        reasons = {path: why for path, (_, why) in (self._left_out | self._failed).items()} | self._held
        self._update(
            skipped=(*seen.skipped, *(SkippedFile(path, why) for path, why in reasons.items())),
            pending_files=len(again) + len(self._large.queued) + len(self._held),
            is_dirty=bool(again or self._large.queued) or not todo.is_settled,
            last_sync_at=datetime.now(UTC),
            trouble=_held_back(held, self._settings.grace) if held else None,
        )
        if not todo.is_empty:
            log.info(
                "synced",
                read=len(todo.read),
                renamed=len(todo.rename),
                removed=len(todo.remove),
                files=len(self._known),
            )
            self._publish(Event.SYNC, {"state": "finished", "pendingFiles": self.state.pending_files})
        if is_mass_removal(len(todo.remove), len(self._known)):
            self._note_mass_removal(MassRemoval(datetime.now(UTC), len(todo.remove), len(self._known)))

    def _note_mass_removal(self, removal: MassRemoval) -> None:
        log.warning("most notes were deleted", files=removal.files, left=removal.left)
        self._update(mass_removal=removal)
        self._publish(Event.SYNC, {"state": "mass removal", "files": removal.files, "left": removal.left})

    def _note_commit(self) -> None:
        self._update(generation=self.state.generation + 1)
        self._on_commit()

    def _note_trouble(self, exc: StoreError) -> None:
        if self.state.trouble != str(exc):
            log.warning("index cannot be written", reason=str(exc))
        self._update(trouble=str(exc), is_dirty=True)

    def _update(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]  # replace checks the names

    async def _in_thread(self, function: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)


def _held_back(count: int, grace: Grace) -> str:
    return f"{count} notes are out of sight with their folder or disk; they stay in the index for {grace.root:g} s"


def _batches(paths: Sequence[RelativePath], seen: Scan) -> Iterator[list[RelativePath]]:
    """Yield the paths in runs of few enough files and bytes; a large file goes alone."""
    batch: list[RelativePath] = []
    size = 0
    for path in paths:
        size += seen.files[path].size
        if batch and (len(batch) >= READ_AHEAD_FILES or size > READ_AHEAD_BYTES):
            yield batch
            batch, size = [], seen.files[path].size
        batch.append(path)
    if batch:
        yield batch


def _under_new_name(known: Known, new: RelativePath) -> Known:
    """Return what is held of a file that got a new name; the text of a picture or sound is its name."""
    return replace(known, is_stale=known.is_stale or modality_of(new) is not None)


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
