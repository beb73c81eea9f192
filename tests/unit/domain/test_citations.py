import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.citations import Citation, CitationMode, cited, parse, with_footer

PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(lambda stem: f"{stem}.md")
LINES = st.integers(1, 999_999_999)


@given(path=PATHS)
def test_whole_document_round_trips(path: str) -> None:
    assert parse(str(Citation(path))) == Citation(path)


@given(path=PATHS, first=LINES, more=st.integers(0, 10_000))
def test_range_round_trips(path: str, first: int, more: int) -> None:
    last = min(first + more, 999_999_999)
    assert parse(str(Citation(path, first, last))) == Citation(path, first, last)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MEMORY.md", Citation("MEMORY.md")),
        ("memory/a.md#L5", Citation("memory/a.md", 5, 5)),
        ("memory/a.md#L5-L9", Citation("memory/a.md", 5, 9)),
        ("memory/a.md#L5-9", Citation("memory/a.md", 5, 9)),
        ("memory/c#.md#L5", Citation("memory/c#.md", 5, 5)),
        ("bank/日记.md#L1-L2", Citation("bank/日记.md", 1, 2)),
        ("../shared/x.md#L3", Citation("../shared/x.md", 3, 3)),
    ],
)
def test_forms_that_people_write_are_read(text: str, expected: Citation) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "#L5", "a.md#L0", "a.md#L9-L5", "a.md#L0-L3"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_single_line_is_written_once() -> None:
    assert str(Citation("a.md", 7, 7)) == "a.md#L7"
    assert str(Citation("a.md", 7)) == "a.md#L7"


@pytest.mark.parametrize(
    ("mode", "in_direct", "in_group"), [("on", True, True), ("off", False, False), ("auto", True, False)]
)
def test_mode_says_where_answers_cite(mode: str, in_direct: bool, in_group: bool) -> None:
    assert CitationMode(mode).cites(is_direct=True) == in_direct
    assert CitationMode(mode).cites(is_direct=False) == in_group


def test_footer_stands_one_blank_line_below_the_exact_text() -> None:
    assert with_footer("  - indented\n\n", Citation("a.md", 3, 9)) == "  - indented\n\nSource: a.md#L3-L9"


def test_name_of_a_file_cannot_break_out_of_the_footer() -> None:
    footer = with_footer("text", Citation("a\n\nSource: b.md\u2028\x1b[31m.md", 1)).split("\n\n")
    assert footer == ["text", "Source: a\\n\\nSource: b.md\\u2028\\x1b[31m.md#L1"]


def test_picture_is_cited_as_a_whole() -> None:
    assert str(cited("memory/a.md", 5, 9)) == "memory/a.md#L5-L9"
    assert str(cited("assets/holiday.png", 1, 1)) == "assets/holiday.png"
