"""A window of lines of a stream does not depend on how the stream is cut into pieces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memoryd.files.excerpts import Page, Window


def read(text: str, *, first: int = 1, count: int = 120, column: int = 1, limit: int = 12_000, cuts: str = "") -> Page:
    window = Window(first=first, count=count, column=column, max_chars=limit)
    size = len(cuts) + 1
    for at in range(0, len(text), size):
        window.feed(text[at : at + size])
    return window.lines()


def lines_of(text: str) -> list[str]:
    found = [f"{line}\n" for line in text.split("\n")]
    return [*found[:-1], found[-1][:-1]] if found[-1] != "\n" else found[:-1]


TEXTS = st.text(st.sampled_from("ab\n日"), max_size=60)
NUMBERS = st.integers(1, 12)


@given(TEXTS, NUMBERS, NUMBERS, st.text("x", max_size=5))
def test_window_has_exactly_the_requested_lines(text: str, first: int, count: int, cuts: str) -> None:
    found, lines = read(text, first=first, count=count, cuts=cuts), lines_of(text)
    asked = lines[first - 1 : first - 1 + count]
    assert (found.text, found.count, found.total) == ("".join(asked), len(asked), len(lines))
    assert found.next_first == (first + count if asked and first - 1 + count < len(lines) else None)
    assert found.next_column is None


@given(TEXTS, st.integers(1, 9), NUMBERS, st.text("x", max_size=5))
def test_following_the_cursor_reads_the_whole_text_in_bounded_replies(
    text: str, limit: int, count: int, cuts: str
) -> None:
    pieces, first, column = [], 1, 1
    while True:
        found = read(text, first=first, count=count, column=column, limit=limit, cuts=cuts)
        assert len(found.text) <= limit
        pieces.append(found.text)
        if found.next_column is not None:
            first, column = first + found.count - 1, found.next_column
        elif found.next_first is not None:
            first, column = found.next_first, 1
        else:
            break
        assert found.text
    assert "".join(pieces) == text


@given(TEXTS, st.integers(1, 9), st.text("x", max_size=5))
def test_whole_lines_are_kept_where_one_fits(text: str, limit: int, cuts: str) -> None:
    found = read(text, limit=limit, cuts=cuts)
    if found.next_first is not None and found.next_column is None:
        assert found.text.endswith("\n")
    if found.next_column is not None:
        assert (len(found.text), found.count) == (limit, 1)


def test_client_without_columns_continues_after_the_long_line() -> None:
    found = read("x" * 30 + "\nnext\n", limit=10)
    assert (found.text, found.count, found.next_first, found.next_column) == ("x" * 10, 1, 2, 11)


def test_page_beyond_the_end_is_empty() -> None:
    assert read("a\nb\n", first=9) == Page("", 0, 2, None, None)
    assert read("") == Page("", 0, 0, None, None)


def test_size_of_pieces_does_not_matter() -> None:
    text = "one\ntwo\n" + "z" * 50 + "\nend"
    found = [read(text, first=2, limit=20, cuts="x" * size) for size in range(40)]
    assert all(page == following for page, following in pairwise(found))
