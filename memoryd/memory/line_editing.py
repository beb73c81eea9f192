"""Edits of memories by id: their lines are found where they stand now, and the journal writes what becomes of them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import uuid4

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.edits import AttributeChange, NoPlaceError, stating, with_attributes, without_memory
from memoryd.domain.memories.kinds import MemoryId, WrittenBy, short_id
from memoryd.errors import InvalidRequest, MemorydError, NotFound
from memoryd.memory.journal import GONE_TRIES, PAUSE_SECONDS, Journal, NoteChange

PINNED: Final = "a memory was pinned"
UNPINNED: Final = "a memory was unpinned"
WEIGHED: Final = "a memory got another importance"
DELETED: Final = "a memory was deleted"
_GONE: Final = "its line was edited, or taken out, a moment ago: look it up again"

LineEdit = Callable[[str, RelativePath, MemoryId], str | None]
"""What becomes of a note, None if no line in it states the memory; raises NoPlaceError."""


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """What was written, one change for each note; `run` takes back several at once, empty where that is not needed."""

    changes: tuple[NoteChange, ...]
    run: str = ""


class LineEditing:
    """Writes into the lines of memories of one workspace."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def check_writable(self) -> None:
        """Raise Denied where nothing may be written."""
        self._journal.check_writable()

    async def change(self, memory: Memory, change: AttributeChange, *, agent: str = "") -> WrittenLines:
        """Give the lines of a memory other attributes, and return what was written; none if they are so already.

        What says how it stands is its newest line; a pin that is taken away goes from all of them. Raises NotFound
        where no line states it any more, InvalidRequest for a line that cannot be written so, and what
        `Journal.change` does.
        """
        leading = {source.path for source in memory.sources if source.line is memory.line}
        pinned = {source.path for source in memory.sources if source.line.attributes.is_pinned}
        paths = leading | pinned if change.is_pinned is False else leading
        edit = partial(_changed, change)
        why = WEIGHED if change.is_pinned is None else PINNED if change.is_pinned else UNPINNED
        return await self._written(memory, sorted(paths), edit, why=why, agent=agent)

    async def delete(self, memory: Memory, *, agent: str = "") -> WrittenLines:
        """Take out all lines that state a memory, and return what was written; raises as `change`."""
        paths = sorted({source.path for source in memory.sources})
        return await self._written(memory, paths, without_memory, why=DELETED, agent=agent)

    async def standing(self, memory: Memory) -> list[tuple[str, int, int]]:
        """Return the lines that state a memory as they stand on disk: path, first and last line, from 1."""
        found: list[tuple[str, int, int]] = []
        for path in sorted({source.path for source in memory.sources}):
            text = (await self._journal.read(RelativePath(path))).text or ""
            found += [(path, one.start_line, one.end_line) for one in stating(text, RelativePath(path), memory.id)]
        return found

    async def _written(
        self, memory: Memory, paths: Sequence[str], edit: LineEdit, *, why: str, agent: str
    ) -> WrittenLines:
        for _ in range(GONE_TRIES):
            if (written := await self._tried(memory, paths, edit, why=why, agent=agent)) is not None:
                return written
            # between two steps of an editor that saves it a note may be empty
            await asyncio.sleep(PAUSE_SECONDS)
        raise NotFound(f"no line states the memory {short_id(memory.id)} any more", hint=_GONE)

    async def _tried(
        self, memory: Memory, paths: Sequence[str], edit: LineEdit, *, why: str, agent: str
    ) -> WrittenLines | None:
        """Edit each note; return what was written, None where no note had the line."""
        self._journal.check_writable()
        # all or none, as far as that can be known before: a note that may not be written stops all of them
        for path in paths:
            await self._journal.read(RelativePath(path))
        run = uuid4().hex
        done: list[NoteChange] = []
        found = _Found()
        for path in paths:
            try:
                done.append(
                    await self._journal.change(
                        RelativePath(path),
                        partial(_edited, edit, RelativePath(path), memory.id, found),
                        by=WrittenBy.MEMORIES,
                        why=why,
                        run=run,
                        agent=agent,
                    )
                )
            except NoPlaceError as exc:
                raise _told(InvalidRequest(str(exc), hint=_undo(done)), done) from exc
            except MemorydError as exc:
                raise _told(exc, done) from exc
        written = tuple(one for one in done if one.is_written)
        return WrittenLines(written, run if len(written) > 1 else "") if found.is_any else None


class _Found:
    """Whether any note still had the line."""

    is_any = False


def _edited(edit: LineEdit, path: RelativePath, memory: MemoryId, found: _Found, text: str | None) -> str | None:
    edited = None if text is None else edit(text, path, memory)
    found.is_any |= edited is not None
    return edited


def _changed(change: AttributeChange, text: str, path: RelativePath, memory: MemoryId) -> str | None:
    return with_attributes(text, path, memory, change)


def _told(exc: MemorydError, done: Sequence[NoteChange]) -> MemorydError:
    """Return what went wrong, with what was written before it."""
    if any(one.is_written for one in done):
        exc.hint = " ".join(filter(None, [exc.hint, _undo(done)]))
    return exc


def _undo(done: Sequence[NoteChange]) -> str:
    made = [str(one.id) for one in done if one.is_written and one.id]
    return f"written before it, and undone by `memoryctl undo`: {', '.join(made)}" if made else "nothing was written"
