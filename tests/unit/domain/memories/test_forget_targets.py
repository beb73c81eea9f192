"""Targets of forgetting: id, citation or words refer to one memory, or to an error with the reason."""

import pytest

from memoryd.domain.memories.book import Book, book_of
from memoryd.domain.memories.changes.forgetting import find_target, memories_with_words
from tests.unit.domain.memories.books import source_of

LINES = {
    ("memory/2025-11-27.md", 5): "W @Peter: The alarm code is 4711",
    ("memory/2025-11-27.md", 6): "O @Peter: Prefers tea",
    ("memory/2025-11-28.md", 3): "W @Peter: The alarm code is 4711",
    ("memory/2025-11-28.md", 4): "W @王芳: 门锁密码是 8832",
}


BOOK: Book = book_of(source_of(path, line, text) for (path, line), text in LINES.items())


def texts_of(name: str) -> list[str]:
    return [memory.line.text for memory in find_target(BOOK, name).memories]


def test_id_refers_to_one_memory() -> None:
    (memory,) = memories_with_words(BOOK, "tea")

    assert texts_of(memory.id) == texts_of(memory.id[:8]) == ["Prefers tea"]


def test_citation_refers_to_memory_with_all_its_sources() -> None:
    (memory,) = find_target(BOOK, "memory/2025-11-28.md#L3").memories

    assert len(memory.sources) == 2
    assert len(find_target(BOOK, "memory/2025-11-27.md#L5-L6").memories) == 2


def test_citation_with_id_refers_to_memory_at_any_line() -> None:
    (memory,) = memories_with_words(BOOK, "tea")

    assert texts_of(f"memory/2025-11-27.md#L5@{memory.id[:8]}") == ["Prefers tea"]
    with pytest.raises(ValueError, match="no memory"):
        find_target(BOOK, "memory/2025-11-27.md#L5@00000000")


def test_citation_without_memory_refers_to_lines() -> None:
    found = find_target(BOOK, "memory/2025-11-27.md#L1-L2")

    assert (found.memories, str(found.lines)) == ((), "memory/2025-11-27.md#L1-L2")


def test_words_refer_to_memory_with_all_of_them() -> None:
    assert texts_of("ALARM code") == ["The alarm code is 4711"]
    assert texts_of("peter tea") == ["Prefers tea"]
    assert texts_of("门锁密码") == ["门锁密码是 8832"]


@pytest.mark.parametrize("name", ["", "   ", "zeppelin", "ffffffff", "memory/2025-11-27.md", "session:main#Q3", "larm"])
def test_unknown_target_is_reported(name: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        find_target(BOOK, name)


SIMILAR_LINES = [
    "W @Mochi: Mochi gets 2.5 mg of the thyroid tablet at breakfast.",
    "W @Mochi: Mochi gets 5 mg of the thyroid tablet at breakfast.",
    "O @Peter: Peter likes coffee better than tea in the afternoon.",
    "O @Peter: Peter likes tea better than coffee in the afternoon.",
    "W: 药是2.5毫克",
    "W: 药是5毫克",
    "B @Ada: Ada planted a fig",
    "B @Ada: Ada planted a fig tree by the wall",
    "W @Ada: The key is 12",
    "W @Bo: The key is 12",
]
SIMILAR_BOOK = book_of(source_of("memory/2025-11-27.md", at, text) for at, text in enumerate(SIMILAR_LINES, 1))


@pytest.mark.parametrize("line", SIMILAR_LINES[:8])
def test_exact_statement_refers_to_itself_only(line: str) -> None:
    statement = line.partition(": ")[2]

    for name in (statement, statement.upper(), statement.rstrip("."), line, f"- {line}"):
        assert [one.line.text for one in find_target(SIMILAR_BOOK, name).memories] == [statement]


def test_bullet_refers_to_memory_of_its_entity() -> None:
    assert [one.line.entities for one in find_target(SIMILAR_BOOK, "W @Bo: The key is 12").memories] == [("Bo",)]
    assert len(find_target(SIMILAR_BOOK, "the key is 12").memories) == 2


def test_consecutive_words_refer_to_memory_with_that_phrase() -> None:
    found = find_target(SIMILAR_BOOK, "tea better than coffee").memories

    assert [one.line.text for one in found] == ["Peter likes tea better than coffee in the afternoon."]
    assert len(find_target(SIMILAR_BOOK, "planted a fig").memories) == 2
    assert [one.line.text for one in find_target(SIMILAR_BOOK, "5 mg").memories] == [
        SIMILAR_LINES[1].partition(": ")[2]
    ]
    assert [one.line.text for one in find_target(SIMILAR_BOOK, "5毫克").memories] == ["药是5毫克"]


def test_scattered_words_of_several_memories_are_ambiguous() -> None:
    with pytest.raises(ValueError, match="name one by its id"):
        find_target(SIMILAR_BOOK, "coffee Peter afternoon")
    assert [one.line.text for one in find_target(SIMILAR_BOOK, "wall Ada").memories] == [
        "Ada planted a fig tree by the wall"
    ]


def test_target_may_be_both_id_and_word() -> None:
    assert texts_of("4711") == ["The alarm code is 4711"]
    (tea,) = memories_with_words(BOOK, "tea")
    statement = source_of("memory/2025-11-29.md", 1, f"W: the badge is {tea.id[:4]}")
    book = book_of([*(one for memory in BOOK.memories.values() for one in memory.sources), statement])

    with pytest.raises(ValueError, match=r"is the beginning of the id .* and a word of"):
        find_target(book, tea.id[:4])
    assert find_target(book, tea.id[:8]).memories[0].id == find_target(book, tea.id).memories[0].id == tea.id
    assert find_target(book, f"badge is {tea.id[:4]}").memories[0].line.text.startswith("the badge")
