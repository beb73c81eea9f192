"""Retain: a memory becomes a bullet below the Retain heading of today's log, once; and edits of memories by id.

An edit finds the lines of a memory as they are now, and the journal writes them. Keyed hashes record what was stated
once: if it is in no line any more, its owner took it back, by undo, by deleting it or in an editor. Without the ledger
only this knowledge is lost.
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
from memoryd.domain.memories.capture.firewall import keyed
from memoryd.domain.memories.changes.replacing import MemoryReplacement
from memoryd.domain.memories.changes.tombstones import KEY_BYTES, normalized_statement
from memoryd.domain.memories.edits import (
    AttributeChange,
    LineEdit,
    NoPlaceError,
    RetainedText,
    retained_in,
    stating,
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
_UNMARKED = "it is superseded, and its line in {} could not be marked so: {}"
SETTLE_HINT = "settle it first: `memoryctl conflicts` shows both versions"
_GONE = "its line was edited, or taken out, a moment ago: look it up again"


class WrittenLines(Struct, frozen=True):
    """What was written, one change for each note; `run` takes back several at once, empty where that is not needed."""

    changes: tuple[NoteChange, ...]
    run: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The changes by which it can be undone."""
        return tuple(one.id for one in self.changes if one.id)

    @property
    def paths(self) -> tuple[RelativePath, ...]:
        """The notes that it is in, or was."""
        return tuple(one.path for one in self.changes)


class Retention(Struct, frozen=True):
    """Where the memories stand now, in the order they were given; `added` says of each whether it is new in the log."""

    path: RelativePath
    placed: tuple[PlacedLine, ...]
    added: tuple[bool, ...]
    change: NoteChange


class WrittenReplacement(Struct, frozen=True):
    """What was written of a replacement, where the new statement stands, and what could not be written."""

    written: WrittenLines
    retention: Retention
    notes: tuple[str, ...] = ()


class LineEditing(Struct, frozen=True):
    """Writes into the lines of memories of one workspace."""

    journal: Journal

    async def change(self, memory: Memory, change: AttributeChange, *, agent: str = "") -> WrittenLines:
        """Give the lines of a memory other attributes, and return what was written; none if they are so already.

        What says how it stands is its newest line; a pin that is taken away goes from all of them. Raises NotFound
        where no line states it any more, InvalidRequest for a line that cannot be written so or that a copy of a
        conflict alone has, and what `Journal.change` does.
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

    async def relate(self, memory: Memory, wanted: LineEdit) -> WrittenLines:
        """Have the newest line of a memory say how it stands to another one; raises as `change`."""
        paths = {source.path for source in memory.sources if source.line is memory.line}
        return await self._edit_lines(memory, paths, wanted, why=SETTLED, agent="")

    async def delete(self, memory: Memory, *, agent: str = "") -> WrittenLines:
        """Take out all lines that state a memory, and return what was written; raises as `change`."""
        paths = {source.path for source in memory.sources}
        return await self._edit_lines(memory, paths, lambda _: None, why=DELETED, agent=agent)

    async def standing(self, memory: Memory) -> list[tuple[str, int, int]]:
        """Return the lines that state a memory as they stand on disk: path, first and last line, from 1."""
        found: list[tuple[str, int, int]] = []
        for path in sorted({source.path for source in memory.sources}):
            text = (await self.journal.read(RelativePath(path))).text or ""
            found += [(path, one.start_line, one.end_line) for one in stating(text, RelativePath(path), memory.id)]
        return found

    async def replace(
        self, old: Memory, plan: MemoryReplacement, paths: Sequence[str], log: RelativePath, *, agent: str = ""
    ) -> WrittenReplacement:
        """Write a replacement into the notes of `paths`, and its new line into the log, all of one run.

        The log comes first: a new line that names what it supersedes is all that is needed, marks of older ones are
        for who reads these. In place all notes are written, or it is raised what was. Raises as `change`.
        """
        self.journal.check_writable()
        if not await self._stands(old, is_written=plan.is_in_place):
            raise NotFound(f"no line states the memory {short_id(old.id)} any more", hint=_GONE)
        run, done, notes = uuid4().hex, list[NoteChange](), list[str]()
        own = [] if plan.is_in_place or plan.is_said else [log]
        for path in dict.fromkeys((*own, *map(RelativePath, paths))):
            edit = partial(_replace_in_log if path in own else _replace_in_note, plan, path)
            try:
                done.append(await self._edit_note(path, edit, why=REPLACED, run=run, agent=agent))
            except MemorydError as exc:
                if plan.is_in_place or path in own:
                    raise with_undo_hint(exc, done) from exc
                notes.append(_UNMARKED.format(path, exc))
        standing = await self._standing(plan, [*own, *plan.said_in, *(one.path for one in old.sources)], done)
        return WrittenReplacement(_written_lines(done, run), standing, tuple(notes))

    async def _stands(self, memory: Memory, *, is_written: bool) -> bool:
        """Tell whether a line states it; between two steps of an editor that saves it a note may be empty.

        A note that may not be written, where nothing `is_written` but marks, is taken at the word of the index.
        """
        for _ in range(MISSING_TRIES):
            try:
                if await self.standing(memory):
                    return True
            except InvalidRequest:
                if is_written:
                    raise
                return True
            await asyncio.sleep(PAUSE_SECONDS)
        return False

    async def _standing(self, plan: MemoryReplacement, paths: Sequence[str], done: Sequence[NoteChange]) -> Retention:
        """Return where the new statement stands, in the first of these notes that has it; raises NotFound."""
        changes = {one.path: one for one in done}
        for path in dict.fromkeys((*map(RelativePath, paths), *changes)):
            change = changes.get(path)
            if change is None:
                note = await self.journal.read(path)
                change = NoteChange(path, note.text or "", note.sha256.hex(), is_written=False)
            if found := stating(change.text, path, plan.new):
                return Retention(path, found[-1:], (change.is_written,), change)
        raise NotFound(f"no line states the memory {short_id(plan.new)} any more", hint=_GONE)

    async def _edit_lines(
        self, memory: Memory, paths: Iterable[str], wanted: LineEdit, *, why: str, agent: str
    ) -> WrittenLines:
        for _ in range(MISSING_TRIES):
            if (written := await self._try_edit(memory, sorted(paths), wanted, why=why, agent=agent)) is not None:
                return written
            # between two steps of an editor that saves it a note may be empty
            await asyncio.sleep(PAUSE_SECONDS)
        raise NotFound(f"no line states the memory {short_id(memory.id)} any more", hint=_GONE)

    async def _try_edit(
        self, memory: Memory, paths: Sequence[str], wanted: LineEdit, *, why: str, agent: str
    ) -> WrittenLines | None:
        """Edit each note; return what was written, None where no note had the line."""
        self.journal.check_writable()
        # all or none, as far as that can be known before: a note that may not be written stops all of them
        for path in paths:
            await self.journal.read(RelativePath(path))
        run, done, found = uuid4().hex, list[NoteChange](), set[RelativePath]()

        def edit(path: RelativePath, text: str | None) -> str | None:
            made = None if text is None else with_memory(text, path, memory.id, wanted)
            if made is not None:
                found.add(path)
            return made

        for path in map(RelativePath, paths):
            try:
                done.append(await self._edit_note(path, partial(edit, path), why=why, run=run, agent=agent))
            except MemorydError as exc:
                raise with_undo_hint(exc, done) from exc
        return _written_lines(done, run) if found else None

    async def _edit_note(self, path: RelativePath, edit: Edit, *, why: str, run: str, agent: str) -> NoteChange:
        try:
            return await self.journal.change(path, edit, by=WrittenBy.MEMORIES, why=why, run=run, agent=agent)
        except NoPlaceError as exc:
            raise InvalidRequest(str(exc)) from exc


def _replace_in_log(plan: MemoryReplacement, path: RelativePath, text: str | None) -> str:
    return plan.in_log(text or "", path).text


def _replace_in_note(plan: MemoryReplacement, path: RelativePath, text: str | None) -> str | None:
    return None if text is None else with_lines(text, path, plan.of)


def _written_lines(done: Sequence[NoteChange], run: str) -> WrittenLines:
    written = tuple(one for one in done if one.is_written)
    return WrittenLines(written, run if len(written) > 1 else "")


def with_undo_hint(exc: MemorydError, done: Sequence[NoteChange]) -> MemorydError:
    """Return what went wrong, with what was written before it."""
    if made := [str(one.id) for one in done if one.is_written and one.id]:
        # no command to copy: numbers are of an agent, and that one is not known here
        exc.hint = " ".join(filter(None, [exc.hint, f"written before it; as the same agent: undo {', '.join(made)}"]))
    elif not exc.hint:
        exc.hint = "nothing was written"
    return exc


class StatementHashes(Struct, eq=False):
    """What was stated in one workspace. `key` returns what hashes are keyed with: the first that was proposed.

    `others` are of other ledgers of the workspace, which may hold some from before.
    """

    rows: RetainedHashes
    key: Callable[[bytes], Awaitable[bytes]]
    others: Sequence["StatementHashes"] = ()
    clock: Callable[[], float] = time.time
    _key: bytes = b""

    async def note(self, texts: Iterable[str]) -> None:
        """Note what is stated, or what is deleted, from now on known by its hash."""
        with contextlib.suppress(StoreError, Denied):
            hashes = await self._hashes(texts)
            if hashes:
                await self.rows.put(hashes.values(), self.clock())

    async def drop(self, texts: Iterable[str]) -> None:
        """Know nothing of these any more; raises StoreError, Denied."""
        wanted = list(texts)
        for one in (self, *self.others):
            await one.rows.drop((await one._hashes(wanted)).values())

    async def among(self, texts: Iterable[str]) -> frozenset[str]:
        """Return those of the texts that were stated before, whether or not they stand."""
        wanted, known = list(texts), set[str]()
        for one in (self, *self.others):
            with contextlib.suppress(StoreError, Denied):
                hashes = await one._hashes(wanted)
                found = await one.rows.among(hashes.values()) if hashes else frozenset()
                known.update(text for text, digest in hashes.items() if digest in found)
        return frozenset(known)

    async def _hashes(self, texts: Iterable[str]) -> dict[str, bytes]:
        wanted = list(dict.fromkeys(texts))
        if wanted and not self._key:
            self._key = await self.key(secrets.token_bytes(KEY_BYTES))
        if not self._key:
            return {}
        hashed = keyed(self._key)
        return {text: hashed(f"stated\0{normalized_statement(text)}") for text in wanted}


class Retaining(Struct, frozen=True):
    """Writes memories into the daily logs of one workspace. `today` is the owner's day; `stated` knows them later."""

    journal: Journal
    today: Callable[[], date]
    stated: StatementHashes | None = None

    def log(self, day: date | None = None) -> RelativePath:
        """Return the log of a day, of a day to come that of today."""
        return RelativePath(f"memory/{min(day or date.max, self.today()).isoformat()}.md")

    async def retain(
        self,
        lines: Sequence[RetainedLine],
        *,
        agent: str = "",
        by: WrittenBy = WrittenBy.RETAIN,
        day: date | None = None,
        run: str = "",
    ) -> Retention:
        """State memories in the log of a day, else today's, all in one write; what it states already is left as it is.

        A day to come is today. Raises what `Journal.change` does, and InvalidRequest where nothing can be added.
        """
        path = self.log(day)
        found: list[RetainedText] = []

        def edit(text: str | None) -> str | None:
            found.append(retained_in(text or "", path, lines))
            return found[-1].text if found[-1].added else None

        try:
            # no word of the memory: what is forgotten must not be told by its reason
            why = "a memory was stated" if len(lines) == 1 else f"{len(lines)} memories were stated"
            change = await self.journal.change(path, edit, by=by, why=why, run=run, agent=agent)
        except NoPlaceError as exc:
            raise InvalidRequest(str(exc), hint="close it, then retain again") from exc
        placed, added = found[-1].placed, found[-1].added
        if self.stated is not None:
            await self.stated.note(one.line.text for one in placed)
        return Retention(path, placed, tuple(one.line.id in added for one in placed), change)
