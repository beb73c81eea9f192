"""All memories of a workspace, as stated by its lines: by id, by chunk, by entity. The book is not stored.

After a change the next book is derived from the previous one, so that a saved line does not cost a pass over all lines.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.documents import Citation, is_conflict_copy, person_of
from memoryd.domain.memories.entities import EntityNames, EntitySlug, alias_table, slug_of
from memoryd.domain.memories.generated import restates
from memoryd.domain.memories.kinds import TEAM, Kind, MemoryId, ShortId, is_belief, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.memories.versions import KnownVersions, Older
from memoryd.domain.text.note_status import is_outdated
from memoryd.domain.text.sanitizing import Flag, path_flags


class MemorySource(Struct, frozen=True):
    """One line that states a memory, with its place, its record time and its event time."""

    path: str
    start_line: int
    end_line: int
    line: RetainedLine
    day: date
    """Record time: the date in the name of the document, else when the line was first seen."""
    event: DaySpan | None
    chunk: int
    """The id of its chunk in the index."""
    status_flags: tuple[Flag, ...] = ()
    """Flags for the validity of its document, as of the day on which the book is made."""

    @property
    def is_over(self) -> bool:
        """Whether the document is no longer valid."""
        return is_outdated(self.status_flags)

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The flags of the document that a reader is shown."""
        return *path_flags(self.path), *self.status_flags

    @property
    def citation(self) -> Citation:
        """The citation of the line."""
        return Citation(self.path, self.start_line, self.end_line)


class Memory(Struct, frozen=True):
    """A memory, stated by one or several lines.

    Kind and attributes are those of the newest line. A belief takes them from the newest line that states it as a
    belief, so that repeating it as a fact does not remove the opinion.
    """

    id: MemoryId
    sources: tuple[MemorySource, ...]
    """Newest first; of one day, the last line first; after them lines of notes that are no longer valid, then those in
    copies of a conflict."""

    @property
    def is_of_copies(self) -> bool:
        """Whether only copies of conflicts state it."""
        return is_conflict_copy(self.sources[0].path)

    @property
    def line(self) -> RetainedLine:
        newest = self.sources[0].line
        if len(self.sources) == 1 or is_belief(newest.kind):
            return newest
        return next((source.line for source in self.sources if is_belief(source.line.kind)), newest)

    @property
    def kind(self) -> Kind:
        return self.line.kind

    @property
    def text(self) -> str:
        return self.line.text

    @property
    def scope(self) -> str:
        return self.line.attributes.scope

    @property
    def slugs(self) -> tuple[EntitySlug, ...]:
        return self.line.slugs

    @property
    def recorded(self) -> date:
        """The day of its newest line."""
        return self.sources[0].day

    @property
    def first_recorded(self) -> date:
        return min(source.day for source in self.sources)


def newest_first(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return memories by the day of their newest line, newest first; of one day, conflict copies last."""
    return tuple(sorted(memories, key=place_of))


def place_of(memory: Memory) -> str:
    """Return the sort key of a memory in lists of the newest first; it stays valid if the memory is deleted."""
    return f"{date.max.toordinal() - memory.recorded.toordinal():07}:{int(memory.is_of_copies)}:{memory.id}"


class EntityPage(Struct, frozen=True):
    """The page of an entity: its path, its name, and the other names in its front matter."""

    path: str
    name: str
    aliases: tuple[str, ...] = ()


class Book(Struct, frozen=True, dict=True):
    """The memories of a workspace at one moment; made by `book_of` and `changed_book`."""

    memories: Mapping[MemoryId, Memory] = {}
    by_chunk: Mapping[int, MemoryId] = {}
    by_entity: Mapping[EntitySlug, frozenset[MemoryId]] = {}
    """The memories about each entity; those of an alias count for its entity."""
    aliases: Mapping[EntitySlug, EntitySlug] = {}
    """The entity of each alias, by slug."""
    pages: Mapping[EntitySlug, EntityPage] = {}
    scoped: Mapping[str, frozenset[MemoryId]] = {}
    """The memories of each scope; memories without a scope are not included."""
    marked: frozenset[MemoryId] = frozenset()
    """The memories whose line is pinned, or has a relation to others (supersedes, superseded, supports,
    contradicts)."""
    name_counts: Mapping[str, int] = {}
    """The number of memories that use each spelling of an entity's name."""

    @cached_property
    def versions(self) -> KnownVersions:
        """The relations between the memories; those of an earlier book are updated, which is cheaper."""
        earlier: KnownVersions = self.__dict__.pop(_EARLIER, KnownVersions())
        return earlier.of(self.memories)

    @property
    def superseded(self) -> Older:
        """The memories that each memory supersedes, newer to older."""
        return self.versions.older

    @cached_property
    def own(self) -> "Book":
        """The book without what other members of a team share."""
        if TEAM not in self.scoped:
            return self
        sources = (source for memory in self.memories.values() for source in memory.sources)
        return book_of((source for source in sources if not person_of(source.path)), self.pages.values()).following(
            self
        )

    @cached_property
    def without_copies(self) -> "Book":
        """The own book without copies of conflicts: the memories whose lines may be edited."""
        sources = [source for memory in self.own.memories.values() for source in memory.sources]
        settled = [source for source in sources if not is_conflict_copy(source.path)]
        return self.own if len(settled) == len(sources) else book_of(settled, self.pages.values()).following(self)

    @cached_property
    def by_day(self) -> tuple[Memory, ...]:
        """The memories sorted by the day on which they were first stated, then by id."""
        return tuple(sorted(self.memories.values(), key=lambda memory: (memory.first_recorded, memory.id)))

    @cached_property
    def newest(self) -> tuple[Memory, ...]:
        """The memories sorted as by `newest_first`."""
        return newest_first(self.memories.values())

    @cached_property
    def restating(self) -> tuple[Memory, ...]:
        """The memories written by memoryd that only restate others."""
        return tuple(memory for memory in self.memories.values() if restates(memory.line))

    @cached_property
    def opinion_evidence(self) -> tuple[Memory, ...]:
        """The memories whose lines support or contradict an opinion, oldest first."""
        marked = (self.memories[memory_id] for memory_id in self.marked)
        evidence = (
            memory for memory in marked if memory.line.attributes.supports or memory.line.attributes.contradicts
        )
        return tuple(sorted(evidence, key=lambda memory: (memory.first_recorded, memory.id)))

    def find(self, name: str) -> Memory:
        """Return the memory with an id or the beginning of one; raise ValueError if there is none, or several."""
        prefix = name.strip().lower()
        exact = self.memories.get(MemoryId(prefix))
        if exact is not None:
            return exact
        matches: Sequence[MemoryId] = ()
        if len(prefix) >= _SHORTEST_ID:
            ids = self._sorted_ids
            matches = ids[bisect_left(ids, prefix) : bisect_right(ids, f"{prefix}~")]
        if not matches:
            raise ValueError(f"there is no memory {name!r}")
        if len(matches) > 1:
            raise ValueError(f"{name!r} is the beginning of {len(matches)} ids: {', '.join(matches[:3])}")
        return self.memories[matches[0]]

    def sources_on(self, path: str, first: int, last: int) -> Iterator[tuple[Memory, MemorySource]]:
        """Yield the memories stated on lines `first` to `last` of a note, each with its line there."""
        for memory in self.memories.values():
            for source in memory.sources:
                if source.path == path and source.start_line <= last and source.end_line >= first:
                    yield memory, source

    def entities_in(self, question: str) -> tuple[EntitySlug, ...]:
        """Return the entities that a question names, by name, slug or alias, in order; never by similarity."""
        return self._names.within(question)

    def of_short(self, short: ShortId) -> MemoryId | None:
        """Return the memory with a short id, the last of several; None if there is none."""
        ids = self._sorted_ids
        at = bisect_right(ids, f"{short}~") - 1
        return ids[at] if at >= 0 and ids[at].startswith(short) else None

    def following(self, earlier: "Book") -> "Book":
        """Return this book; it reuses the relations of an earlier book, and its index of names if they are the same."""
        are_same = (self.name_counts.keys(), self.aliases, self.pages) == (
            earlier.name_counts.keys(),
            earlier.aliases,
            earlier.pages,
        )
        if are_same and (names := earlier.__dict__.get("_names")) is not None:
            self.__dict__["_names"] = names
        known = earlier.__dict__.get("versions") or earlier.__dict__.get(_EARLIER)
        if known is not None:
            self.__dict__[_EARLIER] = known
        return self

    def entity_named(self, name: str) -> EntitySlug:
        """Return the entity that a name, slug or alias means, even if no memory is about it."""
        slug = slug_of(name)
        return self.aliases.get(slug, slug)

    def slugs_of(self, entities: Collection[EntitySlug]) -> list[EntitySlug]:
        """Return entities together with the slugs of all their aliases."""
        return [*entities, *(alias for alias, entity in self.aliases.items() if entity in entities)]

    @cached_property
    def _names(self) -> EntityNames:
        titles = {name for page in self.pages.values() for name in (page.name, *page.aliases)}
        return EntityNames(
            (name, self.entity_named(name)) for name in sorted(self.name_counts.keys() | titles | self.pages.keys())
        )

    @cached_property
    def _sorted_ids(self) -> Sequence[MemoryId]:
        return sorted(self.memories)


_SHORTEST_ID = 4
_EARLIER = "earlier_versions"
"""The attribute of a book with the relations of an earlier one, until its own are needed."""


def book_of(sources: Iterable[MemorySource], pages: Iterable[EntityPage] = ()) -> Book:
    """Return the book of all lines and entity pages. Lines with the same statement are sources of one memory."""
    stated = grouped((source.line.id, source) for source in sources)
    pages = tuple(pages)
    aliases = alias_table((page.name, page.aliases) for page in pages)
    memories = {key: Memory(key, tuple(sorted(group, key=_source_order))) for key, group in stated.items()}
    scopes = ((memory.scope, memory.id) for memory in memories.values())
    return Book(
        memories=memories,
        by_chunk={source.chunk: memory.id for memory in memories.values() for source in memory.sources},
        by_entity=about_entities(memories.values(), aliases),
        aliases=aliases,
        pages={slug_of(page.name): page for page in pages},
        scoped={scope: frozenset(ids) for scope, ids in grouped(scopes).items() if scope},
        marked=frozenset(memory.id for memory in memories.values() if _is_marked(memory)),
        name_counts=names_in(memories.values()),
    )


def _source_order(source: MemorySource) -> tuple[bool, bool, int, str, int]:
    return is_conflict_copy(source.path), source.is_over, -source.day.toordinal(), source.path, -source.start_line


def about_entities(
    memories: Iterable[Memory], aliases: Mapping[EntitySlug, EntitySlug]
) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    """Return the memories about each entity, by any of its names."""
    by_slug = grouped((aliases.get(slug, slug), memory.id) for memory in memories for slug in memory.slugs)
    return {slug: frozenset(about) for slug, about in by_slug.items()}


def spelling(slug: EntitySlug, memories: Iterable[Memory], default: str) -> str:
    """Return the most frequent spelling of an entity's name in some memories, or `default`."""
    names = Counter(name for memory in memories for name in memory.line.entities if slug_of(name) == slug)
    return min(names, key=lambda name: (-names[name], name), default=default)


def names_in(memories: Iterable[Memory]) -> Counter[str]:
    """Count the memories that use each spelling of an entity's name."""
    return Counter(name for memory in memories for name in set(memory.line.entities))


def _is_marked(memory: Memory) -> bool:
    attributes = memory.line.attributes
    named = (attributes.supersedes, attributes.supports, attributes.contradicts, attributes.superseded)
    return attributes.is_pinned or any(named)


Key = TypeVar("Key", bound=str)


def changed_book(
    book: Book, removed: Collection[MemorySource], added: Collection[MemorySource], pages: Iterable[EntityPage]
) -> Book:
    """Return the book without the removed sources, with the added ones, and with these pages.

    Its memories are sorted by id, in whatever order they were read.
    """
    removed_places = {(source.path, source.chunk) for source in removed}
    touched = {book.by_chunk[source.chunk] for source in removed} | {source.line.id for source in added}
    before = [book.memories[key] for key in touched if key in book.memories]
    sources = (source for memory in before for source in memory.sources)
    unchanged = [source for source in sources if (source.path, source.chunk) not in removed_places]
    part = book_of([*unchanged, *added], pages)
    memories = {key: memory for key, memory in book.memories.items() if key not in touched} | dict(part.memories)
    chunks = {source.chunk for source in removed}
    by_chunk = {chunk: key for chunk, key in book.by_chunk.items() if chunk not in chunks} | dict(part.by_chunk)
    written = Counter(book.name_counts)
    written.subtract(names_in(before))
    written.update(part.name_counts)
    changed = Book(
        memories=dict(sorted(memories.items())),
        by_chunk=by_chunk,
        by_entity=_update_entities(book, before, part, memories.values()),
        aliases=part.aliases,
        pages=part.pages,
        scoped=_update_index(book.scoped, before, part.scoped, lambda memory: (memory.scope,)),
        marked=(book.marked - touched) | part.marked,
        name_counts=+written,
    )
    return changed.following(book)


def changed_memories(book: Book, after: Book) -> frozenset[MemoryId]:
    """Return the ids of memories that differ between two books, or are only in one of them."""
    old, new = book.memories, after.memories
    return frozenset(key for key, memory in new.items() if old.get(key) is not memory) | (old.keys() - new.keys())


def _update_entities(
    book: Book, before: Iterable[Memory], part: Book, memories: Iterable[Memory]
) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    aliases = part.aliases
    if aliases != book.aliases:
        return about_entities(memories, aliases)
    return _update_index(
        book.by_entity, before, part.by_entity, lambda memory: [aliases.get(slug, slug) for slug in memory.slugs]
    )


def _update_index(
    index: Mapping[Key, frozenset[MemoryId]],
    before: Iterable[Memory],
    part: Mapping[Key, frozenset[MemoryId]],
    keys: Callable[[Memory], Iterable[Key]],
) -> Mapping[Key, frozenset[MemoryId]]:
    # one set operation per key: removing the memories one by one would take quadratic time
    removed = grouped((key, memory.id) for memory in before for key in keys(memory))
    updated = dict(index)
    for key in removed.keys() | part.keys():
        updated[key] = updated.get(key, frozenset()).difference(removed.get(key, ())) | part.get(key, frozenset())
    return {key: memories for key, memories in updated.items() if memories}


class CitedState(StrEnum):
    """The result of checking a citation."""

    VERIFIED = "verified"
    """The lines state the cited memory; without a mark: the lines exist."""
    MOVED = "moved"
    """The memory is on other lines."""
    EDITED = "edited"
    """The lines state another memory, or none, and no line states the cited one."""
    GONE = "gone"
    """The lines do not exist."""


class CitationCheck(Struct, frozen=True):
    """The result of checking a citation; `now` cites the memory where it is now, or what is on the lines."""

    state: CitedState
    now: Citation | None = None
    memory: Memory | None = None
    note: str = ""


MAYBE_MOVED = "what was cited is nowhere: it was edited, or deleted and other lines moved up"
NO_MARK = "the citation has no mark behind @, so it is not known what its lines said then"


def check_citation(book: Book, citation: Citation, total_lines: int | None) -> CitationCheck:
    """Check a citation against the current memories; `total_lines` is the length of its document, None if deleted."""
    line = citation.start_line or 1
    on_lines = book.sources_on(citation.path, line, citation.end_line or citation.start_line or 2**31)
    # the memory named by the mark takes precedence
    match = min(on_lines, key=lambda pair: (short_id(pair[0].id) != citation.mark, pair[1].start_line), default=None)
    memory, now = (match[0], cite(match[1])) if match else (None, None)
    marked = [stored for stored in book.memories.values() if short_id(stored.id) == citation.mark]
    if memory is not None and memory in marked:
        return CitationCheck(CitedState.VERIFIED, now, memory)
    if marked:
        nearest = min(
            marked[0].sources, key=lambda source: (source.path != citation.path, abs(source.start_line - line))
        )
        return CitationCheck(CitedState.MOVED, cite(nearest), marked[0])
    if total_lines is None or line > total_lines:
        return CitationCheck(CitedState.GONE)
    state, note = (CitedState.EDITED, MAYBE_MOVED) if citation.mark else (CitedState.VERIFIED, NO_MARK)
    return CitationCheck(state, now, memory, note)


def cite(source: MemorySource) -> Citation:
    """Return the citation of a line with its mark."""
    return Citation(source.path, source.start_line, source.end_line, short_id(source.line.id))
