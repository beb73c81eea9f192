"""The next book, made of the one before and of what changed: a saved line must not cost a look at all others."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from memoryd.domain.memories.book import Book, EntityPage, Memory, MemorySource, about_entities, book_of, names_in
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.identity import MemoryId

Key = TypeVar("Key", bound=str)


def changed_book(
    book: Book, gone: Collection[MemorySource], come: Collection[MemorySource], pages: Iterable[EntityPage]
) -> Book:
    """Return the book without the sources that are gone, with those that came, and with these pages.

    Its memories stand in the order of their ids, whatever was read first.
    """
    left = {(source.path, source.chunk) for source in gone}
    touched = {book.by_chunk[source.chunk] for source in gone} | {source.line.id for source in come}
    before = [book.memories[one] for one in touched if one in book.memories]
    stay = [one for memory in before for one in memory.sources if (one.path, one.chunk) not in left]
    part = book_of([*stay, *come], pages)
    memories = {one: memory for one, memory in book.memories.items() if one not in touched} | dict(part.memories)
    chunks = {source.chunk for source in gone}
    by_chunk = {chunk: one for chunk, one in book.by_chunk.items() if chunk not in chunks} | dict(part.by_chunk)
    found = Book(
        memories=dict(sorted(memories.items())),
        by_chunk=by_chunk,
        by_entity=_about(book, before, part, memories.values()),
        aliases=part.aliases,
        pages=part.pages,
        scoped=_followed(book.scoped, before, part.scoped, lambda memory: (memory.line.attributes.scope,)),
        marked=(book.marked - touched) | part.marked,
        written=_counted(book.written, before, part.written),
    )
    return found.with_names_of(book)


def changed_memories(book: Book, after: Book) -> frozenset[MemoryId]:
    """Return the memories that a later book has otherwise, or one of both lacks."""
    old, new = book.memories, after.memories
    return frozenset(one for one, memory in new.items() if old.get(one) is not memory) | (old.keys() - new.keys())


def _about(
    book: Book, before: Iterable[Memory], part: Book, memories: Iterable[Memory]
) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    aliases = part.aliases
    if aliases != book.aliases:
        return about_entities(memories, aliases)
    return _followed(
        book.by_entity, before, part.by_entity, lambda one: [aliases.get(slug, slug) for slug in one.slugs]
    )


def _followed(
    index: Mapping[Key, frozenset[MemoryId]],
    before: Iterable[Memory],
    part: Mapping[Key, frozenset[MemoryId]],
    keys: Callable[[Memory], Iterable[Key]],
) -> Mapping[Key, frozenset[MemoryId]]:
    # once for each key: of a set one memory after the other would cost the square of them
    gone: defaultdict[Key, set[MemoryId]] = defaultdict(set)
    for memory in before:
        for key in keys(memory):
            gone[key].add(memory.id)
    found = dict(index)
    for key in gone.keys() | part.keys():
        found[key] = (found.get(key, frozenset()) - gone[key]) | part.get(key, frozenset())
    return {key: memories for key, memories in found.items() if memories}


def _counted(names: Mapping[str, int], before: Iterable[Memory], part: Mapping[str, int]) -> Mapping[str, int]:
    found = Counter(names)
    found.subtract(names_in(before))
    found.update(part)
    return +found
