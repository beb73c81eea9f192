"""Plan of a forgetting: the lines, words, undo copies and cached texts to delete, and what memoryd cannot delete."""

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
    find_target,
    redact_restatement,
    restating_memories,
)
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.memories.generated import restates
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import RetainedLine, parsed_line
from memoryd.domain.memories.sections import holds_memories, memory_sections
from memoryd.domain.memories.unasked.concepts import family_of, root_of
from memoryd.domain.ranking.snippets import fold
from memoryd.domain.sessions.making_turns import answer_words
from memoryd.domain.text.lines import encode_padded
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
"""Line number of a source that is in no note."""
_PLACES_MAX = 200
"""Maximum number of chunks listed for one text."""


def copied_memories(rows: Iterable[ChangeRow]) -> Book:
    """Return the memories that the stored lines of changes state; their sources have the line `NOWHERE`."""
    return book_of(
        MemorySource(row.path, NOWHERE, NOWHERE, line, datetime.fromtimestamp(row.at, UTC).date(), None, row.id)
        for row in rows
        for line in _statements(row, _REMOVED, _ADDED)
    )


def lines_undone(rows: Iterable[ChangeRow]) -> Iterator[RetainedLine]:
    """Yield lines that would be deleted, or superseded again, if these changes were undone."""
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
            yield from (placed.line for placed in memory_sections(encode_padded(text), path).lines)


class ConversationSources(Protocol):
    """The text of conversations with the agents of a workspace, and its indexes."""

    async def find(self, said: TextMatcher) -> tuple[Sequence[str], Sequence[str]]:
        """Return the turns of sessions and the transcripts that contain the words; raises StoreError, NotNow."""
        ...

    async def cut(self, said: TextMatcher) -> Sequence[str]:
        """Remove the words from turns and indexes, and return the turns; raises StoreError, Denied, NotNow."""
        ...


class IndexPlaces(Protocol):
    """The indexes of notes, each with the state of the files at its last scan."""

    async def follow(self) -> str:
        """Make all indexes follow the disk now; return why one cannot, empty if all did."""
        ...

    async def drop_remains(self) -> str:
        """Rewrite database pages that hold deleted text, and truncate the logs; return why not, empty if done."""
        ...

    async def chunks_with(self, said: TextMatcher) -> Sequence[ChunkRow]:
        """Return the chunks of the workspace's own index that contain the words; raises StoreError."""
        ...

    def generated_pages(self) -> Sequence[RelativePath]:
        """Return the documents that reflect may have written."""
        ...


async def chunks_with(database: Database, words: TextMatcher) -> list[ChunkRow]:
    """Return the chunks of an index that contain the words; raises StoreError."""
    phrase = tuple(phrase_words(words.text)[:MAX_PHRASE_WORDS])
    ids = await database.words.with_phrase(phrase, _PLACES_MAX)
    rows = await database.documents.chunks(ids)
    return [row for row in rows.values() if words.occurs_in(row.text)]


async def purge_remains(database: Database) -> str:
    """Rewrite index pages that hold deleted text, and truncate the log; return why it failed, empty if it did not."""
    if not database.is_open:
        return ""
    try:
        await database.documents.drop_remains()
        await database.checkpoint()
    except StoreError as exc:
        return str(exc)
    return ""


def lines_with(row: ChunkRow, words: TextMatcher) -> list[Citation]:
    """Return the lines of a chunk that contain the words; the complete chunk if they span several lines."""
    lines = row.text.split("\n")
    matches = [row.start_line + at for at, line in enumerate(lines) if words.occurs_in(line)]
    if not matches:
        return [Citation(row.path, row.start_line, row.end_line)]
    return [Citation(row.path, line, line) for line in matches]


class OtherMentions(Struct, frozen=True):
    """Other places that contain the words of a memory."""

    prose: tuple[Citation, ...] = ()
    """Lines of notes that state no memory."""
    turns: tuple[str, ...] = ()
    """Turns of sessions, as `session:<id>#Q17`."""
    transcripts: tuple[str, ...] = ()
    """Conversations of other programs."""


class MemoryForgettingPlan(Struct, frozen=True):
    """What to forget: memories with all their lines, or lines of a note, whose text is in `lines`."""

    memories: tuple[Memory, ...]
    words: tuple[TextMatcher, ...]
    elsewhere: OtherMentions = OtherMentions()
    place: Citation | None = None
    lines: tuple[str, ...] = ()

    @property
    def traces(self) -> Traces:
        """Matchers for remains of it in copies."""
        # other lines that state it may be broken differently
        stated = [TextMatcher(source.line.text) for memory in self.memories for source in memory.sources]
        ids = frozenset(short_id(memory.id) for memory in self.memories)
        return Traces(tuple(dict.fromkeys((*self.words, *stated))), ids)

    @property
    def forgotten(self) -> Forgotten:
        """The same for stored copies of lines, which get the same text as the lines in the notes."""
        traces = self.traces
        return Forgotten(
            traces.are_in,
            partial(redact_restatement, self.retold),
            lambda text: any(words.is_near(text) for words in traces.texts),
        )

    @property
    def retold(self) -> tuple[TextMatcher, ...]:
        """The words to cut from retelling memories: all except those of forgotten memories that are retellings."""
        own = {memory.text for memory in self.memories if restates(memory.line)}
        return tuple(words for words in self.words if words.text not in own)

    @property
    def citations(self) -> list[Citation]:
        """The lines to delete."""
        stated = [
            source.citation for memory in self.memories for source in memory.sources if source.start_line != NOWHERE
        ]
        return [*stated, *([self.place] if self.place else [])]


class ForgetReport(Struct, frozen=True, kw_only=True):
    """The result of a forgetting, as counts. `unfinished` is completed later; `stays` cannot be deleted by memoryd."""

    plan: MemoryForgettingPlan
    is_forgotten: bool = False
    files: int = 0
    changes: tuple[int, ...] = ()
    """Numbers of the changes that undo it within 24 hours; empty if it cannot be undone."""
    turns: Sequence[str] = ()
    purged: PurgedRows = field(default=PurgedRows())
    unfinished: Sequence[str] = ()
    stays: Sequence[str] = ()


COPIED = "no line of a note, for it was deleted before: what changes keep for undo is all that states it"


class ForgettingPlanner(Struct, frozen=True, kw_only=True):
    """Plans forgetting for one workspace; changes nothing.

    `sent_to` returns the services to which text of notes was sent, `set_aside` the damaged ledgers that were set aside,
    `replaced` the folder with files that a restore replaced.
    """

    book: MemoryCache
    journal: Journal
    indexes: IndexPlaces
    conversations: ConversationSources
    workspace: Path
    sent_to: Callable[[], Sequence[str]] = lambda: ()
    set_aside: Callable[[], Sequence[Path]] = lambda: ()
    replaced: Callable[[], Path | None] = lambda: None

    async def plan(self, name: str) -> MemoryForgettingPlan:
        """Return the plan for a name; raises NotFound, StoreError, NotNow."""
        if why := await self.indexes.follow():
            raise StoreUnavailable(f"its lines cannot be located now: {why}", hint="try again in a moment")
        book = await self.book.complete()
        try:
            target_ = await self._find_target(book.own, name)
        except ValueError as exc:
            if book is not book.own and (person := _sharing(book, name)):
                hint = f"{person} alone can take it back; `memoryctl retain` states what holds here"
                raise InvalidRequest(f"that is what {person} shares with the team", hint=hint) from exc
            raise NotFound(str(exc), hint="`memoryctl recall` shows memories with their ids and citations") from exc
        plan = plan_of(target_.memories) if target_.lines is None else await self._of_lines(target_.lines)
        return replace(plan, elsewhere=await self._elsewhere(plan))

    async def copies(self) -> Book:
        """Return the memories that the stored lines of changes state, whether or not a note does; raises StoreError."""
        rows = await self.journal.changes.select(ChangeFilter(limit=MAX_ROWS))
        return await asyncio.to_thread(copied_memories, rows)

    async def stays(self, plan: MemoryForgettingPlan) -> tuple[str, ...]:
        """Return sentences about what memoryd cannot delete."""
        places = [COPIED] if plan.memories and not plan.citations else []
        places += [
            f"{citation}: {person} says it too, and shares it with the team"
            if (person := person_of(citation.path))
            else f"{citation}: a note of yours says it too; edit that line"
            for citation in plan.elsewhere.prose
        ]
        places += [
            f"{name}, which another program wrote: `memoryctl sessions forget {shlex.quote(name)}` takes all of it"
            for name in plan.elsewhere.transcripts
        ]
        if await asyncio.to_thread(is_in_git, self.workspace):
            places.append(f"the history of git, if {self.workspace} was committed with it")
        places += [f"what was sent to {service} before" for service in self.sent_to()]
        places += copies_left(self.set_aside(), await asyncio.to_thread(self.replaced))
        places.append("keyed hashes of what was shown to sessions, without their text, for at most 7 days")
        places.append("answers that were kept back and say it in other words, for at most 7 days")
        return (*places, "backups and snapshots of the disk, undo files of editors, another memoryd on this folder")

    async def _find_target(self, book: Book, name: str) -> ForgetTarget:
        """Return the target in the notes, or else in deleted lines; raises ValueError, StoreError."""
        try:
            return find_target(book, name)
        except ValueError:
            deleted = await self.copies()
            if not deleted.memories:
                raise
            with contextlib.suppress(ValueError):
                return find_target(deleted, name)
            raise

    async def _of_lines(self, place: Citation) -> MemoryForgettingPlan:
        note = await self.journal.read(RelativePath(place.path))
        first, last = place.start_line or 1, place.end_line or place.start_line or 1
        lines = tuple((note.text or "").split("\n")[first - 1 : last])
        if len(lines) < last - first + 1 or not any(map(str.strip, lines)):
            raise NotFound(f"there is nothing at {place}")
        matchers = (TextMatcher(line.strip().lstrip("-*+#> \t")) for line in lines)
        words = tuple(matcher for matcher in matchers if not matcher.is_empty)
        return MemoryForgettingPlan((), words, place=place, lines=lines)

    async def _elsewhere(self, plan: MemoryForgettingPlan) -> OtherMentions:
        retelling = restating_memories((await self.book.complete()).own, plan.retold)
        cut = [source.citation for memory in retelling for source in memory.sources]
        deleted = {
            (citation.path, line)
            for citation in (*plan.citations, *cut)
            for line in range(citation.start_line or 1, (citation.end_line or citation.start_line or 1) + 1)
        }
        prose: dict[Citation, None] = {}
        turns: dict[str, None] = {}
        transcripts: dict[str, None] = {}
        for words in plan.words:
            for row in await self.indexes.chunks_with(words):
                places = lines_with(row, words)
                prose |= dict.fromkeys(place for place in places if (place.path, place.start_line) not in deleted)
            session_turns, conversations = await self.conversations.find(words)
            turns |= dict.fromkeys(session_turns)
            transcripts |= dict.fromkeys(conversations)
        return OtherMentions(tuple(prose), tuple(turns), tuple(transcripts))


def _sharing(book: Book, name: str) -> str:
    """Return the person who shares what a name refers to; empty if it refers to nothing."""
    with contextlib.suppress(ValueError):
        for memory in find_target(book, name).memories:
            return person_of(memory.sources[0].path)
    return ""


def plan_of(memories: Sequence[Memory]) -> MemoryForgettingPlan:
    """Return the plan for memories, without other mentions."""
    return MemoryForgettingPlan(tuple(memories), tuple(TextMatcher(memory.text) for memory in memories))


def copies_left(ledgers: Iterable[Path], replaced: Path | None) -> list[str]:
    """Return sentences about copies for the owner to delete: damaged ledgers, and files that a restore replaced."""
    sentences = [f"a damaged ledger that was set aside: {path}; look at it, then delete it" for path in ledgers]
    restored = "what `memoryctl restore` replaced: {}; delete it once all is well"
    return sentences if replaced is None else [*sentences, restored.format(replaced)]


def is_in_git(workspace: Path) -> bool:
    """Return whether a folder is in a git repository."""
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))


_CACHES: tuple[Callable[[], None], ...] = (
    answer_words.cache_clear,
    commonness.cache_clear,
    fold.cache_clear,
    drop_lines,
    parsed_line.cache_clear,
    family_of.cache_clear,
    root_of.cache_clear,
    stem.cache_clear,
)
"""All caches that store a text, or words of one. A test checks that no other cache stores text."""


class TextHolder(Protocol):
    """An object that caches texts and can drop them."""

    def drop_texts(self) -> None:
        """Drop all texts."""
        ...


_HOLDERS: WeakSet[TextHolder] = WeakSet()


def register_text_holder(holder: TextHolder) -> None:
    """Include a holder in `drop_remembered_texts`, as long as it exists."""
    _HOLDERS.add(holder)


def drop_remembered_texts() -> None:
    """Drop all cached texts, since no cache knows which texts it has; remaining text is parsed again."""
    for drop in (*_CACHES, *(holder.drop_texts for holder in _HOLDERS)):
        drop()
