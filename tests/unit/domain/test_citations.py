import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import Citation, CitationMode, citation_text, parse, with_footer

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
        ("session:telegram-bob-20261018#Q17", Citation("session:telegram-bob-20261018", 33, 34)),
        ("session:main-20261018#Q15-Q17", Citation("session:main-20261018", 29, 34)),
        ("session:main-20261018#Q15-17", Citation("session:main-20261018", 29, 34)),
        ("session:会议-20261018#Q1", Citation("session:会议-20261018", 1, 2)),
        ("session:main-20261018#L33", Citation("session:main-20261018", 33, 33)),
        ("session:main-20261018", Citation("session:main-20261018")),
        ("sessions/main/0d9f.jsonl#L120-L124", Citation("sessions/main/0d9f.jsonl", 120, 124)),
        ("sessions/main/a#b.jsonl#L7", Citation("sessions/main/a#b.jsonl", 7, 7)),
        ("memory/faq#Q3", Citation("memory/faq#Q3")),
        ("session:x.md#Q3", Citation("session:x.md#Q3")),
    ],
)
def test_citation_parses(text: str, expected: Citation) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "#L5", "a.md#L0", "a.md#L9-L5", "a.md#L0-L3"])
def test_invalid_citation_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_single_line_is_written_once() -> None:
    assert str(Citation("a.md", 7, 7)) == "a.md#L7"
    assert str(Citation("a.md", 7)) == "a.md#L7"


@pytest.mark.parametrize(
    ("mode", "in_direct", "in_group"), [("on", True, True), ("off", False, False), ("auto", True, False)]
)
def test_mode_decides_which_answers_cite(mode: str, in_direct: bool, in_group: bool) -> None:
    assert CitationMode(mode).cites(is_direct=True) == in_direct
    assert CitationMode(mode).cites(is_direct=False) == in_group


def test_footer_follows_a_blank_line_below_the_exact_text() -> None:
    assert with_footer("  - indented\n\n", Citation("a.md", 3, 9)) == "  - indented\n\nSource: a.md#L3-L9"


def test_file_name_cannot_break_out_of_footer() -> None:
    footer = with_footer("text", Citation("a\n\nSource: b.md\u2028\x1b[31m.md", 1)).split("\n\n")
    assert footer == ["text", "Source: a\\n\\nSource: b.md\\u2028\\x1b[31m.md#L1"]


def test_picture_is_cited_as_a_whole() -> None:
    assert str(citation_text("memory/a.md", 5, 9)) == "memory/a.md#L5-L9"
    assert str(citation_text("assets/holiday.png", 1, 1)) == "assets/holiday.png"


@pytest.mark.parametrize(
    ("first", "last", "place"),
    [(33, 34, "Q17"), (33, 33, "Q17"), (34, 34, "Q17"), (34, 35, "Q17-Q18"), (1, None, "Q1"), (29, 34, "Q15-Q17")],
)
def test_lines_of_turns_are_shown_as_turns(first: int, last: int | None, place: str) -> None:
    assert str(Citation("session:main-20261018", first, last)) == f"session:main-20261018#{place}"
    assert Citation("session:main-20261018", first, last).place == place


@given(first=st.integers(1, 99_999_999), more=st.integers(0, 1_000))
def test_turns_round_trip(first: int, more: int) -> None:
    text = f"session:main-20261018#Q{first}" + (f"-Q{first + more}" if more else "")
    citation = parse(text)
    assert str(citation) == text
    assert (citation.start_line, citation.end_line) == (2 * first - 1, 2 * (first + more))


@pytest.mark.parametrize("text", ["session:x#Q0", "session:x#Q9-Q5"])
def test_invalid_turn_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="turn range"):
        parse(text)
