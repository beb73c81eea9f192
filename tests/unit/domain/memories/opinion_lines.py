"""Books for tests of opinions, made from lines by day."""

from collections.abc import Iterable
from datetime import date

from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of
from memoryd.domain.memories.line import RetainedLine, parse_line

SEEN = date(2026, 2, 1)
"""Day on which lines without a date were first seen."""


def line_of(text: str) -> RetainedLine:
    line = parse_line(text)
    assert isinstance(line, RetainedLine), text
    return line


def day(text: str) -> date:
    return date.fromisoformat(f"2026-{text}")


def source(where: str, text: str, number: int, *, seen: date = SEEN) -> MemorySource:
    """Return a line of the log of a day, `01-05`, or of a page without one, `bank/opinions.md`."""
    is_page = where.endswith(".md")
    path = where if is_page else f"memory/2026-{where}.md"
    return MemorySource(path, number, number, line_of(text), seen if is_page else day(where), None, number)


def book(*lines: tuple[str, str], pages: Iterable[EntityPage] = (), seen: date = SEEN) -> Book:
    return book_of((source(where, text, number, seen=seen) for number, (where, text) in enumerate(lines, 1)), pages)
