"""What a person names to be forgotten means one thing, or an error that says why not."""

from datetime import date

import pytest

from memoryd.domain.memories.book import Book, MemorySource, book_of
from memoryd.domain.memories.changes.forgetting import find_target, memories_with_words
from memoryd.domain.memories.line import RetainedLine, parse_line

LINES = {
    ("memory/2025-11-27.md", 5): "W @Peter: The alarm code is 4711",
    ("memory/2025-11-27.md", 6): "O @Peter: Prefers tea",
    ("memory/2025-11-28.md", 3): "W @Peter: The alarm code is 4711",
    ("memory/2025-11-28.md", 4): "W @王芳: 门锁密码是 8832",
}


def source(path: str, line: int, text: str) -> MemorySource:
    parsed = parse_line(text)
    assert isinstance(parsed, RetainedLine)
    day = date.fromisoformat(path[7:17])
    return MemorySource(path=path, start_line=line, end_line=line, line=parsed, day=day, event=None, chunk=line)


BOOK: Book = book_of(source(path, line, text) for (path, line), text in LINES.items())


def texts(name: str) -> list[str]:
    return [memory.line.text for memory in find_target(BOOK, name).memories]


def test_an_id_names_one_memory() -> None:
    (memory,) = memories_with_words(BOOK, "tea")

    assert texts(memory.id) == texts(memory.id[:8]) == ["Prefers tea"]


def test_a_citation_names_what_stands_there_with_all_its_sources() -> None:
    (memory,) = find_target(BOOK, "memory/2025-11-28.md#L3").memories

    assert len(memory.sources) == 2
    assert len(find_target(BOOK, "memory/2025-11-27.md#L5-L6").memories) == 2


def test_a_mark_names_its_memory_wherever_that_stands() -> None:
    (memory,) = memories_with_words(BOOK, "tea")

    assert texts(f"memory/2025-11-27.md#L5@{memory.id[:8]}") == ["Prefers tea"]
    with pytest.raises(ValueError, match="no memory"):
        find_target(BOOK, "memory/2025-11-27.md#L5@00000000")


def test_lines_without_a_memory_are_lines() -> None:
    found = find_target(BOOK, "memory/2025-11-27.md#L1-L2")

    assert (found.memories, str(found.lines)) == ((), "memory/2025-11-27.md#L1-L2")


def test_words_name_what_says_all_of_them() -> None:
    assert texts("ALARM code") == ["The alarm code is 4711"]
    assert texts("peter tea") == ["Prefers tea"]
    assert texts("门锁密码") == ["门锁密码是 8832"]


@pytest.mark.parametrize("name", ["", "   ", "zeppelin", "ffffffff", "memory/2025-11-27.md", "session:main#Q3", "larm"])
def test_what_means_nothing_is_told(name: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        find_target(BOOK, name)


SHELF = [
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
SHELVED = book_of(source("memory/2025-11-27.md", at, text) for at, text in enumerate(SHELF, 1))


@pytest.mark.parametrize("line", SHELF[:8])
def test_an_exact_statement_means_itself_alone(line: str) -> None:
    said = line.partition(": ")[2]

    for name in (said, said.upper(), said.rstrip("."), line, f"- {line}"):
        assert [one.line.text for one in find_target(SHELVED, name).memories] == [said]


def test_a_bullet_means_the_one_of_its_entity() -> None:
    assert [one.line.entities for one in find_target(SHELVED, "W @Bo: The key is 12").memories] == [("Bo",)]
    assert len(find_target(SHELVED, "the key is 12").memories) == 2


def test_words_that_stand_in_a_row_mean_what_says_them_so() -> None:
    found = find_target(SHELVED, "tea better than coffee").memories

    assert [one.line.text for one in found] == ["Peter likes tea better than coffee in the afternoon."]
    assert len(find_target(SHELVED, "planted a fig").memories) == 2
    assert [one.line.text for one in find_target(SHELVED, "5 mg").memories] == [SHELF[1].partition(": ")[2]]
    assert [one.line.text for one in find_target(SHELVED, "5毫克").memories] == ["药是5毫克"]


def test_scattered_words_of_several_memories_mean_none_of_them() -> None:
    with pytest.raises(ValueError, match="name one by its id"):
        find_target(SHELVED, "coffee Peter afternoon")
    assert [one.line.text for one in find_target(SHELVED, "wall Ada").memories] == [
        "Ada planted a fig tree by the wall"
    ]


def test_what_reads_as_an_id_may_be_a_word() -> None:
    assert texts("4711") == ["The alarm code is 4711"]
    (tea,) = memories_with_words(BOOK, "tea")
    said = source("memory/2025-11-29.md", 1, f"W: the badge is {tea.id[:4]}")
    book = book_of([*(one for memory in BOOK.memories.values() for one in memory.sources), said])

    with pytest.raises(ValueError, match=r"is the beginning of the id .* and a word of"):
        find_target(book, tea.id[:4])
    assert find_target(book, tea.id[:8]).memories[0].id == find_target(book, tea.id).memories[0].id == tea.id
    assert find_target(book, f"badge is {tea.id[:4]}").memories[0].line.text.startswith("the badge")
