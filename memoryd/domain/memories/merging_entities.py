"""Which entity another name belongs to: what may be merged and split, by names and pages, never by similarity."""

from collections import Counter
from dataclasses import dataclass

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.entities import EntitySlug, entity_page, slug_of
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.retained import MAX_NAME, RetainedLine


@dataclass(frozen=True, slots=True)
class AliasPlace:
    """A name that is, or is to be, an alias of an entity, whose page is at `path`."""

    alias: str
    entity: str
    path: RelativePath
    is_there: bool = False
    """Whether it is one already."""


def merging(book: Book, name: str, into: str) -> AliasPlace:
    """Return where `name` becomes an alias of `into`; raise ValueError, which says what is in the way."""
    alias, entity = _checked(name), _checked(into)
    slug, target = slug_of(alias), slug_of(entity)
    if slug == target:
        raise ValueError(f"{alias!r} and {entity!r} are one name already")
    claimed = _claims(book, slug)
    if target in claimed and len(claimed) == 1:
        return AliasPlace(alias, _name(book, target, entity), _path(book, target), is_there=True)
    if claimed:
        raise ValueError(f"{alias!r} is an alias of {_listed(book, claimed)} already: split it first")
    if above := _claims(book, target):
        raise ValueError(f"{entity!r} is itself an alias of {_listed(book, above)}: merge into that")
    if below := [one for page in _pages(book, slug) for one in page]:
        raise ValueError(f"{alias!r} has aliases of its own ({', '.join(below)}): split them first")
    if target not in book.pages and target not in book.by_entity:
        raise ValueError(f"no memory and no page names {entity!r}")
    return AliasPlace(alias, _name(book, target, entity), _path(book, target))


def splitting(book: Book, name: str) -> AliasPlace:
    """Return of which entity a name is an alias; raise ValueError if of none, or of several."""
    alias = _checked(name)
    claimed = _claims(book, slug_of(alias))
    if not claimed:
        raise ValueError(f"{alias!r} is no alias of an entity")
    if len(claimed) > 1:
        raise ValueError(f"{alias!r} is an alias of {_listed(book, claimed)}: take it out of one page by hand")
    return AliasPlace(alias, _name(book, claimed[0], alias), _path(book, claimed[0]), is_there=True)


def _checked(name: str) -> str:
    plain = " ".join(name.removeprefix("@").split())
    try:
        RetainedLine(Kind.NOTE, "named", (plain,))
    except ValueError as exc:
        raise ValueError(f"{name[:MAX_NAME]!r} is no name: {exc}") from exc
    if not plain.isprintable():
        raise ValueError(f"{name[:MAX_NAME]!r} is no name: it holds signs that nobody sees")
    return plain


def _claims(book: Book, slug: EntitySlug) -> list[EntitySlug]:
    """Return the entities whose pages give a name as an alias, in order."""
    return sorted(
        of for of, page in book.pages.items() if of != slug and slug in {slug_of(one) for one in page.aliases}
    )


def _pages(book: Book, slug: EntitySlug) -> list[tuple[str, ...]]:
    page = book.pages.get(slug)
    return [page.aliases] if page else []


def _name(book: Book, slug: EntitySlug, written: str) -> str:
    """Return the name of the page of an entity; where there is none, as most lines write it."""
    if page := book.pages.get(slug):
        return page.name
    memories = (book.memories[one] for one in book.by_entity.get(slug, ()))
    names = Counter(name for one in memories for name in one.line.entities if slug_of(name) == slug)
    return min(names, key=lambda name: (-names[name], name), default=written)


def _path(book: Book, slug: EntitySlug) -> RelativePath:
    page = book.pages.get(slug)
    return RelativePath(page.path if page else entity_page(slug))


def _listed(book: Book, slugs: list[EntitySlug]) -> str:
    return " and ".join(repr(book.pages[slug].name) for slug in slugs)
