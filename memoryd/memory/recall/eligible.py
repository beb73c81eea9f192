"""Which memories and documents may answer a question: decided before any ranking, and cached for one book.

Facts of a book are worked out from those of the book before: a saved line must not cost a pass over all others.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import date
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from memoryd.domain.documents import Source
from memoryd.domain.memories.book import Book, Memory, MemorySource, changed_memories
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import RecallFilters, span_of
from memoryd.domain.memories.recall_order import INSIDE_SHARE, newer_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.memories.unasked.descriptions import Descriptions
from memoryd.domain.memories.versions import Disagreement, KnownVersions, doubted_by, leading_over
from memoryd.domain.ranking.filters import Filters, date_in_name
from memoryd.memory.book import Hidden, HiddenChunks
from memoryd.memory.recall.query import RecallQuery
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter

_Row = tuple[int, int, int, bool, int]
_FIRST, _LAST, _NEWEST, _IS_DATED, _LOGGED = range(5)
"""Days are ordinals; `_LOGGED` is the day of the log, 0 for a line of another page."""
_ID = "S36"
_FILTERS_MAX = 16
"""Filters of documents."""
VALUES_MAX = 16
Value = TypeVar("Value")


class MemoryDays(Struct, frozen=True, eq=False):
    """The days of all lines of a book, in the order of their memories; `of` makes them."""

    book: Book = Book()
    _ids: npt.NDArray[np.bytes_] = field(default_factory=lambda: np.empty(0, _ID))
    _rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 5), np.int64))

    @property
    def last_written(self) -> date:
        """The last day that has a log, which a clock that was ahead may have put off."""
        last = int(self._rows[:, _LOGGED].max(initial=0))
        return date.fromordinal(last) if last else date.min

    def meeting(self, span: DaySpan) -> Iterator[Memory]:
        """Yield the memories that speak of these days: first what speaks of them mostly, the newest of these first."""
        first, last = span.first.toordinal(), span.last.toordinal()
        rows = self._rows
        places = np.flatnonzero((rows[:, _FIRST] <= last) & (rows[:, _LAST] >= first))
        met = rows[places]
        own = met[:, _LAST] - met[:, _FIRST] + 1
        shared = np.minimum(met[:, _LAST], last) - np.maximum(met[:, _FIRST], first) + 1
        is_inside = (met[:, _IS_DATED] > 0) & (shared >= INSIDE_SHARE * own)
        order = np.lexsort((places, -met[:, _NEWEST], ~is_inside))
        told: set[bytes] = set()
        for at in places[order].tolist():
            key = bytes(self._ids[at])
            if key not in told:
                told.add(key)
                yield self.book.memories[MemoryId(key.decode())]

    def of(self, book: Book) -> "MemoryDays":
        """Return those of a later book; what did not change is not looked at again."""
        changed = changed_memories(self.book, book)
        told = [(one, _row(source)) for one in changed if one in book.memories for source in book.memories[one].sources]
        # np.isin would import masked arrays; behind all of them stands what is no id
        gone = np.array([*sorted(changed), "\x7f"], _ID)
        stay = gone[np.searchsorted(gone, self._ids)] != self._ids
        ids = np.concatenate([self._ids[stay], np.array([one for one, _ in told], _ID)])
        rows = np.concatenate([self._rows[stay], _rows([row for _, row in told])])
        # lines of one memory stay in their order
        order = np.argsort(ids, kind="stable")
        return MemoryDays(book, ids[order], rows[order])


def _rows(rows: Sequence[_Row]) -> npt.NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, 5)


def _row(source: MemorySource) -> _Row:
    span, is_logged = span_of(source), date_in_name(source.path) is not None
    newest, day = min(span.last, source.day).toordinal(), source.day.toordinal()
    is_dated = source.event is not None or is_logged
    return span.first.toordinal(), span.last.toordinal(), newest, is_dated, day if is_logged else 0


class MemoryFacts(Struct, frozen=True):
    """The days, versions and descriptions of one book. Nothing in it speaks of memories that the book does not have."""

    book: Book = Book()
    days: MemoryDays = MemoryDays()
    versions: KnownVersions = KnownVersions()
    descriptions: Descriptions = Descriptions()

    def of(self, book: Book) -> "MemoryFacts":
        """Return those of a later book; call it in a thread."""
        versions = self.versions.of(book.memories)
        # all are wanted by every question
        _ = book.entities_in(""), versions.older, versions.disagreements
        book.note_superseded(versions.older)
        return MemoryFacts(book, self.days.of(book), versions, self.descriptions.of(book))

    def versions_for(self, filters: RecallFilters, until: date) -> KnownVersions:
        """Return what holds of that which the asker may know of, and stands in no log of a later day."""
        found: dict[MemoryId, Memory] = {}
        for one, memory in self.book.memories.items():
            if filters.visibility.admits(memory.scope):
                sources = tuple(source for source in filters.standing(memory) if is_written(source, until))
                if sources:
                    # the same one, if all of its lines stand
                    is_whole = len(sources) == len(memory.sources)
                    found[one] = memory if is_whole else Memory(one, sources)
        return self.versions.of(found)


def is_written(source: MemorySource, until: date) -> bool:
    """Tell whether a line is no log's of a later day; a page without a date has none to come."""
    return source.day <= until or date_in_name(source.path) is None


class Versions(Struct, frozen=True):
    """Which memories are versions of each other: newer to older, and older to newer; and which may contradict another.

    `above` has what is told before a memory: what supersedes it, and what leads in a disagreement with it.
    """

    superseded: Mapping[MemoryId, tuple[MemoryId, ...]]
    newer: Mapping[MemoryId, tuple[MemoryId, ...]]
    above: Mapping[MemoryId, tuple[MemoryId, ...]]
    doubted: Mapping[MemoryId, tuple[MemoryId, ...]]
    disagreements: Sequence[Disagreement] = ()


class Eligible(Struct, frozen=True):
    """Who may answer one question, in one book."""

    book: Book
    filters: RecallFilters
    paths: Filters
    """Which documents may answer, by their paths alone."""
    versions: Versions
    """Among those that the asker may know of, as of the days given."""
    facts: MemoryFacts
    hidden: Hidden
    """What the asker may not see: how common a word is must not tell of it, either."""

    def sources(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the lines of a memory that may answer, the newest first; none: it may not."""
        found = self.filters.eligible(memory)
        if self.paths.is_empty:
            return found
        return tuple(source for source in found if self.paths.admits(source.path, Source.MEMORY, 0))


class _KnownFacts:
    """What was worked out for one book: its days and versions, and the chunks that may answer."""

    def __init__(self, book: Book, executor: Executor) -> None:
        self.book = book
        self.facts: MemoryFacts | None = None
        self.versions: WorkedOut[Versions] = WorkedOut(executor)
        self.chunks: WorkedOut[tuple[int, ...]] = WorkedOut(executor)
        self.unions: WorkedOut[tuple[int, ...]] = WorkedOut(executor)


class EligibleMemories:
    """Decides who may answer; what holds for all questions of one asker is remembered while the book is the same."""

    def __init__(self, *, database: Database, executor: Executor, hidden: HiddenChunks) -> None:
        self._database = database
        self._executor = executor
        self._hidden = hidden
        self._known = _KnownFacts(Book(), executor)
        self._settled: _KnownFacts | None = None
        """What is known of the newest book whose facts are."""
        self._making: asyncio.Future[MemoryFacts] | None = None
        self._turn = asyncio.Lock()
        self._passages: dict[Hashable, tuple[int, ...]] = {}

    async def of(
        self, book: Book, query: RecallQuery, *, only_memories: bool = False
    ) -> tuple[Eligible, CandidateFilter]:
        """Return who may answer, and in which chunks they stand; raises StoreError.

        `only_memories` where another engine finds the passages.
        """
        known, filters, asked = self._known_of(book), query.memory_filters, query.filters
        hidden = await self._hidden.of(book, filters.visibility)
        facts = await self._facts_of(known)
        eligible = Eligible(
            book=book,
            filters=filters,
            paths=Filters(paths=asked.paths, within=asked.within),
            versions=await _versions_for(known, filters, query.now.date(), hidden, facts),
            facts=facts,
            hidden=hidden,
        )
        return eligible, await self._admitted(eligible, known, query, only_memories=only_memories)

    async def versions(self, book: Book, filters: RecallFilters, today: date) -> Versions:
        """Return the versions and disagreements among what an asker may know of; raises StoreError."""
        known, hidden = self._known_of(book), await self._hidden.of(book, filters.visibility)
        return await _versions_for(known, filters, today, hidden, await self._facts_of(known))

    async def facts(self, book: Book) -> MemoryFacts:
        """Return what is worked out once for a book."""
        return await self._facts_of(self._known_of(book))

    def settled(self) -> Book | None:
        """Return the newest book of which all is worked out; none where it tells what is forgotten."""
        settled = self._settled
        if settled is None or not self._hidden.came_back.isdisjoint(settled.book.memories):
            return None
        return settled.book

    def _known_of(self, book: Book) -> _KnownFacts:
        if self._settled is not None and book is self._settled.book:
            return self._settled
        # a question of an older book that still waits has its own
        if book is not self._known.book:
            self._known = _KnownFacts(book, self._executor)
        return self._known

    async def _facts_of(self, known: _KnownFacts) -> MemoryFacts:
        """Return what is worked out once for all questions of a book, of one book after the other.

        What takes longer than the next edit is not begun anew with it: the next book is made of what comes of this one.
        """
        if known.facts is not None:
            return known.facts
        async with self._turn:
            if self._making is not None:
                # a question that was out of time left it
                await asyncio.wait([self._making])
            if known.facts is not None:
                return known.facts
            before = None if self._settled is None else self._settled.facts

            def make() -> MemoryFacts:
                # noted here, for nobody may wait for it any more
                known.facts, self._settled = (before or MemoryFacts()).of(known.book), known
                return known.facts

            self._making = asyncio.get_running_loop().run_in_executor(self._executor, make)
            return await asyncio.shield(self._making)

    async def _admitted(
        self, eligible: Eligible, known: _KnownFacts, query: RecallQuery, *, only_memories: bool
    ) -> CandidateFilter:
        question, filters, documents = query.question, query.memory_filters, query.filters
        required, forbidden = question.required, question.forbidden
        is_whole = not filters.picks_memories and documents.is_empty
        if is_whole and not only_memories:
            return CandidateFilter(None, required, forbidden, excluded=tuple(sorted(eligible.hidden.chunks)))
        key: Hashable = (filters, _key_of(eligible.paths))
        of_memories = await known.chunks.of(
            key,
            lambda: tuple(
                source.chunk for memory in eligible.book.memories.values() for source in eligible.sources(memory)
            ),
        )
        if only_memories or not filters.admits_passages:
            return CandidateFilter(None, required, forbidden, chunks=of_memories)
        # remembered while nothing is written
        moment = (self._database.epoch, self._database.writes, _key_of(documents))
        passages = await self._passages_of(documents, moment)
        chunks = await known.unions.of(
            (filters, moment),
            lambda: (*of_memories, *(chunk for chunk in passages if chunk not in eligible.hidden.chunks)),
        )
        return CandidateFilter(None, required, forbidden, chunks=chunks)

    async def _passages_of(self, documents: Filters, moment: Hashable) -> tuple[int, ...]:
        if moment not in self._passages:
            files = None if documents.is_empty else tuple(await self._database.documents.matching(documents))
            found = tuple(await self._database.words.passages_of(files))
            if len(self._passages) >= _FILTERS_MAX:
                self._passages.clear()
            self._passages[moment] = found
            return found
        return self._passages[moment]


async def _versions_for(
    known: _KnownFacts, filters: RecallFilters, today: date, hidden: Hidden, facts: MemoryFacts
) -> Versions:
    """Return what supersedes what among the memories that the asker may know of.

    What a log of a day to come states supersedes nothing yet: a clock may have been ahead.
    """
    is_ahead = facts.days.last_written > today
    is_all = not (filters.turns_back or hidden.memories or is_ahead)
    key = (filters.visibility, filters.as_of, filters.known_by, today if is_ahead else None)
    until = today if is_ahead else date.max
    return await known.versions.of(key, lambda: _versions(facts, None if is_all else filters, until))


def _versions(facts: MemoryFacts, filters: RecallFilters | None, until: date) -> Versions:
    found = facts.versions if filters is None else facts.versions_for(filters, until)
    newer, doubts = newer_of(found.older), found.disagreements
    return Versions(found.older, newer, {**leading_over(doubts), **newer}, doubted_by(doubts), doubts)


def _key_of(documents: Filters) -> Hashable:
    return (tuple(documents.paths), documents.within, documents.since, documents.until, str(documents.zone))


class WorkedOut(Generic[Value]):
    """The last `VALUES_MAX` values, by their keys."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known: dict[Hashable, Value] = {}
        self._running: dict[Hashable, asyncio.Future[Value]] = {}

    async def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made in a thread where it is not known; once, for whoever waits for it.

        A question that is out of time leaves it to the next one: begun anew each time, what takes longer than a
        question may would never be done.
        """
        if key not in self._known:
            running = self._running.get(key)
            if running is None:
                running = asyncio.get_running_loop().run_in_executor(self._executor, make)
                self._running[key] = running
                running.add_done_callback(lambda done: self._keep(key, done))
            return await asyncio.shield(running)
        # what was asked for last goes last
        known = self._known[key] = self._known.pop(key)
        return known

    def _keep(self, key: Hashable, done: "asyncio.Future[Value]") -> None:
        self._running.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        while len(self._known) >= VALUES_MAX:
            del self._known[next(iter(self._known))]
        self._known[key] = done.result()
