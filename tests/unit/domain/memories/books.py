"""Books made from lines of notes."""

from collections.abc import Iterable, Mapping
from datetime import date

from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of
from memoryd.domain.memories.line import RetainedLine, parse_line


def line_of(text: str) -> RetainedLine:
    found = parse_line(text)
    assert isinstance(found, RetainedLine), text
    return found


def source_of(path: str, at: int, text: str) -> MemorySource:
    return MemorySource(path, at, at, line_of(text), day_of(path), None, hash((path, at)))


def book_from(notes: Mapping[str, Iterable[str]], pages: Iterable[EntityPage] = ()) -> Book:
    """Return the book of notes by path, with lines numbered from 3; the day is that in the name."""
    sources = [source_of(path, at, text) for path, lines in notes.items() for at, text in enumerate(lines, 3)]
    return book_of(sources, pages)


def day_of(path: str) -> date:
    name = path.rpartition("/")[2][:10]
    return date.fromisoformat(name) if name[:1].isdigit() else date(2025, 1, 1)
