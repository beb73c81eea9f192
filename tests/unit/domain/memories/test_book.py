"""The book of memories: sources, ids and prefixes of ids, entities in questions, and superseded memories."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of
from memoryd.domain.memories.kinds import Kind, short_id
from memoryd.domain.memories.line import RetainedLine

DAY = date(2025, 11, 1)


def source(text: str, days: int = 0, *entities: str, chunk: int = 0, line: int = 1) -> MemorySource:
    day = DAY + timedelta(days=days)
    stated = RetainedLine(Kind.WORLD, text, entities)
    return MemorySource(f"memory/{day}.md", line, line, stated, day, None, chunk)


def book_of_names(*names: str, pages: tuple[EntityPage, ...] = ()) -> Book:
    return book_of((source(f"is known {at}", 0, name, chunk=at) for at, name in enumerate(names)), pages)


def test_equal_lines_are_sources_of_one_memory() -> None:
    book = book_of([source("likes  tea", 0, "Anna", chunk=1), source("likes tea", 5, "anna", chunk=2)])
    (memory,) = book.memories.values()
    assert [one.chunk for one in memory.sources] == [2, 1]
    assert (memory.recorded, memory.first_recorded) == (DAY + timedelta(days=5), DAY)
    assert set(book.by_chunk) == {1, 2}
    assert set(book.by_chunk.values()) == {memory.id}
    assert book.by_entity == {"anna": frozenset({memory.id})}


def test_memory_is_found_by_id_or_prefix() -> None:
    book = book_of(source(f"fact {at}", chunk=at) for at in range(300))
    for memory in book.memories.values():
        assert book.find(memory.id) is book.find(f" {memory.id.upper()} ") is book.find(short_id(memory.id)) is memory
    with pytest.raises(ValueError, match="there is no memory"):
        book.find("zzzzzzzz")
    with pytest.raises(ValueError, match="there is no memory"):
        book.find("")


def test_ambiguous_prefix_is_reported() -> None:
    book = book_of(source(f"fact {at}", chunk=at) for at in range(3000))
    prefixes = [one[:4] for one in book.memories]
    twice = next(one for one in prefixes if prefixes.count(one) > 1)
    with pytest.raises(ValueError, match=f"'{twice}' is the beginning of 2 ids"):
        book.find(twice)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what does Peter prefer?", ("peter",)),
        ("what does PETER's wife think of anna-lena", ("peter", "anna-lena")),
        ("Anna Lena, or Peter", ("anna-lena", "peter")),
        ("tell me about the castle", ("the-castle",)),
        ("Peterson and Petersburg", ()),
        ("王芳喜欢喝什么茶", ("王芳",)),
        ("王芳华是谁", ("王芳华",)),
        ("李明和王芳", ("李明", "王芳")),
        ("where did I go", ()),
        ("what about @I or @C++", ("i", "c++")),
        ("C of the sea", ()),
        ("@[Two Words] and @peter.", ("two-words", "peter")),
        ("may I come, will he?", ()),
        ("Will he come", ()),
        ("where does Will live", ("will",)),
        ("the castles", ()),
        ("", ()),
    ],
)
def test_entities_are_found_in_question(question: str, expected: tuple[str, ...]) -> None:
    names = ("Peter", "Anna-Lena", "The Castle", "王芳", "王芳华", "李明", "I", "C++", "Two Words", "May", "Will")
    assert book_of_names(*names).entities_in(question) == expected


def test_alias_refers_to_its_entity() -> None:
    page = EntityPage("bank/entities/peter.md", "Peter", ("Pete", "老彼"))
    book = book_of([source("runs", 0, "Pete", chunk=1), source("swims", 0, "Peter", chunk=2)], [page])
    assert len(book.by_entity) == 1
    assert len(book.by_entity[book.entity_named("PETE")]) == 2
    assert book.entities_in("how is Pete?") == book.entities_in("老彼好吗") == ("peter",)


def test_ambiguous_alias_refers_to_no_entity() -> None:
    pages = (
        EntityPage("bank/entities/peter.md", "Peter", ("P", "Anna", "The Boss")),
        EntityPage("bank/entities/anna.md", "Anna", ("P", "Ann")),
    )
    book = book_of_names("Peter", "Anna", pages=pages)
    assert book.aliases == {"the-boss": "peter", "ann": "anna"}
    assert book.entities_in("ask Anna") == ("anna",)


def test_repeated_value_supersedes_the_one_between() -> None:
    book = book_of([source("The code is 1", 0), source("The code is 2", 4), source("The code is 1", 8)])
    first, second = (source(f"The code is {at}").line.id for at in (1, 2))
    assert book.superseded == {first: (second,)}
    earlier = book_of([source("The code is 1", 0), source("The code is 2", 4)])
    assert earlier.superseded == {second: (first,)}
    assert set(book_of([source("The code is 1", 0)]).memories) == {first}


@given(st.text(max_size=30), st.lists(st.text("ab@[]-王芳 .İß", min_size=1, max_size=6).filter(str.strip), max_size=5))
def test_any_question_and_name_are_handled(question: str, names: list[str]) -> None:
    valid = [name for name in names if not set("[]") & set(name)]
    book = book_of_names(*valid)
    assert set(book.entities_in(question)) <= set(book.by_entity)
    for name in valid:
        assert book.entities_in(f"about @[{name}]?") != ()
