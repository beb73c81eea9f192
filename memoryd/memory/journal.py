"""The one way to write memories into a workspace: read, edit, compare and swap, a row for each change; and undoing it.

A row is in the ledger before the file is written, and is settled after: hashes tell what a kill left. If the ledger
cannot be used, undo is lost, never the memory. Undo removes what a change wrote and brings back what it took out, where
their lines are still the same; it is itself a change, which can be undone.
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
from memoryd.domain.memories.changes.diffs import Hunk, MovedOnError, hunks_between
from memoryd.domain.memories.changes.note_text import undone_text
from memoryd.domain.memories.kinds import CHANGES_MAX, WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow, RequestError, StoreError, read_only
from memoryd.files.reading import TornReadError
from memoryd.files.writing import FileChangedError
from memoryd.memory.note_files import NoteFiles, StoredNote
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeRow, ChangeState

log = structlog.get_logger(__name__)

TRIES = 100
"""An editor that saves on each key is slower than so many defeats in a row."""
PAUSE_SECONDS = 0.05
"""The longest wait between two tries."""
MISSING_TRIES = 6
WAIT_SECONDS = 60.0
"""How long an act waits for another one to end."""
RETRY_SECONDS = 15.0
WHY_NOT_KEPT = "there were too many of them, or they tell what is forgotten, or private now"
UNKNOWN_OUTCOME = "a change was cut short, and the file was edited since: look at it"

Edit = Callable[[str | None], str | None]
"""What a text is to become, None to leave it; asked in a thread, perhaps more than once, None where there is no file.

Lines end in a plain `\\n`, whatever the file has: a line that stays keeps its own end.
"""
Done = TypeVar("Done")


class NoteChange(Struct, frozen=True):
    """What came of an edit. `text` is that of the file now; without `is_written` it was as wanted, or left alone.

    `id` names the row by which it can be undone; 0: there is none, and `note` says why.
    """

    path: RelativePath
    text: str
    sha256: str
    is_written: bool
    id: int = 0
    note: str = ""


class RevokeShared(Protocol):
    """Takes memories back from a team, and what goes from notes."""

    async def __call__(
        self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool
    ) -> Sequence[str]:
        """Take back what is shared of these lines and notes, or look only; return what is to be said of it."""


class Journal:
    """Writes into one workspace, one change after the other. `on_written` is told of each."""

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
        self.let_go: RevokeShared | None = None
        """Told of what no note states any more, for it may be shared with a team; None: nothing is."""
        self._writing_many, self._is_owed = 0, False
        self.knows: list[Callable[[RelativePath], bool]] = []
        """Who can say that a note was there a moment ago."""
        self.one_at_a_time = asyncio.Lock()
        """For who looks up what stands before writing over it, of whichever agent of the workspace."""
        self._executor = executor
        self._is_read_only = is_read_only
        self._clock = clock
        self._planned, self._turn = asyncio.Lock(), asyncio.Lock()
        self._is_settled, self._trouble = False, ""
        self._unknown: dict[RelativePath, bytes] = {}

    @property
    def trouble(self) -> list[str]:
        """What its owner should look at, one sentence each."""
        owed = [f"changes may not be undone: {self._trouble}"] if self._trouble else []
        return owed + [f"{path}: {UNKNOWN_OUTCOME}" for path in self._unknown]

    @contextlib.asynccontextmanager
    async def alone(self, wait_seconds: float = WAIT_SECONDS) -> AsyncIterator[None]:
        """Keep others from planning from all memories, to write for long: reflect would write what is forgotten.

        Raises NotNow where they take longer than this.
        """
        try:
            async with asyncio.timeout(wait_seconds):
                await self._planned.acquire()
        except TimeoutError as exc:
            raise NotNow("a run of reflect, or a forgetting, goes on", hint="try again when it has ended") from exc
        try:
            yield
        finally:
            self._planned.release()

    @contextlib.contextmanager
    def telling_once(self) -> Iterator[None]:
        """Tell of all that is written in the block at its end: who hears of a change looks at all notes."""
        self._writing_many += 1
        try:
            yield
        finally:
            self._writing_many -= 1
            if self._is_owed:
                self._tell()

    def _tell(self) -> None:
        self._is_owed = self._writing_many > 0
        if not self._is_owed:
            for tell in self.on_written:
                tell()

    def check_writable(self) -> None:
        """Raise Denied where nothing may be written."""
        if self._is_read_only:
            raise read_only()

    async def revoke(
        self, lines: Iterable[RetainedLine], paths: Collection[str], *, is_dry_run: bool = False
    ) -> Sequence[str]:
        """Tell a team of lines that go, and of notes in which something does; return what is to be said of it."""
        return () if self.let_go is None else await self.let_go(lines, paths, is_dry_run=is_dry_run)

    async def check_room(self, paths: Iterable[RelativePath]) -> None:
        """Raise what `change` does where the disk would not take each of these notes once more; none is changed."""
        for path in sorted(paths):
            await self._in_thread(partial(self.files.check_room, await self.read(path)))

    async def read(self, path: RelativePath, *, is_shown: bool = False) -> StoredNote:
        """Return a note as it stands; raises what `NoteFiles.read` does, and NotNow while somebody saves it.

        `is_shown`: it is to be shown only, as what is never written may be.
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
        """Write what `edit` makes of a note, durably, and return what came of it.

        Another one who saves meanwhile wins, and the edit is made anew of what they saved. With `delete` a note
        that is left without any text is removed. Without `keeps_lines` the ledger gets none of its text. What `edit`
        raises is raised. Raises Denied with `memory.readOnly`, InvalidRequest for a note that may not be written,
        StoreUnavailable where the disk stands in the way, and NotNow where others save all the time: then no byte
        was changed.
        """
        self.check_writable()
        draft = ChangeRow(
            run=run,
            agent=agent,
            writer=by,
            why=why,
            path=path,
            at=self._clock(),
            hash_before=b"",
            hash_after=b"",
            hunks=() if keeps_lines else None,
            undoes=undoes,
        )
        async with self._turn:
            await self._settle()
            return await self._edit(draft, edit, deletes=delete)

    async def settle(self) -> None:
        """Look at what a kill left, and note how far it came; a note that somebody wrote since was looked at."""
        if not self._is_read_only:
            async with self._turn:
                self._is_settled &= not self._trouble
                await self._settle()
                for path, found in list(self._unknown.items()):
                    with contextlib.suppress(MemorydError):
                        if (await self.read(path)).sha256 != found:
                            del self._unknown[path]

    async def run(self, seconds: float = RETRY_SECONDS) -> None:
        """Settle again and again, until cancelled; return where nothing may be written."""
        while not self._is_read_only:
            await self.settle()
            await asyncio.sleep(seconds)

    async def _edit(self, draft: ChangeRow, edit: Edit, *, deletes: bool) -> NoteChange:
        defeat = FileChangedError()
        for attempt in range(TRIES):
            before = await self._read_whole(draft.path)
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

    async def _read_whole(self, path: RelativePath) -> StoredNote:
        """Read a note; one that was there a moment ago may be missing between two steps of an editor that saves it."""
        for _ in range(MISSING_TRIES):
            before = await self.read(path)
            if before.stat is not None or not any(knows(path) for knows in self.knows):
                return before
            await asyncio.sleep(PAUSE_SECONDS)
        return await self.read(path)

    async def _swap(self, draft: ChangeRow, before: StoredNote, text: str, *, is_removed: bool) -> NoteChange:
        """Write a text with its row around it; raises FileChangedError where somebody was faster."""
        data = b"" if is_removed else await self._in_thread(partial(self.files.encoded, before, text))
        swap = partial(self.files.remove, before) if is_removed else partial(self.files.write, before, data)
        after = b"" if is_removed else sha256(data).digest()
        row = await self._in_thread(partial(_row, draft, before, text, after))
        # until it is noted how this ended: a kill, or a caller who goes away, may come in between
        was_settled, self._is_settled = self._is_settled, False
        number, note = await self._intend(row)
        try:
            await self._in_thread(swap)
        except FileChangedError:
            self._is_settled = await self._note_outcome(number, None) and was_settled
            raise
        except MemorydError:
            # the disk said no; by the hash it is known what stands there
            await self._settle()
            raise
        self._tell()
        self._is_settled = await self._note_outcome(number, ChangeState.DONE) and was_settled
        return NoteChange(draft.path, text, row.hash_after.hex(), is_written=True, id=number, note=note)

    async def _intend(self, row: ChangeRow) -> tuple[int, str]:
        """Note what is about to be written; return the number of the row, or 0 and why there is none."""
        try:
            number = await self.changes.intend(row)
        except StoreError as exc:
            self._trouble = str(exc)
            return 0, f"it cannot be undone: {exc}"
        self._trouble = ""
        return number, "" if row.hunks is not None else "it cannot be undone: its lines are not kept"

    async def _note_outcome(self, number: int, state: ChangeState | None) -> bool:
        """Note how far a change came, None: it was not made. Where that fails, it is settled by the hashes later."""
        try:
            if number:
                await (self.changes.drop(number) if state is None else self.changes.settle(number, state))
        except StoreError as exc:
            self._trouble = str(exc)
            return False
        return True

    async def _settle(self) -> None:
        if self._is_settled:
            return
        try:
            for row in await self.changes.unsettled():
                await self._settle_one(row)
            await self._in_thread(self.files.sweep)
        except (MemorydError, OSError) as exc:
            self._trouble = str(exc)
            return
        self._is_settled, self._trouble = True, ""

    async def _settle_one(self, row: ChangeRow) -> None:
        """Compare a file with what a change found and wrote."""
        try:
            now = (await self.read(row.path)).sha256
        except RequestError as exc:
            # it is no note any more, so that nobody can say; what the disk refuses now is looked at again later
            log.warning("a change cannot be looked at", path=row.path, reason=str(exc))
            now = None
        if now == row.hash_before:
            await self.changes.drop(row.id)
        elif now == row.hash_after:
            await self.changes.settle(row.id, ChangeState.DONE)
        else:
            log.warning("a change was cut short and its note was edited since", path=row.path)
            self._unknown |= {row.path: now} if now else {}  # of one that is gone nothing is left to look at
            await self.changes.settle(row.id, ChangeState.UNKNOWN)

    async def _in_thread(self, work: Callable[[], Done]) -> Done:
        """Do it in a thread, and stay for its end: a caller who goes away must not leave the file to two at once."""
        running = asyncio.get_running_loop().run_in_executor(self._executor, work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([running])
            with contextlib.suppress(Exception):
                # nobody waits for it any more
                running.result()
            raise


def _row(draft: ChangeRow, before: StoredNote, text: str, after: bytes) -> ChangeRow:
    hunks = None if draft.hunks is None else hunks_between(before.text or "", text)
    return replace(draft, hash_before=before.sha256, hash_after=after, hunks=hunks)


def _pause(attempt: int) -> float:
    return min(PAUSE_SECONDS, 0.001 * float(1 << min(attempt, 6)))


Undone = tuple[ChangeRow, int]
"""A change that was taken back, or would be, and the number of the change that did it: 0 on a dry run, or without."""


class Undoing(Struct, frozen=True):
    """Takes back changes of one workspace."""

    journal: Journal

    async def undo(self, number: int, *, is_dry_run: bool = False) -> list[Undone]:
        """Take back a change; raises NotFound, InvalidRequest where it cannot be, and what `Journal.change` does."""
        if not is_dry_run:
            self.journal.check_writable()
        await self.journal.settle()
        row = await self.journal.changes.one(number)
        if row is None or row.state is ChangeState.INTENDED:
            raise NotFound(f"there is no change {number}", hint="memoryctl changes lists them")
        await self._check([row])
        return await self._undone([row], is_dry_run=is_dry_run)

    async def undo_run(self, run: str, *, is_dry_run: bool = False) -> tuple[list[Undone], list[str]]:
        """Take back all changes of one act, or none if one of them cannot be; raises what `undo` does.

        Of an import all goes that stands as it was brought; what was edited since stays, and is returned as sentences.
        """
        if not is_dry_run:
            self.journal.check_writable()
        await self.journal.settle()
        rows = await self.journal.changes.some(ChangeFilter(run=run, limit=CHANGES_MAX)) if run else []
        if not rows:
            raise NotFound(f"there is no run {run!r}", hint="memoryctl changes --json names the run of each change")
        standing = [row for row in rows if row.state is not ChangeState.UNDONE] or rows
        if any(row.writer != WrittenBy.IMPORT for row in standing):
            await self._check(standing)
            return await self._undone(standing, is_dry_run=is_dry_run), []
        sound, left = await self._sorted(standing)
        return await self._undone(sound, is_dry_run=is_dry_run) if sound else [], left

    async def _sorted(self, rows: Sequence[ChangeRow]) -> tuple[list[ChangeRow], list[str]]:
        """Return what of an import can be taken back, and what was edited since; of a note that is gone nothing stands.

        Raises InvalidRequest where all was edited.
        """
        texts: dict[RelativePath, str | None] = {}
        sound, edited = list[ChangeRow](), list[tuple[ChangeRow, InvalidRequest]]()
        for row in rows:
            try:
                if row.path not in texts:
                    texts[row.path] = (await self.journal.read(row.path)).text
                text = texts[row.path]
                if text is not None:
                    texts[row.path] = _text_without(row, text)
                    sound.append(row)
            except InvalidRequest as exc:
                edited.append((row, exc))
        if edited and not sound:
            raise edited[0][1]
        return sound, [f"{row.path} stays: {exc}" for row, exc in edited]

    async def _undone(self, rows: Sequence[ChangeRow], *, is_dry_run: bool) -> list[Undone]:
        """Take back changes, the newest first."""
        if is_dry_run:
            return [(row, 0) for row in rows]
        done, run = list[Undone](), undoing_run(rows)
        with self.journal.telling_once():
            for row in rows:
                try:
                    done.append((row, (await self._take_back(row, run)).id))
                except MemorydError as exc:
                    if not done:
                        raise
                    made = ", ".join(str(row.id) for row, _ in done)
                    raise InvalidRequest(f"{exc}; taken back before it: {made}", hint=exc.hint) from exc
        return done

    async def _check(self, rows: Sequence[ChangeRow]) -> None:
        """Raise InvalidRequest unless all can be taken back, one after the other."""
        texts: dict[RelativePath, str] = {}
        for row in rows:
            if row.path not in texts:
                texts[row.path] = (await self.journal.read(row.path)).text or ""
            texts[row.path] = _text_without(row, texts[row.path])

    async def _take_back(self, row: ChangeRow, run: str) -> NoteChange:
        return await self.journal.change(
            row.path,
            lambda text: _text_without(row, text or ""),
            by=WrittenBy.UNDO,
            why=f"change {row.id} was taken back",
            run=run,
            # a file that the change made goes with its last line
            delete=not row.hash_before,
            undoes=row.id,
        )


def undoing_run(rows: Sequence[ChangeRow]) -> str:
    """Return the run that takes back several changes of a run; empty for one change."""
    return f"undo-{rows[0].run}" if len(rows) > 1 else ""


def _text_without(row: ChangeRow, text: str) -> str:
    hint = f"look at {row.path}, and edit it yourself"
    try:
        return undone_text(text, row.path, stored_hunks(row))
    except MovedOnError as exc:
        raise InvalidRequest(f"change {row.id} cannot be taken back: {exc}", hint=hint) from exc


def stored_hunks(row: ChangeRow) -> tuple[Hunk, ...]:
    """Return what undoing a change takes; raises InvalidRequest where it is undone already, or that is not kept."""
    if row.state is ChangeState.UNDONE:
        raise InvalidRequest(f"change {row.id} is taken back already", hint="undo the undo to have it again")
    if row.hunks is None:
        raise InvalidRequest(f"change {row.id} cannot be taken back: its lines are not kept", hint=WHY_NOT_KEPT)
    return row.hunks
