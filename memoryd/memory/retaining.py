"""Retain adds a memory as a bullet below the Retain heading of today's log, once; also edits memories by id.

An edit looks up the current lines of a memory, and the journal writes them. Keyed hashes record which statements were
stated before: if no line has one any longer, its owner removed it, by undo, by deleting it or in an editor. Without the
ledger only this knowledge is lost.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date
from functools import partial
from uuid import uuid4

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.capture.firewall import hash_with_key
from memoryd.domain.memories.changes.replacing import MemoryReplacement
from memoryd.domain.memories.changes.tombstones import KEY_BYTES, normalized_statement
from memoryd.domain.memories.edits import (
    AttributeChange,
    LineEdit,
    NoPlaceError,
    RetainedText,
    add_memories,
    lines_of_memory,
    with_lines,
    with_memory,
)
from memoryd.domain.memories.kinds import WrittenBy, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import PlacedLine
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound, StoreError
from memoryd.memory.journal import MISSING_TRIES, PAUSE_SECONDS, Edit, Journal, NoteChange
from memoryd.store.ledger.usage import RetainedHashes

PINNED = "a memory was pinned"
UNPINNED = "a memory was unpinned"
WEIGHED = "a memory got another importance"
SETTLED = "two memories that disagreed were settled"
DELETED = "a memory was deleted"
REPLACED = "a memory was replaced"
SETTLE_HINT = "settle it first: `memoryctl conflicts` shows both versions"
_CHANGED_HINT = "its line was edited, or taken out, a moment ago: look it up again"


class NoteChanges(Struct, frozen=True):
    """The changes made, one for each note. `run` undoes several at once; it is empty for a single change."""

    changes: tuple[NoteChange, ...]
    run: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the changes that can be undone."""
        return tuple(change.id for change in self.changes if change.id)

    @property
    def paths(self) -> tuple[RelativePath, ...]:
        """The paths of the changed notes."""
        return tuple(change.path for change in self.changes)


class StatedPlaces(Struct, frozen=True):
    """Where the memories are now, in the order given; `added` says for each whether it is new in the log."""

    path: RelativePath
    placed: tuple[PlacedLine, ...]
    added: tuple[bool, ...]
    change: NoteChange


class WrittenReplacement(Struct, frozen=True):
    """The changes of a replacement, where the new statement is, and messages about notes that could not be written."""

    written: NoteChanges
    retention: StatedPlaces
    notes: tuple[str, ...] = ()


class LineEditing(Struct, frozen=True):
    """Edits the lines of memories of one workspace."""

    journal: Journal

    async def change(self, memory: Memory, change: AttributeChange, *, agent: str = "") -> NoteChanges:
        """Change the attributes of a memory's lines, and return the changes; none if it has these attributes already.

        The newest line carries the attributes; removing a pin removes it from all lines. Raises NotFound if no line
        states the memory any longer, InvalidRequest for a line that cannot be written so or that only a conflict copy
        has, and what `Journal.change` does.
        """
        if memory.is_of_copies:
            raise InvalidRequest(
                f"{memory.sources[0].path} alone says it, which is a copy of a conflict", hint=SETTLE_HINT
            )
        leading = {source.path for source in memory.sources if source.line is memory.line}
        pinned = {source.path for source in memory.sources if source.line.attributes.is_pinned}
        paths = leading | pinned if change.is_pinned is False else leading
        why = WEIGHED if change.is_pinned is None else PINNED if change.is_pinned else UNPINNED
        return await self._edit_lines(memory, paths, change.of, why=why, agent=agent)

    async def relate(self, memory: Memory, edit: LineEdit) -> NoteChanges:
        """Edit the newest line of a memory, to note its relation to another memory; raises as `change`."""
        paths = {source.path for source in memory.sources if source.line is memory.line}
        return await self._edit_lines(memory, paths, edit, why=SETTLED, agent="")

    async def delete(self, memory: Memory, *, agent: str = "") -> NoteChanges:
        """Delete all lines that state a memory, and return the changes; raises as `change`."""
        paths = {source.path for source in memory.sources}
        return await self._edit_lines(memory, paths, lambda _: None, why=DELETED, agent=agent)

    async def lines(self, memory: Memory) -> list[tuple[str, int, int]]:
        """Return the lines that state a memory on disk: path, first and last line, from 1."""
        lines: list[tuple[str, int, int]] = []
        for path in sorted({source.path for source in memory.sources}):
            text = (await self.journal.read(RelativePath(path))).text or ""
            lines += [
                (path, line.start_line, line.end_line) for line in lines_of_memory(text, RelativePath(path), memory.id)
            ]
        return lines

    async def replace(
        self, old: Memory, plan: MemoryReplacement, paths: Sequence[str], log: RelativePath, *, agent: str = ""
    ) -> WrittenReplacement:
        """Write a replacement into the notes of `paths`, and its new line into the log, all in one run.

        The log is written first: a new line that names what it supersedes is sufficient, and marks on older lines are
        for human readers. If the replacement is in place, a failure of any note raises, with a hint that names what was
        written before it. Raises as `change`.
        """
        self.journal.check_writable()
        if not await self._is_stated(old, is_written=plan.is_in_place):
            raise NotFound(f"no line states the memory {short_id(old.id)} any more", hint=_CHANGED_HINT)
        run, done, notes = uuid4().hex, list[NoteChange](), list[str]()
        own = [] if plan.is_in_place or plan.is_stated else [log]
        for path in dict.fromkeys((*own, *map(RelativePath, paths))):
            edit = partial(_with_replacement, plan, path, is_log=path in own)
            try:
                done.append(await self._edit_note(path, edit, why=REPLACED, run=run, agent=agent))
            except MemorydError as exc:
                if plan.is_in_place or path in own:
                    raise with_undo_hint(exc, done) from exc
                notes.append(f"it is superseded, and its line in {path} could not be marked so: {exc}")
        log_paths = [*own, *plan.stated_in, *(source.path for source in old.sources)]
        retention = await self._retention(plan, log_paths, done)
        return WrittenReplacement(_written_lines(done, run), retention, tuple(notes))

    async def _is_stated(self, memory: Memory, *, is_written: bool) -> bool:
        """Return whether a line on disk states it; retry, because a note may be empty while an editor saves it.

        For a note that may not be written, the index is trusted unless the line itself `is_written`.
        """
        for _ in range(MISSING_TRIES):
            try:
                if await self.lines(memory):
                    return True
            except InvalidRequest:
                if is_written:
                    raise
                return True
            await asyncio.sleep(PAUSE_SECONDS)
        return False

    async def _retention(
        self, plan: MemoryReplacement, paths: Sequence[str], done: Sequence[NoteChange]
    ) -> StatedPlaces:
        """Return where the new statement is: in the first of these notes that has it; raises NotFound."""
        changes = {change.path: change for change in done}
        for path in dict.fromkeys((*map(RelativePath, paths), *changes)):
            change = changes.get(path)
            if change is None:
                note = await self.journal.read(path)
                change = NoteChange(path, note.text or "", note.sha256.hex(), is_written=False)
            if lines := lines_of_memory(change.text, path, plan.new):
                return StatedPlaces(path, lines[-1:], (change.is_written,), change)
        raise NotFound(f"no line states the memory {short_id(plan.new)} any more", hint=_CHANGED_HINT)

    async def _edit_lines(
        self, memory: Memory, paths: Iterable[str], edit: LineEdit, *, why: str, agent: str
    ) -> NoteChanges:
        for _ in range(MISSING_TRIES):
            if (written := await self._try_edit(memory, sorted(paths), edit, why=why, agent=agent)) is not None:
                return written
            # a note may be empty while an editor saves it
            await asyncio.sleep(PAUSE_SECONDS)
        raise NotFound(f"no line states the memory {short_id(memory.id)} any more", hint=_CHANGED_HINT)

    async def _try_edit(
        self, memory: Memory, paths: Sequence[str], edit: LineEdit, *, why: str, agent: str
    ) -> NoteChanges | None:
        """Edit each note; return the changes, None if no note had the line."""
        self.journal.check_writable()
        # check all notes first: one that may not be written stops all of them
        for path in paths:
            await self.journal.read(RelativePath(path))
        run, done, matched = uuid4().hex, list[NoteChange](), set[RelativePath]()

        def edit_note(path: RelativePath, text: str | None) -> str | None:
            edited = None if text is None else with_memory(text, path, memory.id, edit)
            if edited is not None:
                matched.add(path)
            return edited

        for path in map(RelativePath, paths):
            try:
                done.append(await self._edit_note(path, partial(edit_note, path), why=why, run=run, agent=agent))
            except MemorydError as exc:
                raise with_undo_hint(exc, done) from exc
        return _written_lines(done, run) if matched else None

    async def _edit_note(self, path: RelativePath, edit: Edit, *, why: str, run: str, agent: str) -> NoteChange:
        try:
            return await self.journal.change(path, edit, by=WrittenBy.MEMORIES, why=why, run=run, agent=agent)
        except NoPlaceError as exc:
            raise InvalidRequest(str(exc)) from exc


def _with_replacement(plan: MemoryReplacement, path: RelativePath, text: str | None, *, is_log: bool) -> str | None:
    if is_log:
        return plan.in_log(text or "", path).text
    return None if text is None else with_lines(text, path, plan.of)


def _written_lines(done: Sequence[NoteChange], run: str) -> NoteChanges:
    written = tuple(change for change in done if change.is_written)
    return NoteChanges(written, run if len(written) > 1 else "")


def with_undo_hint(exc: MemorydError, done: Sequence[NoteChange]) -> MemorydError:
    """Return the error, with a hint that names the changes made before it."""
    if made := [str(change.id) for change in done if change.is_written and change.id]:
        # no command to copy: change numbers belong to an agent, which is not known here
        exc.hint = " ".join(filter(None, [exc.hint, f"written before it; as the same agent: undo {', '.join(made)}"]))
    elif not exc.hint:
        exc.hint = "nothing was written"
    return exc


class StatementHashes(Struct, eq=False):
    """Statements made before in one workspace, as keyed hashes.

    `key` takes a proposed key and returns the stored one, which is the first proposed. `others` are the hashes of other
    ledgers of the workspace, which may have older ones.
    """

    rows: RetainedHashes
    key: Callable[[bytes], Awaitable[bytes]]
    others: Sequence["StatementHashes"] = ()
    clock: Callable[[], float] = time.time
    _key: bytes = b""

    async def note(self, texts: Iterable[str]) -> None:
        """Record these statements by their hashes; also used for deleted ones."""
        with contextlib.suppress(StoreError, Denied):
            hashes = await self._hashes(texts)
            if hashes:
                await self.rows.put(hashes.values(), self.clock())

    async def drop(self, texts: Iterable[str]) -> None:
        """Delete the hashes of these texts; raises StoreError, Denied."""
        removed = list(texts)
        for store in (self, *self.others):
            await store.rows.drop((await store._hashes(removed)).values())

    async def among(self, texts: Iterable[str]) -> frozenset[str]:
        """Return those of the texts that were stated before, whether or not a line still states them."""
        candidates, known = list(texts), set[str]()
        for store in (self, *self.others):
            with contextlib.suppress(StoreError, Denied):
                hashes = await store._hashes(candidates)
                stored = await store.rows.among(hashes.values()) if hashes else frozenset()
                known.update(text for text, digest in hashes.items() if digest in stored)
        return frozenset(known)

    async def _hashes(self, texts: Iterable[str]) -> dict[str, bytes]:
        distinct = list(dict.fromkeys(texts))
        if distinct and not self._key:
            self._key = await self.key(secrets.token_bytes(KEY_BYTES))
        if not self._key:
            return {}
        hashed = hash_with_key(self._key)
        return {text: hashed(f"stated\0{normalized_statement(text)}") for text in distinct}


class Retaining(Struct, frozen=True):
    """Writes memories into the daily logs of one workspace.

    `today` returns the owner's day; `stated` records statements.
    """

    journal: Journal
    today: Callable[[], date]
    stated: StatementHashes | None = None

    def log(self, day: date | None = None) -> RelativePath:
        """Return the path of the log of a day; a future day means today."""
        return RelativePath(f"memory/{min(day or date.max, self.today()).isoformat()}.md")

    async def retain(
        self,
        lines: Sequence[RetainedLine],
        *,
        agent: str = "",
        by: WrittenBy = WrittenBy.RETAIN,
        day: date | None = None,
        run: str = "",
    ) -> StatedPlaces:
        """State memories in the log of a day, default today, all in one write.

        Statements already in the log are left as is.

        A future day means today. Raises what `Journal.change` does, and InvalidRequest if nothing can be added.
        """
        path = self.log(day)
        attempts: list[RetainedText] = []

        def edit(text: str | None) -> str | None:
            attempts.append(add_memories(text or "", path, lines))
            return attempts[-1].text if attempts[-1].added else None

        try:
            # the reason must not quote the memory: it would survive forgetting
            why = "a memory was stated" if len(lines) == 1 else f"{len(lines)} memories were stated"
            change = await self.journal.change(path, edit, by=by, why=why, run=run, agent=agent)
        except NoPlaceError as exc:
            raise InvalidRequest(str(exc), hint="close it, then retain again") from exc
        placed, added = attempts[-1].placed, attempts[-1].added
        if self.stated is not None:
            await self.stated.note(line.line.text for line in placed)
        return StatedPlaces(path, placed, tuple(line.line.id in added for line in placed), change)
