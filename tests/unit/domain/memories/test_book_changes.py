from collections.abc import Sequence
from datetime import date
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories import versions
from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of, changed_book
from tests.unit.domain.memories.books import line_of

LINES = [
    *("- W @Peter: lives in Graz", "- W @Peter @Anna: moved", "- O(c=0.8) @Anna: prefers tea", "- B: swam"),
    *("- W @Pete: rows", "- W(scope=agent:main) @anna: sails", "- B(supports=12345678, pin) @Anna: had tea"),
]
PAGES = [EntityPage("bank/entities/peter.md", "Peter", ("Pete",)), EntityPage("bank/entities/anna.md", "Anna")]
FILES = st.lists(st.lists(st.sampled_from(LINES), max_size=4), max_size=4)


def sources(files: Sequence[Sequence[str]], first_chunk: int = 0) -> dict[str, tuple[MemorySource, ...]]:
    made = {}
    for number, lines in enumerate(files):
        path = f"memory/2025-11-{number + 1:02}.md"
        made[path] = tuple(
            MemorySource(path, at, at, line_of(text), date(2025, 11, number + 1), None, first_chunk + 100 * number + at)
            for at, text in enumerate(lines, 1)
        )
    return made


def all_of(files: dict[str, tuple[MemorySource, ...]]) -> list[MemorySource]:
    return [source for one in files.values() for source in one]


@given(FILES, FILES, st.lists(st.sampled_from(PAGES), unique=True), st.booleans())
def test_changed_book_equals_book_of_all_lines(
    before: list[list[str]], after: list[list[str]], pages: list[EntityPage], keeps_chunks: bool
) -> None:
    old, new = sources(before), sources(after, 0 if keeps_chunks else 1000)
    changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
    book = changed_book(Book(), [], all_of(old), [])
    removed = all_of({path: lines for path, lines in old.items() if path in changed})
    added = all_of({path: lines for path, lines in new.items() if path in changed})
    assert changed_book(book, removed, added, pages) == book_of(all_of(new), pages)


@given(FILES)
def test_memories_are_ordered_by_id(files: list[list[str]]) -> None:
    book = changed_book(Book(), [], all_of(sources(files)), [])
    assert list(book.memories) == sorted(book.memories)


@given(FILES, FILES, st.booleans())
def test_relations_follow_the_changes(before: list[list[str]], after: list[list[str]], is_asked_before: bool) -> None:
    old, new = all_of(sources(before)), all_of(sources(after, 1000))
    book = changed_book(Book(), [], old, [])
    if is_asked_before:
        assert book.superseded is not None
    changed = changed_book(changed_book(book, old, [], []), [], new, [])
    assert changed.versions.older == book_of(new).versions.older
    assert changed.versions.disagreements == book_of(new).versions.disagreements


def test_relations_of_unchanged_memories_are_not_computed_again() -> None:
    file = all_of(sources([LINES]))
    book = changed_book(Book(), [], file[:-1], [])
    assert book.superseded is not None
    changed = changed_book(book, [], file[-1:], [])
    with mock.patch.object(versions, "_parts", wraps=versions._parts) as parts:
        assert changed.superseded is not None
    parts.assert_called_once_with(changed.memories[file[-1].line.id])
