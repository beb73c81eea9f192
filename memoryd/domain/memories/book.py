"""All memories of a workspace, as its lines state them: by id, by chunk, by entity. Nothing here is stored.

After a change the next book is made from the one before, so that a saved line does not cost a pass over all others.
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
from memoryd.domain.memories.generated import retells
from memoryd.domain.memories.kinds import TEAM, Kind, MemoryId, ShortId, is_belief, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.memories.versions import superseded
from memoryd.domain.text.sanitizing import Flag, path_flags
from memoryd.domain.text.standing import is_over


class MemorySource(Struct, frozen=True):
    """One line that states a memory, with its place and its own two times."""

    path: str
    start_line: int
    end_line: int
    line: RetainedLine
    day: date
    """Record time: the date in the name of the document, else when the line was first seen."""
    event: DaySpan | None
    chunk: int
    """The id of its chunk in the index."""
    standing: tuple[Flag, ...] = ()
    """What its document says of whether it holds, on the day on which the book is made."""

    @property
    def is_over(self) -> bool:
        """Whether its document says that it holds no longer."""
        return is_over(self.standing)

    @property
    def flags(self) -> tuple[Flag, ...]:
        """What a reader of it is told of its document."""
        return *path_flags(self.path), *self.standing

    @property
    def citation(self) -> Citation:
        """The way to point at the line."""
        return Citation(self.path, self.start_line, self.end_line)


class Memory(Struct, frozen=True):
    """What one or several lines state. Kind and attributes are those of the newest line. A belief takes them from the
    newest line that states it as a belief: repeating it as a fact does not take the opinion away."""

    id: MemoryId
    sources: tuple[MemorySource, ...]
    """The newest first; of one day, the last line first; behind them lines of notes that hold no longer, and those in
    copies of a conflict."""

    @property
    def is_of_copies(self) -> bool:
        """Whether copies of conflicts alone state it."""
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
    """Return memories by the day of their newest line, those of one day by their ids, of copies of conflicts last."""
    return tuple(sorted(memories, key=place_of))


def place_of(memory: Memory) -> str:
    """Return its place in a list of the newest first; a memory that is gone by now does no harm."""
    return f"{date.max.toordinal() - memory.recorded.toordinal():07}:{int(memory.is_of_copies)}:{memory.id}"


class EntityPage(Struct, frozen=True):
    """The page of an entity: where it is, what it is called, and which other names its front matter gives."""

    path: str
    name: str
    aliases: tuple[str, ...] = ()


class Book(Struct, frozen=True, dict=True):
    """The memories of a workspace at one moment. Build it with `book_of`."""

    memories: Mapping[MemoryId, Memory] = {}
    by_chunk: Mapping[int, MemoryId] = {}
    by_entity: Mapping[EntitySlug, frozenset[MemoryId]] = {}
    """Those of an alias are those of the entity that it is another name of."""
    aliases: Mapping[EntitySlug, EntitySlug] = {}
    """The slug of an alias, and the entity that it is another name of."""
    pages: Mapping[EntitySlug, EntityPage] = {}
    scoped: Mapping[str, frozenset[MemoryId]] = {}
    """Those that have a scope, by it."""
    marked: frozenset[MemoryId] = frozenset()
    """Those whose line is pinned, or names others: what it supersedes, supports, contradicts or is superseded by."""
    written: Mapping[str, int] = {}
    """How many memories name an entity so."""

    @cached_property
    def superseded(self) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """What each memory supersedes, newer to older."""
        return superseded(self.memories.values())

    @cached_property
    def own(self) -> "Book":
        """The book of what is said here, without what others of a team share."""
        if TEAM not in self.scoped:
            return self
        sources = (source for memory in self.memories.values() for source in memory.sources)
        return book_of((one for one in sources if not person_of(one.path)), self.pages.values())

    @cached_property
    def settled(self) -> "Book":
        """The own book without what copies of conflicts say: what may be written anew."""
        sources = [source for memory in self.own.memories.values() for source in memory.sources]
        settled = [one for one in sources if not is_conflict_copy(one.path)]
        return self.own if len(settled) == len(sources) else book_of(settled, self.pages.values())

    def note_superseded(self, found: Mapping[MemoryId, tuple[MemoryId, ...]]) -> None:
        """Store what each memory supersedes, if a caller derived it from the book before, which costs far less."""
        self.__dict__.setdefault("superseded", found)

    @cached_property
    def by_day(self) -> tuple[Memory, ...]:
        """The memories by the day on which they were said first, and by their ids."""
        return tuple(sorted(self.memories.values(), key=lambda one: (one.first_recorded, one.id)))

    @cached_property
    def newest(self) -> tuple[Memory, ...]:
        """The memories by the day of their newest line, the latest first, as `newest_first` has it."""
        return newest_first(self.memories.values())

    @cached_property
    def retelling(self) -> tuple[Memory, ...]:
        """Those that say again what others say, as memoryd wrote it."""
        return tuple(one for one in self.memories.values() if retells(one.line))

    @cached_property
    def stating(self) -> tuple[Memory, ...]:
        """The memories that say that they speak for an opinion or against one, the oldest first."""
        marked = (self.memories[one] for one in self.marked)
        found = (one for one in marked if one.line.attributes.supports or one.line.attributes.contradicts)
        return tuple(sorted(found, key=lambda one: (one.first_recorded, one.id)))

    def found(self, name: str) -> Memory:
        """Return the memory of a full id, or of a beginning of one; raise ValueError if that is none, or several."""
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
        """Yield the memories that lines of a note state, each with its line there."""
        for memory in self.memories.values():
            for source in memory.sources:
                if source.path == path and source.start_line <= last and source.end_line >= first:
                    yield memory, source

    def entities_in(self, question: str) -> tuple[EntitySlug, ...]:
        """Return the entities that a question names, by name, slug or alias, in order; never by similarity."""
        return self._names.within(question)

    def of_short(self, short: ShortId) -> MemoryId | None:
        """Return the memory whose id begins so, the last of several; None if there is none."""
        ids = self._sorted_ids
        at = bisect_right(ids, f"{short}~") - 1
        return ids[at] if at >= 0 and ids[at].startswith(short) else None

    def with_names_of(self, other: "Book") -> "Book":
        """Return this book, with what was made of the names in another one if they are the same."""
        are_same = (self.written.keys(), self.aliases, self.pages) == (other.written.keys(), other.aliases, other.pages)
        if are_same and (names := other.__dict__.get("_names")) is not None:
            self.__dict__["_names"] = names
        return self

    def about(self, name: str) -> EntitySlug:
        """Return the entity that a name, slug or alias means, known or not."""
        slug = slug_of(name)
        return self.aliases.get(slug, slug)

    def slugs_of(self, entities: Collection[EntitySlug]) -> list[EntitySlug]:
        """Return entities and all slugs of their aliases."""
        return [*entities, *(alias for alias, entity in self.aliases.items() if entity in entities)]

    @cached_property
    def _names(self) -> EntityNames:
        titles = {name for page in self.pages.values() for name in (page.name, *page.aliases)}
        return EntityNames(
            (name, self.about(name)) for name in sorted(self.written.keys() | titles | self.pages.keys())
        )

    @cached_property
    def _sorted_ids(self) -> Sequence[MemoryId]:
        return sorted(self.memories)


_SHORTEST_ID = 4


def book_of(sources: Iterable[MemorySource], pages: Iterable[EntityPage] = ()) -> Book:
    """Make the book of all lines, and of the pages of entities. A line that occurs twice has two sources."""
    stated = grouped((source.line.id, source) for source in sources)
    pages = tuple(pages)
    aliases = alias_table((page.name, page.aliases) for page in pages)
    memories = {one: Memory(one, tuple(sorted(found, key=_source_order))) for one, found in stated.items()}
    scopes = ((memory.scope, memory.id) for memory in memories.values())
    return Book(
        memories=memories,
        by_chunk={source.chunk: memory.id for memory in memories.values() for source in memory.sources},
        by_entity=about_entities(memories.values(), aliases),
        aliases=aliases,
        pages={slug_of(page.name): page for page in pages},
        scoped={scope: frozenset(found) for scope, found in grouped(scopes).items() if scope},
        marked=frozenset(memory.id for memory in memories.values() if _is_marked(memory)),
        written=names_in(memories.values()),
    )


def _source_order(source: MemorySource) -> tuple[bool, bool, int, str, int]:
    return is_conflict_copy(source.path), source.is_over, -source.day.toordinal(), source.path, -source.start_line


def about_entities(
    memories: Iterable[Memory], aliases: Mapping[EntitySlug, EntitySlug]
) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    """Return which of some memories are about each entity, by whichever of its names."""
    by_slug = grouped((aliases.get(slug, slug), memory.id) for memory in memories for slug in memory.slugs)
    return {slug: frozenset(about) for slug, about in by_slug.items()}


def spelling(slug: EntitySlug, memories: Iterable[Memory], default: str) -> str:
    """Return the name of an entity as most of some memories write it, else `default`."""
    names = Counter(name for memory in memories for name in memory.line.entities if slug_of(name) == slug)
    return min(names, key=lambda name: (-names[name], name), default=default)


def names_in(memories: Iterable[Memory]) -> Counter[str]:
    """Count how many of some memories name an entity so."""
    return Counter(name for memory in memories for name in set(memory.line.entities))


def _is_marked(memory: Memory) -> bool:
    attributes = memory.line.attributes
    named = (attributes.supersedes, attributes.supports, attributes.contradicts, attributes.superseded)
    return attributes.is_pinned or any(named)


Key = TypeVar("Key", bound=str)


def changed_book(
    book: Book, gone: Collection[MemorySource], come: Collection[MemorySource], pages: Iterable[EntityPage]
) -> Book:
    """Return the book without the sources that are gone, with those that came, and with these pages.

    Its memories are in the order of their ids, whatever was read first.
    """
    removed = {(source.path, source.chunk) for source in gone}
    touched = {book.by_chunk[source.chunk] for source in gone} | {source.line.id for source in come}
    before = [book.memories[one] for one in touched if one in book.memories]
    unchanged = [one for memory in before for one in memory.sources if (one.path, one.chunk) not in removed]
    part = book_of([*unchanged, *come], pages)
    memories = {one: memory for one, memory in book.memories.items() if one not in touched} | dict(part.memories)
    chunks = {source.chunk for source in gone}
    by_chunk = {chunk: one for chunk, one in book.by_chunk.items() if chunk not in chunks} | dict(part.by_chunk)
    changed = Book(
        memories=dict(sorted(memories.items())),
        by_chunk=by_chunk,
        by_entity=_update_entities(book, before, part, memories.values()),
        aliases=part.aliases,
        pages=part.pages,
        scoped=_update_index(book.scoped, before, part.scoped, lambda memory: (memory.scope,)),
        marked=(book.marked - touched) | part.marked,
        written=_update_names(book.written, before, part.written),
    )
    return changed.with_names_of(book)


def changed_memories(book: Book, after: Book) -> frozenset[MemoryId]:
    """Return the memories that a later book has otherwise, or one of both lacks."""
    old, new = book.memories, after.memories
    return frozenset(one for one, memory in new.items() if old.get(one) is not memory) | (old.keys() - new.keys())


def _update_entities(
    book: Book, before: Iterable[Memory], part: Book, memories: Iterable[Memory]
) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    aliases = part.aliases
    if aliases != book.aliases:
        return about_entities(memories, aliases)
    return _update_index(
        book.by_entity, before, part.by_entity, lambda one: [aliases.get(slug, slug) for slug in one.slugs]
    )


def _update_index(
    index: Mapping[Key, frozenset[MemoryId]],
    before: Iterable[Memory],
    part: Mapping[Key, frozenset[MemoryId]],
    keys: Callable[[Memory], Iterable[Key]],
) -> Mapping[Key, frozenset[MemoryId]]:
    # once for each key: of a set one memory after the other would cost the square of them
    gone = grouped((key, memory.id) for memory in before for key in keys(memory))
    index_now = dict(index)
    for key in gone.keys() | part.keys():
        index_now[key] = index_now.get(key, frozenset()).difference(gone.get(key, ())) | part.get(key, frozenset())
    return {key: memories for key, memories in index_now.items() if memories}


def _update_names(names: Mapping[str, int], before: Iterable[Memory], part: Mapping[str, int]) -> Mapping[str, int]:
    counts = Counter(names)
    counts.subtract(names_in(before))
    counts.update(part)
    return +counts


class CitedState(StrEnum):
    """What became of cited lines."""

    VERIFIED = "verified"
    """They say what they said; without a mark, there are such lines."""
    MOVED = "moved"
    """The memory is on other lines."""
    EDITED = "edited"
    """These lines state another memory, or none, and no line states the cited one."""
    GONE = "gone"
    """There are no such lines."""


class CitationCheck(Struct, frozen=True):
    """What became of a citation; `now` cites the memory where it is, or what is on the lines."""

    state: CitedState
    now: Citation | None = None
    memory: Memory | None = None
    note: str = ""


MAYBE_GONE = "what was cited stands nowhere: it was edited, or taken out and something else moved up"
NO_MARK = "the citation has no mark, so that nothing says what stood there"


def verified(book: Book, citation: Citation, total_lines: int | None) -> CitationCheck:
    """Hold a citation against the memories of now; `total_lines` are those of its document, None if it is gone."""
    line = citation.start_line or 1
    on_lines = book.sources_on(citation.path, line, citation.end_line or citation.start_line or 2**31)
    # what the mark names comes before others
    first = min(on_lines, key=lambda one: (short_id(one[0].id) != citation.mark, one[1].start_line), default=None)
    memory, now = (first[0], cite(first[1])) if first else (None, None)
    marked = [one for one in book.memories.values() if short_id(one.id) == citation.mark]
    if memory is not None and memory in marked:
        return CitationCheck(CitedState.VERIFIED, now, memory)
    if marked:
        nearest = min(marked[0].sources, key=lambda one: (one.path != citation.path, abs(one.start_line - line)))
        return CitationCheck(CitedState.MOVED, cite(nearest), marked[0])
    if total_lines is None or line > total_lines:
        return CitationCheck(CitedState.GONE)
    state, note = (CitedState.EDITED, MAYBE_GONE) if citation.mark else (CitedState.VERIFIED, NO_MARK)
    return CitationCheck(state, now, memory, note)


def cite(source: MemorySource) -> Citation:
    """Return the citation of a line with its mark."""
    return Citation(source.path, source.start_line, source.end_line, short_id(source.line.id))
