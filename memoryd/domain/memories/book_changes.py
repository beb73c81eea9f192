"""The next book, made of the one before and of what changed: a saved line must not cost a look at all others."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from memoryd.domain.memories.book import Book, EntityPage, Memory, MemorySource, book_of
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.identity import MemoryId


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
    return Book(
        memories=dict(sorted(memories.items())),
        by_chunk=by_chunk,
        by_entity=_by_entity(book, before, part),
        aliases=part.aliases,
        pages=part.pages,
    )


def _by_entity(book: Book, before: Iterable[Memory], part: Book) -> Mapping[EntitySlug, frozenset[MemoryId]]:
    # once for each entity: of a set one memory after the other would cost the square of them
    gone: defaultdict[EntitySlug, set[MemoryId]] = defaultdict(set)
    for memory in before:
        for slug in memory.slugs:
            gone[slug].add(memory.id)
    found = dict(book.by_entity)
    for slug in gone.keys() | part.by_entity.keys():
        found[slug] = (found.get(slug, frozenset()) - gone[slug]) | part.by_entity.get(slug, frozenset())
    return {slug: memories for slug, memories in found.items() if memories}
