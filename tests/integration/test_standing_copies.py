"""What is said again: one more source of the same memory on another day, and nothing on the same one."""

from datetime import date

from memoryd.memory.capture.capturing import find_unstated, lines_to_write
from tests.unit.domain.memories.books import book_from, line_of

BOOK = book_from({"memory/2026-11-18-walk.md": ["W(i=0.9) @Ann: I live in **Graz**."]})
AGAIN = line_of("W(from=user): I live in Graz")


def test_copy_is_nothing_new_on_its_day_wherever_it_stands() -> None:
    assert lines_to_write(BOOK, [AGAIN], date(2026, 11, 18)) == []


def test_copy_of_another_day_is_written_in_the_words_that_stand() -> None:
    (line,) = lines_to_write(BOOK, [AGAIN, AGAIN], date(2026, 11, 19))
    assert (line.text, line.entities, line.attributes.importance) == ("I live in **Graz**.", ("Ann",), 0.9)
    assert line.attributes.provenance == "user"


def test_copy_stands_in_whatever_case_and_another_statement_does_not() -> None:
    texts = ["i LIVE in Graz!", "I live in Linz."]
    assert find_unstated(BOOK, texts) == {"I live in Linz."}
