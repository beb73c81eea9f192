"""What forgetting means: which lines and words would go, and what is out of reach."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from memoryd.domain.citations import Citation
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.forgetting import ForgetTarget, target, telling_sessions
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.copied_lines import copied
from memoryd.memory.forgetting.places import IndexPlaces, SaidPlaces, lines_with
from memoryd.memory.forgetting.receipt import MemoryForgettingPlan, SaidElsewhere
from memoryd.memory.journal import Journal
from memoryd.store.ledger.changes import KEPT_ROWS, ChangeFilter

COPIED: Final = "no line of a note, for it was deleted before: what changes keep for undo is all that states it"


class ForgettingPlanner:
    """Plans for one workspace; nothing is changed here.

    `sent_to` names whoever was sent the text of notes, `set_aside` the damaged ledgers that were set aside, `replaced`
    the folder of what a restore replaced.
    """

    def __init__(
        self,
        *,
        book: MemoryBook,
        journal: Journal,
        indexes: IndexPlaces,
        said: SaidPlaces,
        workspace: Path,
        sent_to: Callable[[], Sequence[str]] = lambda: (),
        set_aside: Callable[[], Sequence[Path]] = lambda: (),
        replaced: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._book = book
        self._journal = journal
        self._indexes = indexes
        self._said = said
        self._workspace = workspace
        self._sent_to = sent_to
        self._set_aside = set_aside
        self._replaced = replaced

    async def plan(self, name: str) -> MemoryForgettingPlan:
        """Return what a name means now; raises NotFound, StoreError, NotNow."""
        if why := await self._indexes.follow():
            raise StoreUnavailable(f"nobody knows now where it stands: {why}", hint="try again in a moment")
        book = await self._book.now()
        try:
            meant = await self._meant(book, name)
        except ValueError as exc:
            raise NotFound(str(exc), hint="`memoryctl recall` shows memories with their ids and citations") from exc
        plan = of_memories(meant.memories) if meant.lines is None else await self._of_lines(meant.lines)
        return MemoryForgettingPlan(plan.memories, await self._elsewhere(plan), plan.said, plan.place, plan.lines)

    async def copies(self) -> Book:
        """Return what the kept lines of changes state, whether or not a note does; raises StoreError."""
        rows = await self._journal.changes.some(ChangeFilter(limit=KEPT_ROWS))
        return await asyncio.to_thread(copied, rows)

    async def stays(self, plan: MemoryForgettingPlan) -> tuple[str, ...]:
        """Say in sentences what is out of reach."""
        told = [COPIED] if plan.memories and not plan.citations else []
        told += [f"{one}: a note of yours says it too; edit that line" for one in plan.elsewhere.prose]
        told += [
            f"{one}, which another program wrote: `memoryctl sessions forget {one}` takes all of it"
            for one in plan.elsewhere.transcripts
        ]
        if await asyncio.to_thread(_is_in_git, self._workspace):
            told.append(f"the history of git, if {self._workspace} was committed with it")
        told += [f"what was sent to {one} before" for one in self._sent_to()]
        told += [f"a damaged ledger that was set aside: {one}; look at it, then delete it" for one in self._set_aside()]
        if (folder := await asyncio.to_thread(self._replaced)) is not None:
            told.append(f"what `memoryctl restore` replaced: {folder}; delete it once all is well")
        told.append("keyed hashes of what sessions were told, without a word of it, for at most 7 days")
        return (*told, "backups and snapshots of the disk, undo files of editors, another memoryd on this folder")

    async def _meant(self, book: Book, name: str) -> ForgetTarget:
        """Return what is meant of the notes, or else of what was deleted before; raises ValueError, StoreError."""
        try:
            return target(book, name)
        except ValueError:
            deleted = await self.copies()
            if not deleted.memories:
                raise
            with contextlib.suppress(ValueError):
                return target(deleted, name)
            raise

    async def _of_lines(self, place: Citation) -> MemoryForgettingPlan:
        note = await self._journal.read(RelativePath(place.path))
        first, last = place.start_line or 1, place.end_line or place.start_line or 1
        lines = tuple((note.text or "").split("\n")[first - 1 : last])
        if len(lines) < last - first + 1 or not any(map(str.strip, lines)):
            raise NotFound(f"there is nothing at {place}")
        said = tuple(words for line in lines if not (words := SaidWords(_bare(line))).is_empty)
        return MemoryForgettingPlan((), SaidElsewhere(), said, place, lines)

    async def _elsewhere(self, plan: MemoryForgettingPlan) -> SaidElsewhere:
        told = telling_sessions(await self._book.now(), plan.told_by_sessions)
        cut = [Citation(one.path, one.start_line, one.end_line) for memory in told for one in memory.sources]
        going = {
            (one.path, line) for one in (*plan.citations, *cut) for line in range(one.start_line or 1, _end(one) + 1)
        }
        prose: dict[Citation, None] = {}
        turns: dict[str, None] = {}
        transcripts: dict[str, None] = {}
        for words in plan.said:
            for row in await self._indexes.chunks_with(words):
                prose |= dict.fromkeys(one for one in lines_with(row, words) if (one.path, one.start_line) not in going)
            found = await self._said.find(words)
            turns |= dict.fromkeys(found[0])
            transcripts |= dict.fromkeys(found[1])
        return SaidElsewhere(tuple(prose), tuple(turns), tuple(transcripts))


def of_memories(memories: Sequence[Memory]) -> MemoryForgettingPlan:
    """Return the plan for memories, as far as they themselves tell."""
    said = tuple(SaidWords(memory.line.text) for memory in memories)
    return MemoryForgettingPlan(tuple(memories), SaidElsewhere(), said)


def _end(citation: Citation) -> int:
    return citation.end_line or citation.start_line or 1


def _bare(line: str) -> str:
    return line.strip().lstrip("-*+#> \t")


def _is_in_git(workspace: Path) -> bool:
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))
