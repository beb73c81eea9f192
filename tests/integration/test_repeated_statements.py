"""A repeated statement is one more source of its memory on another day, and nothing on the same day."""

from datetime import date

from memoryd.memory.capture.capturing import find_unstated, lines_to_write
from tests.unit.domain.memories.books import book_from, line_of

BOOK = book_from({"memory/2026-11-18-walk.md": ["W(i=0.9) @Ann: I live in **Graz**."]})
AGAIN = line_of("W(from=user): I live in Graz")


def test_repetition_on_the_same_day_is_not_written() -> None:
    assert lines_to_write(BOOK, [AGAIN], date(2026, 11, 18)) == []


def test_repetition_on_another_day_copies_the_existing_line() -> None:
    (line,) = lines_to_write(BOOK, [AGAIN, AGAIN], date(2026, 11, 19))
    assert (line.text, line.entities, line.attributes.importance) == ("I live in **Graz**.", ("Ann",), 0.9)
    assert line.attributes.provenance == "user"


def test_repetition_is_recognised_in_any_case() -> None:
    texts = ["i LIVE in Graz!", "I live in Linz."]
    assert find_unstated(BOOK, texts) == {"I live in Linz."}
