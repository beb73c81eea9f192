"""Who may answer a question: memories by their lines, passages by their documents; decided before any ranking."""

from collections.abc import Hashable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from memoryd.domain.documents import Source
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.recall_order import newer_of
from memoryd.domain.ranking.filters import Filters
from memoryd.memory.hidden_chunks import Hidden, HiddenChunks
from memoryd.memory.recall.book_facts import BookFacts
from memoryd.memory.recall.days_of_book import DaysOfBook
from memoryd.memory.recall.recall_query import RecallQuery
from memoryd.memory.recall.worked_out import WorkedOut
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter


@dataclass(frozen=True, slots=True)
class Versions:
    """Which memories are versions of each other: newer to older, and older to newer."""

    superseded: Mapping[MemoryId, tuple[MemoryId, ...]]
    newer: Mapping[MemoryId, tuple[MemoryId, ...]]


_REMEMBERED: Final = 16
"""Filters of documents."""


@dataclass(frozen=True, slots=True)
class _Passages:
    """Passages of some documents, as they were at a moment of the index."""

    moment: tuple[int, int]
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Eligible:
    """Who may answer one question, in one book."""

    book: Book
    filters: RecallFilters
    paths: Filters
    """Which documents may answer, by their paths alone."""
    versions: Versions
    """Among those that the asker may know of, as of the days given."""
    days: DaysOfBook
    admitted: CandidateFilter
    hidden: Hidden = field(default_factory=Hidden)
    """What the asker may not see: how common a word is must not tell of it, either."""

    def sources(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the lines of a memory that may answer, the newest first; none: it may not."""
        found = self.filters.eligible(memory)
        if self.paths.is_empty:
            return found
        return tuple(source for source in found if self.paths.admits(source.path, Source.MEMORY, 0))


class _KnownOfBook:
    """What was worked out for one book: its days and versions, and the chunks that may answer.

    `before` is what is known of an older one: kept until that of this one is, and never with what was before it.
    """

    def __init__(self, book: Book, before: BookFacts, executor: Executor) -> None:
        self.book = book
        self.newest = before
        self._facts: WorkedOut[BookFacts] = WorkedOut(executor)
        self.versions: WorkedOut[Versions] = WorkedOut(executor)
        self.chunks: WorkedOut[tuple[int, ...]] = WorkedOut(executor)
        self.unions: WorkedOut[tuple[int, ...]] = WorkedOut(executor)

    async def facts(self) -> BookFacts:
        """Return what is worked out once for all questions of the book."""
        return await self._facts.of("", self._made)

    def _made(self) -> BookFacts:
        # noted here, for nobody may wait for it any more
        self.newest = self.newest.of(self.book)
        return self.newest


class EligibleMemories:
    """Decides who may answer; what holds for all questions of one asker is remembered while the book is the same."""

    def __init__(self, *, database: Database, executor: Executor) -> None:
        self._database = database
        self._executor = executor
        self._hidden = HiddenChunks(database)
        self._known = _KnownOfBook(Book(), BookFacts(), executor)
        self._known_passages: dict[Hashable, _Passages] = {}

    async def of(self, book: Book, query: RecallQuery, *, only_memories: bool = False) -> Eligible:
        """Return who may answer; `only_memories` where another engine finds the passages. Raises StoreError."""
        if book is not self._known.book:
            self._known = _KnownOfBook(book, self._known.newest, self._executor)
        # a question of an older book that still waits has its own
        known = self._known
        filters, asked = query.filters, query.of_documents
        hidden = await self._hidden.of(book, filters.reach)
        facts = await known.facts()
        draft = Eligible(
            book=book,
            filters=filters,
            paths=Filters(paths=asked.paths, within=asked.within),
            versions=await _versions_for(known, query, hidden, facts),
            days=facts.days,
            admitted=CandidateFilter(),
            hidden=hidden,
        )
        admitted = await self._admitted(draft, known, query, only_memories=only_memories)
        return replace(draft, admitted=admitted)

    async def _admitted(
        self, eligible: Eligible, known: _KnownOfBook, query: RecallQuery, *, only_memories: bool
    ) -> CandidateFilter:
        question, filters, documents = query.question, query.filters, query.of_documents
        required, forbidden = question.required, question.forbidden
        is_whole = not filters.picks_memories and documents.is_empty
        if is_whole and not only_memories:
            return CandidateFilter(None, required, forbidden, excluded=tuple(sorted(eligible.hidden.chunks)))
        key: Hashable = (filters, _key_of(eligible.paths))
        of_memories = await known.chunks.of(key, lambda: _eligible_chunks(eligible))
        if only_memories or not filters.admits_passages:
            return CandidateFilter(None, required, forbidden, chunks=of_memories)
        passages = await self._passages(documents)
        key = (filters, _key_of(documents), passages.moment)
        chunks = await known.unions.of(
            key, lambda: (*of_memories, *(chunk for chunk in passages.chunks if chunk not in eligible.hidden.chunks))
        )
        return CandidateFilter(None, required, forbidden, chunks=chunks)

    async def _passages(self, documents: Filters) -> _Passages:
        """Return the passages of the documents that may answer, remembered while nothing is written."""
        moment, key = (self._database.epoch, self._database.writes), _key_of(documents)
        known = self._known_passages.get(key)
        if known is None or known.moment != moment:
            files = None if documents.is_empty else tuple(await self._database.documents.matching(documents))
            known = _Passages(moment, tuple(await self._database.words.passages_of(files)))
            if len(self._known_passages) >= _REMEMBERED:
                self._known_passages.clear()
            self._known_passages[key] = known
        return known


async def _versions_for(known: _KnownOfBook, query: RecallQuery, hidden: Hidden, facts: BookFacts) -> Versions:
    """Return what supersedes what among the memories that the asker may know of.

    What a log of a day to come states supersedes nothing yet: a clock may have been ahead.
    """
    filters, today = query.filters, query.now.date()
    is_ahead = facts.days.last_written > today
    is_all = not (filters.turns_back or hidden.memories or is_ahead)
    key = (filters.reach, filters.as_of, filters.known_by, today if is_ahead else None)
    until = today if is_ahead else date.max
    return await known.versions.of(key, lambda: _versions(facts, None if is_all else filters, until))


def _versions(facts: BookFacts, filters: RecallFilters | None, until: date) -> Versions:
    found = facts.versions.older if filters is None else facts.superseded(filters, until)
    return Versions(found, newer_of(found))


def _eligible_chunks(eligible: Eligible) -> tuple[int, ...]:
    return tuple(source.chunk for memory in eligible.book.memories.values() for source in eligible.sources(memory))


def _key_of(documents: Filters) -> Hashable:
    return (tuple(documents.paths), documents.within, documents.since, documents.until, str(documents.zone))
