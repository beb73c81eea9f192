"""The word index of lines that a sentence may revise."""

from collections.abc import Iterable, Mapping
from datetime import date

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture import lines
from memoryd.domain.memories.capture.lines import LOCK, NEAR_MAX, ValidLines, drop_lines
from memoryd.domain.memories.kinds import short_id
from tests.unit.domain.memories.books import book_from

NOTES = "memory/2026-11-01.md"
DAY = date(2026, 11, 23)
LINES = [
    "W: The kiln is by the shed.",
    "W: The glaze comes from Potclays.",
    "W: The apprentice is Ida.",
    "W(scope=agent:other): The wheel is a Shimpo.",
    "B: We fired the kiln for the first time.",
]


def book_of(memories: Iterable[str]) -> Book:
    return book_from({NOTES: memories})


def with_words(book: Book, *words: str, scope: str = "", day: date | None = DAY) -> list[str]:
    with LOCK:
        return [one.text for one in ValidLines(book, scope, day).having(words)]


def test_lines_are_found_by_all_words() -> None:
    book = book_of(LINES)

    assert with_words(book, "kiln") == ["The kiln is by the shed."]
    assert with_words(book, "kiln", "glaz") == []
    assert with_words(book) == []


def test_line_of_other_scope_or_later_day_is_ignored() -> None:
    book = book_of(LINES)

    assert with_words(book, "wheel") == []
    assert with_words(book, "wheel", scope="agent:other") == ["The wheel is a Shimpo."]
    assert with_words(book, "kiln", day=date(2026, 10, 1)) == []


def test_index_follows_changes_of_the_book() -> None:
    drop_lines()
    assert with_words(book_of(LINES), "glaz") == ["The glaze comes from Potclays."]
    changed = book_of([*LINES[:1], "W: The glaze comes from Scarva.", *LINES[2:]])

    assert with_words(changed, "glaz") == ["The glaze comes from Scarva."]
    assert with_words(changed, "potclay") == []
    assert len(lines._indexes) == 1


def test_words_are_counted_once_per_book_scope_and_day() -> None:
    def counts(book: Book, scope: str = "", day: date | None = DAY) -> Mapping[str, int]:
        with LOCK:
            return ValidLines(book, scope, day).rarity.counts

    drop_lines()
    book = book_of(LINES)
    known = counts(book)
    assert (known["kiln"], known.get("wheel")) == (1, 1)
    assert counts(book) is known

    older = short_id(next(memory.id for memory in book.memories.values() if "kiln" in memory.text))
    changed = book_of([*LINES, f"W(supersedes={older}): The kiln and its glaze are in the barn."])
    assert (counts(changed)["kiln"], counts(changed)["glaz"]) == (1, 2)
    assert counts(changed, day=date(2026, 10, 1))["kiln"] == 2
    assert (counts(book)["kiln"], counts(book)["glaz"]) == (1, 1)
    assert len(lines._indexes[0].counts) == 1


def test_each_workspace_has_its_own_index() -> None:
    drop_lines()
    one, other = book_of(LINES), book_of(["W: The choir sings on Mondays.", "W: The organ is out of tune."])

    assert with_words(one, "kiln") == ["The kiln is by the shed."]
    assert with_words(other, "choir") == ["The choir sings on Mondays."]
    assert len(lines._indexes) == 2
    assert with_words(one, "choir") == with_words(other, "kiln") == []


def test_dropping_lines_clears_indexes_and_cache() -> None:
    with_words(book_of(LINES), "kiln")

    drop_lines()

    assert lines._indexes == []
    assert lines.memory_words.cache_info().currsize == 0


def test_lines_with_most_common_words_are_candidates() -> None:
    many = [f"W: The kiln number {number} is by the shed." for number in range(100)]
    book = book_of([*many, "W: The old kiln of Ida is by the river."])
    with LOCK:
        valid = ValidLines(book, "", DAY)
        near, left_out = valid.near({"kiln", "riv"})
        weight = valid.weight(near[0], {"kiln", "riv"})

    assert len(near) == NEAR_MAX
    assert near[0].text == "The old kiln of Ida is by the river."
    assert 0 < left_out < weight


def test_line_is_near_by_part_of_a_word() -> None:
    with LOCK:
        near, left_out = ValidLines(book_of(["W: Die Müllabfuhr kommt am Montag.", *LINES]), "", DAY).near({"müll"})

    assert [one.text for one in near] == ["Die Müllabfuhr kommt am Montag."]
    assert left_out == 0
