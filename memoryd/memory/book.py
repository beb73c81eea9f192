"""All memories of a workspace, read anew only where files changed; and which of them an asker may not see.

Agents that share a workspace may share a log: lines that the asker may not see are neither found, returned nor counted.
Of opinions it is told how each stands, by which evidence; the steps of a run are put on record.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from datetime import date
from typing import NamedTuple

import structlog
from msgspec import Struct

from memoryd.domain.counters import CacheUses
from memoryd.domain.documents import person_of
from memoryd.domain.memories.book import Book, EntityPage, Memory, MemorySource, changed_book
from memoryd.domain.memories.kinds import MemoryId, Visibility, is_belief
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.recall_filters import invisible_memories
from memoryd.domain.memories.reflect.opinions import OpinionState, Step, by_opinion, opinion_state_of
from memoryd.domain.memories.sections import line_in
from memoryd.domain.memories.times.parsing import event_span
from memoryd.domain.text.standing import standing_of
from memoryd.errors import StoreError
from memoryd.index.threads import in_thread, with_pauses
from memoryd.memory.note_files import LineDays, RecordDays
from memoryd.replies.recall import EvidenceReply
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileVersion, MemoryFiles
from memoryd.store.ledger.reflect import OpinionSteps

log = structlog.get_logger(__name__)

FileSources = Mapping[FileVersion, tuple[MemorySource, ...]]
_ASKERS_MAX = 16
"""Askers; each is an agent in a channel."""
HIDDEN_SECONDS = 0.5
"""For so long a search waits for memories that have just come."""


class _Moment(NamedTuple):
    """While all of it is the same, so is the book."""

    epoch: int = -1
    writes: int = -1
    withdrawn: Set[str] = frozenset()
    today: date = date.min
    """By which notes become stale."""


class _Told(Struct, frozen=True):
    """A book and what it was made of: of the files and pages those that are not withdrawn."""

    book: Book = Book()
    files: Mapping[int, tuple[MemorySource, ...]] = {}
    """By the ids of the files."""
    pages: tuple[EntityPage, ...] = ()


class MemoryCache:
    """Gives the book of one workspace, which all its agents share; `now` raises StoreError.

    `withdrawn` names the documents of which nobody may be told.
    """

    def __init__(
        self, *, database: Database, days: RecordDays, withdrawn: Callable[[], Set[str]], executor: Executor
    ) -> None:
        self._database = database
        self._days = days
        self._withdrawn = withdrawn
        self._executor = executor
        self.hidden = HiddenChunks(database)
        self._shown = self._whole_shown = Book()
        self._lock = asyncio.Lock()
        self._reading: asyncio.Future[tuple[FileSources, _Told]] | None = None
        self._has_news = asyncio.Event()
        self._has_news.set()
        self._moment = _Moment()
        self._files: FileSources = {}
        self._told = _Told()
        self.uses = CacheUses()
        self.prepares: list[Callable[[Book], Awaitable[object]]] = []
        """What the first question would wait for: done with the first book that has memories."""

    async def now(self) -> Book:
        """Return all memories that the index holds now, but those that are forgotten and came back with a note.

        They stand in the order of their ids. It costs next to nothing where nothing was written since.
        """
        return self._show(await self.whole())

    def _show(self, whole: Book) -> Book:
        if whole is not self._whole_shown:
            back = [
                one for key in self.hidden.came_back if key in whole.memories for one in whole.memories[key].sources
            ]
            shown = changed_book(whole, back, (), whole.pages.values()) if back else whole
            self.hidden.forget(frozenset(one.chunk for one in back))
            self._shown, self._whole_shown = shown, whole
        return self._shown

    def forget(self, came_back: Set[MemoryId]) -> None:
        """Tell nobody of these memories, in place of those before: they are forgotten, and came back with a note."""
        if came_back != self.hidden.came_back:
            self.hidden.came_back, self._whole_shown = frozenset(came_back), Book()

    async def whole(self) -> Book:
        """Return all memories that the index holds now, for who takes them out.

        A question that is out of time leaves the reading to the next one: begun anew each time, a large one would
        never be done.
        """
        async with self._lock:
            if self._reading is not None:
                await asyncio.wait([self._reading])
            # taken before the index is read: what is written meanwhile is read by the next call
            moment = _Moment(
                self._database.epoch, self._database.writes, frozenset(self._withdrawn()), self._days.today
            )
            self.uses.note(is_hit=moment == self._moment)
            if moment != self._moment:
                await self._read(moment)
            return self._told.book

    async def hidden_chunks(self, visibility: Visibility) -> frozenset[int]:
        """Return the chunks that an asker may not see; none where the index fails, which any question says so, too.

        While many memories are read that have just come, it names those of before: what is told is looked at, too.
        """
        try:
            try:
                async with asyncio.timeout(HIDDEN_SECONDS):
                    book = await self.now()
            except TimeoutError:
                book = self._show(self._told.book)
            return (await self.hidden.of(book, visibility)).chunks
        except StoreError:
            return frozenset()

    def note_change(self) -> None:
        """Take the news that notes changed."""
        self._has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private, or are forgotten: nothing of them is to stay in memory."""
        self._has_news.set()

    async def run(self) -> None:
        """Follow the notes until cancelled, so that a question finds the book made, and each line has its first day."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            try:
                await self._prepare(await self.now())
            except StoreError as exc:
                # whoever asks is told; the next change, or the opening of the index, is news again
                log.debug("the book of memories cannot be made", reason=str(exc))

    async def _read(self, moment: _Moment) -> None:
        # numbers of rows of another opening mean nothing; what has no settled day may have one now
        is_same_file = moment.epoch == self._moment.epoch
        held = self._files if is_same_file else {}
        known: FileSources = {
            one: sources
            for one, sources in held.items()
            if self._days.are_settled(one.id)
            and all(source.standing == standing_of(one.flags, moment.today) for source in sources[:1])
        }
        before = {one.id: sources for one, sources in held.items()}
        found = await self._database.memories.files(known.keys())
        days = await self._days.of(found)
        told = self._told if is_same_file else _Told()

        def read(versions: Sequence[FileVersion]) -> tuple[FileSources, _Told]:
            files = {
                one: known[one]
                if one in known
                else tuple(with_pauses(_each_source(one, found, before, days, moment.today)))
                for one in versions
            }
            return files, _next(told, files, found.pages, moment.withdrawn)

        own = [one for one in found.versions if not person_of(one.path)]
        if not held and 0 < len(own) < len(found.versions):
            # what is said here answers already while what others share is read
            known, told = await in_thread(self._executor, lambda: read(own))
            self._files, self._told, self._moment = known, told, _Moment(moment.epoch)
            await self._prepare(self._show(told.book))
        self._reading = asyncio.get_running_loop().run_in_executor(self._executor, read, found.versions)
        self._reading.add_done_callback(lambda done: self._take(moment, done))
        await asyncio.shield(self._reading)

    async def _prepare(self, book: Book) -> None:
        while book.memories and self.prepares:
            await self.prepares.pop()(book)

    def _take(self, moment: _Moment, done: "asyncio.Future[tuple[FileSources, _Told]]") -> None:
        self._reading = None
        if not done.cancelled() and done.exception() is None:
            (self._files, self._told), self._moment = done.result(), moment


def _next(told: _Told, files: FileSources, pages: tuple[EntityPage, ...], withdrawn: Set[str]) -> _Told:
    """Return the book of what may be told; the same one if that did not change."""
    shown = {one.id: sources for one, sources in files.items() if one.path not in withdrawn}
    named = tuple(page for page in pages if page.path not in withdrawn)
    gone = tuple(_without(told.files, shown))
    come = tuple(_without(shown, told.files))
    if not gone and not come and named == told.pages:
        return _Told(told.book, shown, named)
    return _Told(changed_book(told.book, gone, come, named), shown, named)


def _without(
    files: Mapping[int, tuple[MemorySource, ...]], others: Mapping[int, tuple[MemorySource, ...]]
) -> Iterator[MemorySource]:
    """Yield the sources of files that the others lack, or have otherwise."""
    for one, sources in files.items():
        standing = others.get(one, ())
        if sources is not standing:
            by_chunk = {source.chunk: source for source in standing}
            yield from (source for source in sources if by_chunk.get(source.chunk) != source)


def _each_source(
    file: FileVersion, found: MemoryFiles, before: Mapping[int, tuple[MemorySource, ...]], days: LineDays, today: date
) -> Iterator[MemorySource]:
    """Yield the sources of a file; a line that stood in it `before` keeps what was worked out of its text."""
    known, standing = {source.chunk: source for source in before.get(file.id, ())}, standing_of(file.flags, today)
    for one in found.lines[file.id]:
        line = line_in(one.text, file.path)
        # what this version of memoryd reads otherwise is cut anew by the indexer, for its chunker has another name
        if isinstance(line, RetainedLine):
            day, was = days(file, one.memory), known.get(one.chunk)
            # the number of a chunk that went may be that of another one
            is_same = was is not None and (was.line, was.day) == (line, day)
            source = MemorySource(
                path=file.path,
                start_line=one.start_line,
                end_line=one.end_line,
                line=was.line if was is not None and is_same else line,
                day=day,
                event=was.event if was is not None and is_same else event_span(line, day),
                chunk=one.chunk,
                standing=standing,
            )
            yield was if was is not None and source == was else source


class Hidden(Struct, frozen=True):
    """What an asker may not see: memories; and their chunks, with all others that stand under a scope."""

    memories: frozenset[MemoryId] = frozenset()
    chunks: frozenset[int] = frozenset()


class HiddenChunks:
    """Tells what is hidden in one workspace; remembered while nothing is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._moment: tuple[int, int] = (-1, -1)
        self._book: Book | None = None
        self._known: dict[Visibility, Hidden] = {}
        self._forgotten: frozenset[int] = frozenset()
        self.came_back: frozenset[MemoryId] = frozenset()
        """Memories that are forgotten, and came back with a note."""

    def forget(self, chunks: frozenset[int]) -> None:
        """Hide chunks of no memory of a book from everybody, in place of those before."""
        if chunks != self._forgotten:
            self._forgotten, self._known = chunks, {}

    async def of(self, book: Book, visibility: Visibility) -> Hidden:
        """Return what is hidden from an asker; raises StoreError."""
        moment = (self._database.epoch, self._database.writes)
        if book is not self._book or moment != self._moment or len(self._known) > _ASKERS_MAX:
            self._book, self._moment, self._known = book, moment, {}
        known = self._known
        if visibility not in known:
            # into the table of the moment at which it was looked up
            known[visibility] = await self._hidden(book, visibility)
        return known[visibility]

    async def _hidden(self, book: Book, visibility: Visibility) -> Hidden:
        beyond, forgotten = invisible_memories(book, visibility), self._forgotten
        chunks = (source.chunk for key in beyond for source in book.memories[key].sources)
        scoped = await self._database.memories.scoped()
        return Hidden(beyond, forgotten.union(chunks, (one for one in scoped if not visibility.admits(scoped[one]))))


class OpinionWithEvidence(Struct, frozen=True):
    """An opinion with its confidence, 0 to 1, and the evidence for it, then against it, in the order that counted."""

    memory: Memory
    standing: OpinionState
    evidence: tuple[EvidenceReply, ...]

    @property
    def confidence(self) -> float:
        return self.standing.confidence

    @property
    def is_explicit(self) -> bool:
        """Whether a line gives the confidence, or evidence moved it: else it is what any opinion begins with."""
        is_written = any(one.line.attributes.confidence is not None for one in self.memory.sources)
        return is_written or self.standing.confidence != self.standing.base.confidence


class OpinionStore(Struct, frozen=True):
    """Reads and records the steps of opinions. Verbs raise StoreError, and `apply` also Denied.

    Each takes the book that the caller looks at, so that all of one answer speaks of the same moment. Scopes are the
    caller's: evidence counts only where all whom an opinion reaches may see it (`kinds.covers`).
    """

    steps: OpinionSteps
    clock: Callable[[], float] = time.time

    async def held(self, book: Book, opinions: Collection[MemoryId]) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return how these opinions stand; what is none, or stands in no line, is left out."""
        chosen = [memory for one in dict.fromkeys(opinions) if (memory := book.memories.get(one)) is not None]
        beliefs = [memory.id for memory in chosen if is_belief(memory.kind)]
        return _standing(book, chosen, await self.steps.of(beliefs) if beliefs else [])

    async def all(self, book: Book) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return how all opinions of a book stand."""
        return _standing(book, book.memories.values(), await self.steps.all())

    async def apply(self, steps: Sequence[Step]) -> int:
        """Record the steps of a run, all or none; return how many were not on record yet."""
        return await self.steps.add(steps, self.clock())


def _standing(book: Book, memories: Iterable[Memory], steps: Sequence[Step]) -> Mapping[MemoryId, OpinionWithEvidence]:
    found, opinions = by_opinion(steps), dict[MemoryId, OpinionWithEvidence]()
    for one in memories:
        if is_belief(one.kind):
            standing = opinion_state_of(one, found.get(one.id, []))
            evidence = tuple(evidence_of(book, step) for step in (*standing.supporting, *standing.opposing))
            opinions[one.id] = OpinionWithEvidence(one, standing, evidence)
    return opinions


def evidence_of(book: Book, step: Step) -> EvidenceReply:
    """Return the evidence of a step, with the lines that state it now; of its day alone, if any is of that day."""
    memory = book.memories.get(step.evidence)
    sources = () if memory is None else memory.sources
    of_day = [one for one in sources if one.day == step.day] or sources
    return EvidenceReply(
        id=step.evidence,
        sources=[str(one.citation) for one in of_day],
        timestamp=step.day.isoformat(),
        label=step.label.value,
    )
