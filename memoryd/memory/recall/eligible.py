"""Which memories and documents may answer a query, decided before ranking and cached for one book.

Facts of a book are derived from those of the previous book, so that a saved line does not cost a pass over all others.
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
from memoryd.domain.memories.versions import Disagreement, KnownVersions, disagreeing_memories, leading_over
from memoryd.domain.ranking.filters import Filters, date_in_name
from memoryd.memory.book import Hidden, HiddenChunks
from memoryd.memory.recall.query import RecallQuery
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter

_Row = tuple[int, int, int, bool, int]
_FIRST, _LAST, _NEWEST, _IS_DATED, _LOGGED = range(5)
"""Days are ordinals; `_LOGGED` is the day of the log, 0 for a line of a page that is no log."""
_ID = "S36"
_FILTERS_MAX = 16
"""Maximum number of cached document filters."""
VALUES_MAX = 16
Value = TypeVar("Value")


class MemoryDays(Struct, frozen=True, eq=False):
    """The days of all lines of a book, in the order of their memory ids; `of` computes them."""

    book: Book = Book()
    _ids: npt.NDArray[np.bytes_] = field(default_factory=lambda: np.empty(0, _ID))
    _rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 5), np.int64))

    @property
    def last_written(self) -> date:
        """The last day that has a log; it may be in the future if a clock was ahead."""
        last = int(self._rows[:, _LOGGED].max(initial=0))
        return date.fromordinal(last) if last else date.min

    def meeting(self, span: DaySpan) -> Iterator[Memory]:
        """Yield the memories about these days: first those mostly about them, the newest first."""
        first, last = span.first.toordinal(), span.last.toordinal()
        rows = self._rows
        places = np.flatnonzero((rows[:, _FIRST] <= last) & (rows[:, _LAST] >= first))
        matching = rows[places]
        own = matching[:, _LAST] - matching[:, _FIRST] + 1
        shared = np.minimum(matching[:, _LAST], last) - np.maximum(matching[:, _FIRST], first) + 1
        is_inside = (matching[:, _IS_DATED] > 0) & (shared >= INSIDE_SHARE * own)
        order = np.lexsort((places, -matching[:, _NEWEST], ~is_inside))
        seen: set[bytes] = set()
        for at in places[order].tolist():
            key = bytes(self._ids[at])
            if key not in seen:
                seen.add(key)
                yield self.book.memories[MemoryId(key.decode())]

    def of(self, book: Book) -> "MemoryDays":
        """Return the days of a later book; unchanged memories are not read again."""
        changed = changed_memories(self.book, book)
        changed_rows = [
            (key, _row(source)) for key in changed if key in book.memories for source in book.memories[key].sources
        ]
        # np.isin would import masked arrays; the last element sorts after every id
        changed_ids = np.array([*sorted(changed), "\x7f"], _ID)
        is_unchanged = changed_ids[np.searchsorted(changed_ids, self._ids)] != self._ids
        ids = np.concatenate([self._ids[is_unchanged], np.array([key for key, _ in changed_rows], _ID)])
        new_rows = np.array([row for _, row in changed_rows], np.int64).reshape(-1, 5)
        rows = np.concatenate([self._rows[is_unchanged], new_rows])
        # a stable sort keeps the order of the lines of one memory
        order = np.argsort(ids, kind="stable")
        return MemoryDays(book, ids[order], rows[order])


def _row(source: MemorySource) -> _Row:
    span, is_logged = span_of(source), date_in_name(source.path) is not None
    newest, day = min(span.last, source.day).toordinal(), source.day.toordinal()
    is_dated = source.event is not None or is_logged
    return span.first.toordinal(), span.last.toordinal(), newest, is_dated, day if is_logged else 0


class MemoryFacts(Struct, frozen=True):
    """Days and descriptions of one book. They contain nothing about memories that are not in the book."""

    book: Book = Book()
    days: MemoryDays = MemoryDays()
    descriptions: Descriptions = Descriptions()

    def of(self, book: Book) -> "MemoryFacts":
        """Return the facts of a later book; call it in a thread."""
        # computed now because every query needs them
        _ = book.entities_in(""), book.versions.older, book.versions.disagreements
        return MemoryFacts(book, self.days.of(book), self.descriptions.of(book))

    def versions_for(self, filters: RecallFilters, until: date) -> KnownVersions:
        """Return the versions among memories that the asker may know, without lines in logs after the day `until`."""
        known: dict[MemoryId, Memory] = {}
        for key, memory in self.book.memories.items():
            if filters.visibility.admits(memory.scope):
                sources = tuple(source for source in filters.visible_sources(memory) if is_written(source, until))
                if sources:
                    # the same object if all of its lines remain
                    known[key] = memory if len(sources) == len(memory.sources) else Memory(key, sources)
        return self.book.versions.of(known)


def is_written(source: MemorySource, until: date) -> bool:
    """Return whether a line was written by this day; lines of pages without a date in their name always were."""
    return source.day <= until or date_in_name(source.path) is None


class Versions(Struct, frozen=True):
    """Versions of memories: newer to older, and older to newer; and memories that may contradict each other.

    `above` has the memories that come before a memory: those that supersede it, and those that lead in a disagreement.
    """

    superseded: Mapping[MemoryId, tuple[MemoryId, ...]]
    newer: Mapping[MemoryId, tuple[MemoryId, ...]]
    above: Mapping[MemoryId, tuple[MemoryId, ...]]
    doubted: Mapping[MemoryId, tuple[MemoryId, ...]]
    disagreements: Sequence[Disagreement] = ()


class Eligible(Struct, frozen=True):
    """What may answer one query, in one book."""

    book: Book
    filters: RecallFilters
    paths: Filters
    """Which documents may answer, by their paths alone."""
    versions: Versions
    """Versions among the memories that the asker may know, as of the given days."""
    facts: MemoryFacts
    hidden: Hidden
    """What the asker may not see; word statistics must not reveal it either."""

    def sources(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the lines of a memory that may answer, the newest first; empty if it may not answer."""
        sources = self.filters.eligible(memory)
        if self.paths.is_empty:
            return sources
        return tuple(source for source in sources if self.paths.admits(source.path, Source.MEMORY, 0))


class _BookCache:
    """Values computed for one book: its facts, versions, and the chunks that may answer."""

    def __init__(self, book: Book, executor: Executor) -> None:
        self.book = book
        self.facts: MemoryFacts | None = None
        self.versions: ComputedValues[Versions] = ComputedValues(executor)
        self.chunks: ComputedValues[tuple[int, ...]] = ComputedValues(executor)
        self.unions: ComputedValues[tuple[int, ...]] = ComputedValues(executor)


class EligibleMemories:
    """Decides what may answer; results for all queries of one asker are cached while the book is the same."""

    def __init__(self, *, database: Database, executor: Executor, hidden: HiddenChunks) -> None:
        self._database = database
        self._executor = executor
        self._hidden = hidden
        self._known = _BookCache(Book(), executor)
        self._settled: _BookCache | None = None
        """The cache of the newest book whose facts are computed."""
        self._making: asyncio.Future[MemoryFacts] | None = None
        self._turn = asyncio.Lock()
        self._passages: dict[Hashable, tuple[int, ...]] = {}

    async def of(
        self, book: Book, query: RecallQuery, *, only_memories: bool = False
    ) -> tuple[Eligible, CandidateFilter]:
        """Return what may answer, and the filter of its chunks; raises StoreError.

        `only_memories`: another engine searches the passages.
        """
        known, filters, documents = self._cache_of(book), query.memory_filters, query.filters
        hidden = await self._hidden.of(book, filters.visibility)
        facts = await self._load_facts(known)
        eligible = Eligible(
            book=book,
            filters=filters,
            paths=Filters(paths=documents.paths, within=documents.within),
            versions=await _versions_for(known, filters, query.now.date(), hidden, facts),
            facts=facts,
            hidden=hidden,
        )
        return eligible, await self._candidate_filter(eligible, known, query, only_memories=only_memories)

    async def versions(self, book: Book, filters: RecallFilters, today: date) -> Versions:
        """Return the versions and disagreements among memories that the asker may know; raises StoreError."""
        known, hidden = self._cache_of(book), await self._hidden.of(book, filters.visibility)
        return await _versions_for(known, filters, today, hidden, await self._load_facts(known))

    async def facts(self, book: Book) -> MemoryFacts:
        """Return the facts of a book."""
        return await self._load_facts(self._cache_of(book))

    def newest_computed(self) -> Book | None:
        """Return the newest book whose facts are computed; None if it shows memories that are hidden as forgotten."""
        settled = self._settled
        if settled is None or not self._hidden.reappeared.isdisjoint(settled.book.memories):
            return None
        return settled.book

    def _cache_of(self, book: Book) -> _BookCache:
        if self._settled is not None and book is self._settled.book:
            return self._settled
        # a pending query of an older book keeps its own cache
        if book is not self._known.book:
            self._known = _BookCache(book, self._executor)
        return self._known

    async def _load_facts(self, known: _BookCache) -> MemoryFacts:
        """Return the facts of a book, computing them for one book at a time.

        A computation that takes longer than the time between two edits is not restarted: the facts of the next book are
        derived from its result.
        """
        if known.facts is not None:
            return known.facts
        async with self._turn:
            if self._making is not None:
                # left running by a query that timed out
                await asyncio.wait([self._making])
            if known.facts is not None:
                return known.facts
            before = None if self._settled is None else self._settled.facts

            def make() -> MemoryFacts:
                # stored in the thread: the caller may have timed out
                known.facts, self._settled = (before or MemoryFacts()).of(known.book), known
                return known.facts

            self._making = asyncio.get_running_loop().run_in_executor(self._executor, make)
            return await asyncio.shield(self._making)

    async def _candidate_filter(
        self, eligible: Eligible, known: _BookCache, query: RecallQuery, *, only_memories: bool
    ) -> CandidateFilter:
        question, filters, documents = query.question, query.memory_filters, query.filters
        required, forbidden = question.required, question.forbidden
        is_unfiltered = not filters.picks_memories and documents.is_empty
        if is_unfiltered and not only_memories:
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
        # cached while nothing is written
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
            passages = tuple(await self._database.words.passages_of(files))
            if len(self._passages) >= _FILTERS_MAX:
                self._passages.clear()
            self._passages[moment] = passages
            return passages
        return self._passages[moment]


async def _versions_for(
    known: _BookCache, filters: RecallFilters, today: date, hidden: Hidden, facts: MemoryFacts
) -> Versions:
    """Return the versions among the memories that the asker may know.

    A line in a log of a future day supersedes nothing yet: a clock may have been ahead.
    """
    is_ahead = facts.days.last_written > today
    is_unfiltered = not (filters.is_historical or hidden.memories or is_ahead)
    key = (filters.visibility, filters.as_of, filters.known_by, today if is_ahead else None)
    until = today if is_ahead else date.max
    return await known.versions.of(key, lambda: _versions(facts, None if is_unfiltered else filters, until))


def _versions(facts: MemoryFacts, filters: RecallFilters | None, until: date) -> Versions:
    known = facts.book.versions if filters is None else facts.versions_for(filters, until)
    newer, doubts = newer_of(known.older), known.disagreements
    return Versions(known.older, newer, {**leading_over(doubts), **newer}, disagreeing_memories(doubts), doubts)


def _key_of(documents: Filters) -> Hashable:
    return (tuple(documents.paths), documents.within, documents.since, documents.until, str(documents.zone))


class ComputedValues(Generic[Value]):
    """Cache of the last `VALUES_MAX` values, by key."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known: dict[Hashable, Value] = {}
        self._running: dict[Hashable, asyncio.Future[Value]] = {}

    async def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, computing it once in a thread if it is unknown.

        A computation survives the timeout of its caller and the next caller gets its result: otherwise one that takes
        longer than a query may would never finish.
        """
        if key not in self._known:
            running = self._running.get(key)
            if running is None:
                running = asyncio.get_running_loop().run_in_executor(self._executor, make)
                self._running[key] = running
                running.add_done_callback(lambda done: self._keep(key, done))
            return await asyncio.shield(running)
        # moved to the end: the least recently used value is dropped first
        known = self._known[key] = self._known.pop(key)
        return known

    def _keep(self, key: Hashable, done: "asyncio.Future[Value]") -> None:
        self._running.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        while len(self._known) >= VALUES_MAX:
            del self._known[next(iter(self._known))]
        self._known[key] = done.result()
