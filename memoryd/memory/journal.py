"""The only writer of memories into a workspace, with a ledger row for each change, and undo.

A change replaces the file only if it did not change since it was read. The ledger row is inserted before the file is
written, and settled after; after a kill, hashes show whether the file was written. If the ledger cannot be used, only
undo is lost, never the memory. Undo removes the lines that a change added and restores the lines that it removed, if
the affected lines are unchanged. An undo is itself a change and can be undone.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from hashlib import sha256
from typing import Protocol, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Hunk, UncertainPlaceError, hunks_between
from memoryd.domain.memories.changes.note_text import undo_in_text
from memoryd.domain.memories.kinds import CHANGES_MAX, WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow, RequestError, StoreError, read_only_error
from memoryd.files.reading import TornReadError
from memoryd.files.writing import FileChangedError
from memoryd.memory.note_files import NoteFiles, StoredNote
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeRow, ChangeState

log = structlog.get_logger(__name__)

TRIES = 100
"""An editor that saves on each key press does not win this many times in a row."""
PAUSE_SECONDS = 0.05
"""The longest wait between two tries."""
MISSING_TRIES = 6
WAIT_SECONDS = 60.0
"""How long an operation waits for another to end."""
RETRY_SECONDS = 15.0

Edit = Callable[[str | None], str | None]
"""Returns the new text of a note, or None to leave it unchanged. The argument is None if the file does not exist.

It runs in a thread, perhaps more than once. Lines end in `\\n`; in the file, an unchanged line keeps its own line end.
"""
Done = TypeVar("Done")


class NoteChange(Struct, frozen=True):
    """Result of an edit. `text` is the text of the file now; `is_written` is False if it was not changed.

    `id` is the number of the row that can be undone; 0 if there is none, and `note` says why.
    """

    path: RelativePath
    text: str
    sha256: str
    is_written: bool
    id: int = 0
    note: str = ""


class RevokeShared(Protocol):
    """Revokes memories shared with a team, and texts removed from notes."""

    async def __call__(
        self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool
    ) -> Sequence[str]:
        """Revoke what is shared of these lines and notes, or only check with `is_dry_run`; return messages to show."""


UndoneChange = tuple[ChangeRow, int]
"""An undone change, and the number of the change that undid it: 0 on a dry run, or if there is no row."""
_PlannedUndo = tuple[ChangeRow, ChangeRow]
"""A stored change, and the change as far as its undo takes it back: a heading with later lines below it stays."""


class Journal:
    """Writes into one workspace, one change at a time. The callbacks in `on_written` run after each write."""

    def __init__(
        self,
        *,
        files: NoteFiles,
        changes: ChangeLog,
        executor: Executor,
        is_read_only: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.files = files
        self.changes = changes
        self.on_written: list[Callable[[], object]] = []
        self.revoke_shared: RevokeShared | None = None
        """Called with lines that no note states any longer, to revoke shared copies; None: nothing is shared."""
        self._open_batches, self._has_pending = 0, False
        self.existed_recently: list[Callable[[RelativePath], bool]] = []
        """Functions that return True if a note existed a moment ago."""
        self.write_lock = asyncio.Lock()
        """Lock for code that reads the state before it writes, across all agents of the workspace."""
        self._executor = executor
        self._is_read_only = is_read_only
        self._clock = clock
        self._planned, self._turn = asyncio.Lock(), asyncio.Lock()
        self._is_settled, self._trouble = False, ""
        self._unknown: dict[RelativePath, bytes] = {}

    @property
    def trouble(self) -> list[str]:
        """Sentences about problems that the owner should check."""
        trouble = [f"changes may not be undone: {self._trouble}"] if self._trouble else []
        cut_short = "a change was cut short, and the file was edited since: look at it"
        return trouble + [f"{path}: {cut_short}" for path in self._unknown]

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Keep reflect and forgetting apart, or forgotten text might be written; raises NotNow after a long wait."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._planned.acquire()
        except TimeoutError as exc:
            raise NotNow("a run of reflect, or a forgetting, goes on", hint="try again when it has ended") from exc
        try:
            yield
        finally:
            self._planned.release()

    @contextlib.contextmanager
    def batched_notifications(self) -> Iterator[None]:
        """Notify once at the end of the block, not at each write: each notification rescans all notes."""
        self._open_batches += 1
        try:
            yield
        finally:
            self._open_batches -= 1
            if self._has_pending:
                self._notify()

    def _notify(self) -> None:
        self._has_pending = self._open_batches > 0
        if not self._has_pending:
            for tell in self.on_written:
                tell()

    def check_writable(self) -> None:
        """Raise Denied if the memory is read-only."""
        if self._is_read_only:
            raise read_only_error()

    async def revoke(
        self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool = False
    ) -> Sequence[str]:
        """Tell the team about removed lines, and notes from which text was removed; return messages to show."""
        return () if self.revoke_shared is None else await self.revoke_shared(lines, paths, is_dry_run=is_dry_run)

    async def check_room(self, paths: Iterable[RelativePath]) -> None:
        """Raise what `change` raises if the disk has no room for another copy of each note. No note is changed."""
        for path in sorted(paths):
            await self._in_thread(partial(self.files.check_room, await self.read(path)))

    async def read(self, path: RelativePath, *, is_shown: bool = False) -> StoredNote:
        """Return a note as on disk. Raises what `NoteFiles.read` does, and NotNow while another program saves it.

        `is_shown`: the note is only displayed, which is also allowed for notes that are never written.
        """
        for attempt in range(TRIES):
            with contextlib.suppress(TornReadError):
                return await self._in_thread(partial(self.files.read, path, is_shown=is_shown))
            await asyncio.sleep(_pause(attempt))
        raise NotNow(f"{path} is being written all the time", hint="try again in a moment")

    async def change(
        self,
        path: RelativePath,
        edit: Edit,
        *,
        by: WrittenBy,
        why: str,
        run: str = "",
        agent: str = "",
        delete: bool = False,
        keeps_lines: bool = True,
        undoes: int = 0,
    ) -> NoteChange:
        """Write the text that `edit` returns for a note, durably, and return the result.

        If another program saves the note in between, its text wins and `edit` is called again with it. With `delete`, a
        note left without any text is removed. Without `keeps_lines`, the ledger stores none of its text. Exceptions of
        `edit` are passed on. Raises Denied if `memory.readOnly` is set, InvalidRequest for a note that may not be
        written, StoreUnavailable if the disk fails, and NotNow if other programs save it all the time. In all these
        cases no byte was changed.
        """
        self.check_writable()
        draft = ChangeRow(
            run=run,
            agent=agent,
            writer=by,
            why=why,
            path=path,
            at=self._clock(),
            hunks=() if keeps_lines else None,
            undoes=undoes,
        )
        async with self._turn:
            await self._settle()
            return await self._edit(draft, edit, deletes=delete)

    async def check_interrupted(self) -> None:
        """Check changes that a kill interrupted, and note how far they came. Drop trouble about notes edited since."""
        if not self._is_read_only:
            async with self._turn:
                self._is_settled &= not self._trouble
                await self._settle()
                for path, digest in list(self._unknown.items()):
                    with contextlib.suppress(MemorydError):
                        if (await self.read(path)).sha256 != digest:
                            del self._unknown[path]

    async def run(self, seconds: float = RETRY_SECONDS) -> None:
        """Settle again and again until cancelled; return at once if the memory is read-only."""
        while not self._is_read_only:
            await self.check_interrupted()
            await asyncio.sleep(seconds)

    async def _edit(self, draft: ChangeRow, edit: Edit, *, deletes: bool) -> NoteChange:
        defeat = FileChangedError()
        for attempt in range(TRIES):
            before = await self._read_saved(draft.path)
            # in a thread: a log may have megabytes
            text = await self._in_thread(partial(edit, before.text))
            if text is None or text == before.text or (text == "" and deletes and before.stat is None):
                return NoteChange(draft.path, before.text or "", before.sha256.hex(), is_written=False)
            try:
                return await self._swap(draft, before, text, is_removed=deletes and not text)
            except FileChangedError as exc:
                defeat = exc
            await asyncio.sleep(_pause(attempt))
        raise NotNow(f"{draft.path} cannot be written now: {defeat}", hint="close it there, or try again in a moment")

    async def _read_saved(self, path: RelativePath) -> StoredNote:
        """Read a note; retry while one that existed a moment ago is missing: an editor may save it in two steps."""
        for _ in range(MISSING_TRIES):
            before = await self.read(path)
            if before.stat is not None or not any(knows(path) for knows in self.existed_recently):
                return before
            await asyncio.sleep(PAUSE_SECONDS)
        return await self.read(path)

    async def _swap(self, draft: ChangeRow, before: StoredNote, text: str, *, is_removed: bool) -> NoteChange:
        """Write a text between intending and settling its row; raises FileChangedError if the note was saved since."""
        data = b"" if is_removed else await self._in_thread(partial(self.files.encode, before, text))
        swap = partial(self.files.remove, before) if is_removed else partial(self.files.write, before, data)
        after = b"" if is_removed else sha256(data).digest()
        row = await self._in_thread(partial(_row, draft, before, text, after))
        # unsettled until the outcome is noted: a kill, or a cancelled caller, can come in between
        was_settled, self._is_settled = self._is_settled, False
        number, note = await self._intend(row)
        try:
            await self._in_thread(swap)
        except FileChangedError:
            self._is_settled = await self._note_outcome(number, None) and was_settled
            raise
        except MemorydError:
            # the disk failed; the hash shows what is in the file
            await self._settle()
            raise
        self._notify()
        self._is_settled = await self._note_outcome(number, ChangeState.DONE) and was_settled
        return NoteChange(draft.path, text, row.hash_after.hex(), is_written=True, id=number, note=note)

    async def _intend(self, row: ChangeRow) -> tuple[int, str]:
        """Insert the row of a change before the file is written; return its number, or 0 and why there is none."""
        try:
            number = await self.changes.intend(row)
        except StoreError as exc:
            self._trouble = str(exc)
            return 0, f"it cannot be undone: {exc}"
        self._trouble = ""
        return number, "" if row.hunks is not None else "it cannot be undone: its lines are not kept"

    async def _note_outcome(self, number: int, state: ChangeState | None) -> bool:
        """Note how far a change came; None: it was not made. If that fails, a later check of the hashes settles it."""
        try:
            if number:
                await (self.changes.drop(number) if state is None else self.changes.record_state(number, state))
        except StoreError as exc:
            self._trouble = str(exc)
            return False
        return True

    async def _settle(self) -> None:
        if self._is_settled:
            return
        try:
            for row in await self.changes.unsettled():
                await self._settle_row(row)
            await self._in_thread(self.files.sweep)
        except (MemorydError, OSError) as exc:
            self._trouble = str(exc)
            return
        self._is_settled, self._trouble = True, ""

    async def _settle_row(self, row: ChangeRow) -> None:
        """Compare a file with the hashes before and after a change."""
        try:
            now = (await self.read(row.path)).sha256
        except RequestError as exc:
            # the file is no longer a note, so its state is unknown; errors of the disk are retried later
            log.warning("a change cannot be looked at", path=row.path, reason=str(exc))
            now = None
        if now == row.hash_before:
            await self.changes.drop(row.id)
        elif now == row.hash_after:
            await self.changes.record_state(row.id, ChangeState.DONE)
        else:
            log.warning("a change was cut short and its note was edited since", path=row.path)
            if now:  # of a missing file there is nothing to check
                self._unknown[row.path] = now
            await self.changes.record_state(row.id, ChangeState.UNKNOWN)

    async def _in_thread(self, work: Callable[[], Done]) -> Done:
        """Run it in a thread, and wait for its end even if cancelled: two threads must not write one file at once."""
        running = asyncio.get_running_loop().run_in_executor(self._executor, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([running])
            with contextlib.suppress(Exception):
                running.result()  # no one awaits it any longer; avoid the warning
            raise

    async def undo(self, number: int, *, is_dry_run: bool = False) -> list[UndoneChange]:
        """Undo a change; raises NotFound, InvalidRequest if it cannot be undone, and what `Journal.change` does."""
        self.check_writable()
        await self.check_interrupted()
        row = await self.changes.get(number)
        if row is None or row.state is ChangeState.INTENDED:
            raise NotFound(f"there is no change {number}", hint="memoryctl changes lists them")
        return await self._undo_rows(await self._check_undoable([row]), is_dry_run=is_dry_run)

    async def undo_run(self, run: str, *, is_dry_run: bool = False) -> tuple[list[UndoneChange], list[str]]:
        """Undo all changes of one run, or none if one of them cannot be undone; raises what `undo` does.

        Of an import, everything unchanged is removed; notes edited since stay, and are returned as sentences.
        """
        self.check_writable()
        await self.check_interrupted()
        rows = await self.changes.select(ChangeFilter(run=run, limit=CHANGES_MAX)) if run else []
        if not rows:
            raise NotFound(f"there is no run {run!r}", hint="memoryctl changes --json names the run of each change")
        active = [row for row in rows if row.state is not ChangeState.UNDONE] or rows
        if any(row.writer != WrittenBy.IMPORT for row in active):
            return await self._undo_rows(await self._check_undoable(active), is_dry_run=is_dry_run), []
        undoable, edited = await self._undoable(active)
        return await self._undo_rows(undoable, is_dry_run=is_dry_run) if undoable else [], edited

    async def _undoable(self, rows: Sequence[ChangeRow]) -> tuple[list[_PlannedUndo], list[str]]:
        """Return what of an import can be undone, and sentences about notes edited since.

        Deleted notes are skipped.

        Raises InvalidRequest if all were edited.
        """
        texts: dict[RelativePath, str | None] = {}
        undoable, edited = list[_PlannedUndo](), list[tuple[ChangeRow, InvalidRequest]]()
        for row in rows:
            try:
                if row.path not in texts:
                    texts[row.path] = (await self.read(row.path)).text
                if (text := texts[row.path]) is not None:
                    texts[row.path], planned = await self._in_thread(partial(_planned_undo, row, text))
                    undoable.append(planned)
            except InvalidRequest as exc:
                edited.append((row, exc))
        if edited and not undoable:
            raise edited[0][1]
        return undoable, [f"{row.path} stays: {exc}" for row, exc in edited]

    async def _undo_rows(self, plan: Sequence[_PlannedUndo], *, is_dry_run: bool) -> list[UndoneChange]:
        """Undo changes, the newest first."""
        if is_dry_run:
            return [(shown, 0) for _, shown in plan]
        done, run = list[UndoneChange](), undoing_run([row for row, _ in plan])
        with self.batched_notifications():
            for row, shown in plan:
                try:
                    change = await self.change(
                        row.path,
                        partial(_text_without, row),
                        by=WrittenBy.UNDO,
                        why=f"change {row.id} was taken back",
                        run=run,
                        delete=not row.hash_before,  # a file that the change created is deleted with its last line
                        undoes=row.id,
                    )
                    done.append((shown, change.id))
                except MemorydError as exc:
                    if not done:
                        raise
                    made = ", ".join(str(row.id) for row, _ in done)
                    raise InvalidRequest(f"{exc}; taken back before it: {made}", hint=exc.hint) from exc
        return done

    async def _check_undoable(self, rows: Sequence[ChangeRow]) -> list[_PlannedUndo]:
        """Return what is undone, one after another; raise InvalidRequest unless all can be undone."""
        texts, plan = dict[RelativePath, str](), list[_PlannedUndo]()
        for row in rows:
            before = texts[row.path] if row.path in texts else (await self.read(row.path)).text or ""
            # in a thread: a log may have megabytes
            texts[row.path], planned = await self._in_thread(partial(_planned_undo, row, before))
            plan.append(planned)
        return plan


def _row(draft: ChangeRow, before: StoredNote, text: str, after: bytes) -> ChangeRow:
    hunks = None if draft.hunks is None else hunks_between(before.text or "", text)
    return replace(draft, hash_before=before.sha256, hash_after=after, hunks=hunks)


def _pause(attempt: int) -> float:
    return min(PAUSE_SECONDS, 0.001 * float(1 << min(attempt, 6)))


def undoing_run(rows: Sequence[ChangeRow]) -> str:
    """Return the name of the run that undoes several changes of a run; empty for one change."""
    return f"undo-{rows[0].run}" if len(rows) > 1 else ""


def _text_without(row: ChangeRow, text: str | None) -> str:
    hint = f"look at {row.path}, and edit it yourself"
    try:
        return undo_in_text(text or "", row.path, stored_hunks(row))
    except UncertainPlaceError as exc:
        raise InvalidRequest(f"change {row.id} cannot be taken back: {exc}", hint=hint) from exc


def _planned_undo(row: ChangeRow, text: str) -> tuple[str, _PlannedUndo]:
    """Return a text without a change, and what its undo takes back; raises InvalidRequest."""
    after = _text_without(row, text)
    return after, (row, replace(row, hunks=hunks_between(after, text)))


def stored_hunks(row: ChangeRow) -> tuple[Hunk, ...]:
    """Return the hunks that undo needs; raises InvalidRequest if the change is undone, or has no stored lines."""
    if row.state is ChangeState.UNDONE:
        raise InvalidRequest(f"change {row.id} is taken back already", hint="undo the undo to have it again")
    if row.hunks is None:
        raise InvalidRequest(
            f"change {row.id} cannot be taken back: its lines are not kept",
            hint="there were too many, or they contain forgotten or private text",
        )
    return row.hunks
