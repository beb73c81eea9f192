"""What is worked out once for a book, of that of the book before: a saved line must not cost a look at all others."""

from dataclasses import dataclass, field
from datetime import date

from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.versions import KnownVersions, Older
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.recall.days_of_book import DaysOfBook


@dataclass(frozen=True, slots=True)
class BookFacts:
    """The days and the versions of one book. Nothing in it speaks of memories that the book does not have."""

    book: Book = field(default_factory=Book)
    days: DaysOfBook = field(default_factory=DaysOfBook)
    versions: KnownVersions = field(default_factory=KnownVersions)

    def of(self, book: Book) -> "BookFacts":
        """Return those of a later book; call it in a thread."""
        versions = self.versions.of(book.memories)
        # both are wanted by every question
        _ = book.entities_in(""), versions.older
        return BookFacts(book, self.days.of(book), versions)

    def superseded(self, filters: RecallFilters, until: date) -> Older:
        """Return what supersedes what of that which the asker may know of, and stands in no log of a later day."""
        found = {one: memory for one, memory in self.book.memories.items() if _may_stand(memory, filters)}
        standing = ((one, _standing(memory, filters, until)) for one, memory in found.items())
        return self.versions.of({one: memory for one, memory in standing if memory.sources}).older


def is_written(source: MemorySource, until: date) -> bool:
    """Tell whether a line is no log's of a later day; a page without a date has none to come."""
    return source.day <= until or date_in_name(source.path) is None


def _may_stand(memory: Memory, filters: RecallFilters) -> bool:
    return filters.reach.admits(memory.line.attributes.scope)


def _standing(memory: Memory, filters: RecallFilters, until: date) -> Memory:
    """Return a memory with the lines that stand: itself if all of them do."""
    sources = tuple(source for source in filters.standing(memory) if is_written(source, until))
    return memory if len(sources) == len(memory.sources) else Memory(memory.id, sources)
