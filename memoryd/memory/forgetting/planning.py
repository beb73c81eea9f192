"""What forgetting would delete: lines, words, copies for undo and texts in memory; and what is out of its reach."""

import asyncio
import contextlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import Citation, RelativePath, person_of
from memoryd.domain.memories.book import Book, Memory, MemorySource, book_of
from memoryd.domain.memories.capture.lines import drop_lines
from memoryd.domain.memories.capture.values import stem
from memoryd.domain.memories.changes.diffs import Forgotten, Hunk
from memoryd.domain.memories.changes.forgetting import (
    ANY_LOG,
    ForgetTarget,
    Traces,
    retelling_memories,
    target,
    with_forgotten,
)
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.memories.generated import retells
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import RetainedLine, parsed_line
from memoryd.domain.memories.sections import holds_memories, memory_sections
from memoryd.domain.memories.unasked.concepts import family_of, root_of
from memoryd.domain.ranking.snippets import folded
from memoryd.domain.sessions.making_turns import answer_words
from memoryd.domain.text.lines import padded
from memoryd.domain.text.words import MAX_PHRASE_WORDS, phrase_words
from memoryd.errors import InvalidRequest, NotFound, StoreError, StoreUnavailable
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.search.ranking import commonness
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow
from memoryd.store.ledger.changes import MAX_ROWS, ChangeFilter, ChangeRow
from memoryd.store.ledger.forgotten import PurgedRows

_REMOVED, _ADDED = attrgetter("removed"), attrgetter("added")
NOWHERE = 0
"""The line of a source that is in no note."""
MAX_FOUND = 200
"""Most places of one text that are listed."""


def copied(rows: Iterable[ChangeRow]) -> Book:
    """Return the memories that the kept lines of changes state; their sources are on no line of a note."""
    return book_of(
        MemorySource(row.path, NOWHERE, NOWHERE, line, datetime.fromtimestamp(row.at, UTC).date(), None, row.id)
        for row in rows
        for line in _statements(row, _REMOVED, _ADDED)
    )


def lines_undone(rows: Iterable[ChangeRow]) -> Iterator[RetainedLine]:
    """Yield what holds by changes, and once they are taken back does not: stated no more, or superseded again."""
    for row in rows:
        before = {line.id: line.attributes.superseded for line in _statements(row, _REMOVED)}
        for line in _statements(row, _ADDED):
            if line.id not in before or set(before[line.id]).difference(line.attributes.superseded):
                yield line


def _statements(row: ChangeRow, *sides: Callable[[Hunk], Sequence[str]]) -> Iterator[RetainedLine]:
    path = row.path if holds_memories(row.path) else ANY_LOG
    for hunk in row.hunks or ():
        for lines in sides:
            text = "\n".join(("## Retain", *hunk.above, "## Retain", *lines(hunk), *hunk.below, ""))
            yield from (one.line for one in memory_sections(padded(text), path).lines)


class ConversationSources(Protocol):
    """What was said to the agents of a workspace, and what is indexed of it."""

    async def find(self, said: TextMatcher) -> tuple[Sequence[str], Sequence[str]]:
        """Return the turns of sessions and the transcripts in which words stand; raises StoreError, NotNow."""
        ...

    async def cut(self, said: TextMatcher) -> Sequence[str]:
        """Take the words out of turns and indexes, and return which turns; raises StoreError, Denied, NotNow."""
        ...


class IndexPlaces(Protocol):
    """The indexes of notes: each has all that its files said until the last look."""

    async def follow(self) -> str:
        """Have all of them follow the disk now; return why one cannot, empty if all did."""
        ...

    async def drop_remains(self) -> str:
        """Rewrite what was only marked as deleted, and cut the logs; return why that cannot be, empty if it was."""
        ...

    async def chunks_with(self, said: TextMatcher) -> Sequence[ChunkRow]:
        """Return the chunks of the workspace's own index in which the words stand; raises StoreError."""
        ...

    def generated_pages(self) -> Sequence[RelativePath]:
        """Return the documents into which reflect may have written."""
        ...


async def chunks_with(database: Database, said: TextMatcher) -> list[ChunkRow]:
    """Return the chunks of an index in which the words stand; raises StoreError."""
    phrase = tuple(phrase_words(said.text)[:MAX_PHRASE_WORDS])
    ids = await database.words.with_phrase(phrase, MAX_FOUND)
    rows = await database.documents.chunks(ids)
    return [row for row in rows.values() if said.occurs_in(row.text)]


async def purge_remains(database: Database) -> str:
    """Rewrite what of an index was only marked as deleted, and cut its log; return why that cannot be, or nothing."""
    if not database.is_open:
        return ""
    try:
        await database.documents.drop_remains()
        await database.checkpoint()
    except StoreError as exc:
        return str(exc)
    return ""


def lines_with(row: ChunkRow, said: TextMatcher) -> list[Citation]:
    """Return the lines of a chunk that hold the words; all of it where they run over several."""
    lines = row.text.split("\n")
    found = [row.start_line + at for at, line in enumerate(lines) if said.occurs_in(line)]
    if not found:
        return [Citation(row.path, row.start_line, row.end_line)]
    return [Citation(row.path, line, line) for line in found]


class OtherMentions(Struct, frozen=True):
    """Where else the words of a memory are."""

    prose: tuple[Citation, ...] = ()
    """Lines of notes that state no memory."""
    turns: tuple[str, ...] = ()
    """Turns of sessions, as `session:<id>#Q17`."""
    transcripts: tuple[str, ...] = ()
    """Conversations of other programs."""


class MemoryForgettingPlan(Struct, frozen=True):
    """What is to be forgotten: memories with all their lines, or lines of a note, whose text is `lines`."""

    memories: tuple[Memory, ...]
    said: tuple[TextMatcher, ...]
    elsewhere: OtherMentions = OtherMentions()
    place: Citation | None = None
    lines: tuple[str, ...] = ()

    @property
    def traces(self) -> Traces:
        """What may be left of it where it was copied."""
        # other lines that state it may be broken elsewhere
        stated = [TextMatcher(source.line.text) for memory in self.memories for source in memory.sources]
        ids = frozenset(short_id(memory.id) for memory in self.memories)
        return Traces(tuple(dict.fromkeys((*self.said, *stated))), ids)

    @property
    def gone(self) -> Forgotten:
        """The same for copies of lines, which are left as the lines in the notes are."""
        traces = self.traces
        return Forgotten(
            traces.are_in,
            partial(with_forgotten, self.retold),
            lambda text: any(words.are_near(text) for words in traces.texts),
        )

    @property
    def retold(self) -> tuple[TextMatcher, ...]:
        """What goes from memories that say it again, too: all but what these say themselves."""
        own = {memory.text for memory in self.memories if retells(memory.line)}
        return tuple(words for words in self.said if words.text not in own)

    @property
    def citations(self) -> list[Citation]:
        """The lines that go."""
        stated = [
            source.citation for memory in self.memories for source in memory.sources if source.start_line != NOWHERE
        ]
        return [*stated, *([self.place] if self.place else [])]


class ForgetReport(Struct, frozen=True, kw_only=True):
    """What was forgotten, by counts; `unfinished` goes as soon as it can, `stays` is out of reach."""

    plan: MemoryForgettingPlan
    is_forgotten: bool = False
    files: int = 0
    changes: tuple[int, ...] = ()
    """Numbers of the changes that undo it, for 24 hours; empty if nothing does."""
    turns: Sequence[str] = ()
    purged: PurgedRows = field(default=PurgedRows())
    unfinished: Sequence[str] = ()
    stays: Sequence[str] = ()


_SHARED = "{}: {} says it too, and shares it with the team"
COPIED = "no line of a note, for it was deleted before: what changes keep for undo is all that states it"


class ForgettingPlanner(Struct, frozen=True, kw_only=True):
    """Plans for one workspace; nothing is changed here.

    `sent_to` names whoever was sent the text of notes, `set_aside` the damaged ledgers that were set aside, `replaced`
    the folder of what a restore replaced.
    """

    book: MemoryCache
    journal: Journal
    indexes: IndexPlaces
    said: ConversationSources
    workspace: Path
    sent_to: Callable[[], Sequence[str]] = lambda: ()
    set_aside: Callable[[], Sequence[Path]] = lambda: ()
    replaced: Callable[[], Path | None] = lambda: None

    async def plan(self, name: str) -> MemoryForgettingPlan:
        """Return what a name means now; raises NotFound, StoreError, NotNow."""
        if why := await self.indexes.follow():
            raise StoreUnavailable(f"nobody knows now where it stands: {why}", hint="try again in a moment")
        book = await self.book.whole()
        try:
            meant = await self._find_target(book.own, name)
        except ValueError as exc:
            if book is not book.own and (person := _sharing(book, name)):
                hint = f"{person} alone can take it back; `memoryctl retain` states what holds here"
                raise InvalidRequest(f"that is what {person} shares with the team", hint=hint) from exc
            raise NotFound(str(exc), hint="`memoryctl recall` shows memories with their ids and citations") from exc
        plan = of_memories(meant.memories) if meant.lines is None else await self._of_lines(meant.lines)
        return replace(plan, elsewhere=await self._elsewhere(plan))

    async def copies(self) -> Book:
        """Return what the kept lines of changes state, whether or not a note does; raises StoreError."""
        rows = await self.journal.changes.some(ChangeFilter(limit=MAX_ROWS))
        return await asyncio.to_thread(copied, rows)

    async def stays(self, plan: MemoryForgettingPlan) -> tuple[str, ...]:
        """Say in sentences what is out of reach."""
        places = [COPIED] if plan.memories and not plan.citations else []
        places += [
            _SHARED.format(one, person)
            if (person := person_of(one.path))
            else f"{one}: a note of yours says it too; edit that line"
            for one in plan.elsewhere.prose
        ]
        places += [
            f"{one}, which another program wrote: `memoryctl sessions forget {shlex.quote(one)}` takes all of it"
            for one in plan.elsewhere.transcripts
        ]
        if await asyncio.to_thread(is_in_git, self.workspace):
            places.append(f"the history of git, if {self.workspace} was committed with it")
        places += [f"what was sent to {one} before" for one in self.sent_to()]
        places += copies_left(self.set_aside(), await asyncio.to_thread(self.replaced))
        places.append("keyed hashes of what sessions were told, without a word of it, for at most 7 days")
        places.append("answers that were kept back and say it in other words, for at most 7 days")
        return (*places, "backups and snapshots of the disk, undo files of editors, another memoryd on this folder")

    async def _find_target(self, book: Book, name: str) -> ForgetTarget:
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
        note = await self.journal.read(RelativePath(place.path))
        first, last = place.start_line or 1, place.end_line or place.start_line or 1
        lines = tuple((note.text or "").split("\n")[first - 1 : last])
        if len(lines) < last - first + 1 or not any(map(str.strip, lines)):
            raise NotFound(f"there is nothing at {place}")
        said = tuple(words for line in lines if not (words := TextMatcher(line.strip().lstrip("-*+#> \t"))).is_empty)
        return MemoryForgettingPlan((), said, place=place, lines=lines)

    async def _elsewhere(self, plan: MemoryForgettingPlan) -> OtherMentions:
        retelling = retelling_memories((await self.book.whole()).own, plan.retold)
        cut = [one.citation for memory in retelling for one in memory.sources]
        going = {
            (one.path, line)
            for one in (*plan.citations, *cut)
            for line in range(one.start_line or 1, (one.end_line or one.start_line or 1) + 1)
        }
        prose: dict[Citation, None] = {}
        turns: dict[str, None] = {}
        transcripts: dict[str, None] = {}
        for words in plan.said:
            for row in await self.indexes.chunks_with(words):
                prose |= dict.fromkeys(one for one in lines_with(row, words) if (one.path, one.start_line) not in going)
            places = await self.said.find(words)
            turns |= dict.fromkeys(places[0])
            transcripts |= dict.fromkeys(places[1])
        return OtherMentions(tuple(prose), tuple(turns), tuple(transcripts))


def _sharing(book: Book, name: str) -> str:
    """Return who shares what a name means; empty where it means nothing."""
    with contextlib.suppress(ValueError):
        for memory in target(book, name).memories:
            return person_of(memory.sources[0].path)
    return ""


def of_memories(memories: Sequence[Memory]) -> MemoryForgettingPlan:
    """Return the plan for memories, as far as they themselves tell."""
    return MemoryForgettingPlan(tuple(memories), tuple(TextMatcher(memory.text) for memory in memories))


def copies_left(ledgers: Iterable[Path], replaced: Path | None) -> list[str]:
    """Say which copies were set aside, for their owner to delete: damaged ledgers, and what a restore replaced."""
    told = [f"a damaged ledger that was set aside: {one}; look at it, then delete it" for one in ledgers]
    restored = "what `memoryctl restore` replaced: {}; delete it once all is well"
    return told if replaced is None else [*told, restored.format(replaced)]


def is_in_git(workspace: Path) -> bool:
    """Tell whether a folder lies in a git repository."""
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))


DROPPED: tuple[Callable[[], None], ...] = (
    answer_words.cache_clear,
    commonness.cache_clear,
    folded.cache_clear,
    drop_lines,
    parsed_line.cache_clear,
    family_of.cache_clear,
    root_of.cache_clear,
    stem.cache_clear,
)
"""All functions that hold a text, or words of one; a test knows what else is remembered, and that it is no text."""


class TextHolder(Protocol):
    """What holds texts, and can be without them."""

    def drop_texts(self) -> None:
        """Hold none any more."""
        ...


_HOLDERS: WeakSet[TextHolder] = WeakSet()


def drop_with_the_others(holder: TextHolder) -> None:
    """Have a holder drop its texts with the others, as long as it lives."""
    _HOLDERS.add(holder)


def drop_remembered_texts() -> None:
    """Drop all of them, since none can say which texts it holds; what still exists is parsed anew."""
    for drop in (*DROPPED, *(holder.drop_texts for holder in _HOLDERS)):
        drop()
