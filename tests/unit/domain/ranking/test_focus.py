"""The focus of a snippet: which of its lines answer best, by words, by meaning, in texts of every shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.snippets import FOCUS, SNIPPET_CHARS, MatchingPassage, Snippet, snippet

FILLING = [f"- item {number} says nothing of it" for number in range(60)]
LINE = st.text(st.sampled_from("abc lease 海边 \t\rİß|`#"), max_size=60)
LONG = st.builds("{}{}".format, LINE, st.integers(0, 900).map("x ".__mul__))
TEXTS = st.lists(LINE | LONG, min_size=1, max_size=30).map("\n".join)
TERMS = st.dictionaries(st.sampled_from(["lease", "abc", "海边", "none"]), st.floats(0, 9), max_size=3)


def focused(found: Snippet, text: str) -> list[str]:
    """Return the lines of the focus."""
    return text.split("\n")[found.focus.first_line : found.focus.last_line + 1]


def passage(text: str, part: str) -> list[MatchingPassage]:
    start = text.index(part)
    return [MatchingPassage(start, start + len(part), 0.5)]


@given(text=TEXTS, terms=TERMS, limit=st.integers(1, 900), span=st.tuples(st.integers(0, 500), st.integers(0, 500)))
def test_focus_stands_within_the_lines_that_are_shown(
    text: str, terms: dict[str, float], limit: int, span: tuple[int, int]
) -> None:
    found = snippet(text, terms, limit, [MatchingPassage(min(span), max(span) + 1, 0.5)])
    focus, lines = found.focus, text.split("\n")
    assert 0 <= found.first_line <= focus.first_line <= focus.last_line <= found.last_line < len(lines)
    assert focus.last_line - focus.first_line < FOCUS.lines
    assert len(found.text) <= limit
    assert found.text in "\n".join(lines[found.first_line : found.last_line + 1])
    assert set(focus.terms) <= terms.keys()


@given(text=TEXTS, terms=TERMS, at=st.integers(0, 400))
def test_passage_in_no_line_that_is_shown_is_no_reason(text: str, terms: dict[str, float], at: int) -> None:
    near = [MatchingPassage(len(text) + at, len(text) + at + 10, 1.0)]
    assert snippet(text, terms, SNIPPET_CHARS, near).focus.near is None


@pytest.mark.parametrize("at", [0, 1, 7, 30, 59, 60])
def test_word_is_in_the_focus_wherever_it_stands(at: int) -> None:
    text = "\n".join([*FILLING[:at], "the boiler leaks", *FILLING[at:]])
    found = snippet(text, {"boiler": 2.0})
    assert "the boiler leaks" in focused(found, text)
    assert len(focused(found, text)) == FOCUS.lines
    assert found.focus.terms == ("boiler",)
    assert found.last_line - found.first_line > FOCUS.lines, "the snippet shows more than its focus"


@pytest.mark.parametrize("at", [0, 1, 7, 30, 59, 60])
def test_nearest_passage_is_in_the_focus_where_no_word_is(at: int) -> None:
    text = "\n".join([*FILLING[:at], "the boiler leaks", *FILLING[at:]])
    found = snippet(text, {"heating": 2.0}, SNIPPET_CHARS, passage(text, "the boiler leaks"))
    assert "the boiler leaks" in focused(found, text)
    assert found.focus.near == passage(text, "the boiler leaks")[0]
    assert not found.focus.terms


def test_words_and_passage_are_shown_together_where_both_have_room() -> None:
    lines = [*FILLING[:20], "the heating is old", "and the boiler leaks", *FILLING[20:], "heating, once more"]
    text = "\n".join(lines)
    found = snippet(text, {"heating": 2.0, "repair": 2.0}, SNIPPET_CHARS, passage(text, "and the boiler leaks"))
    assert {"the heating is old", "and the boiler leaks"} <= set(focused(found, text))


def test_number_tells_alike_lines_apart_before_meaning_does() -> None:
    years = [f"In {year} the club had a trainer, and then another one." for year in range(1980, 2020)]
    text = "\n".join(years)
    near = [MatchingPassage(0, 200, 1.0)]
    found = snippet(text, {"trainer": 0.5, "club": 0.5, "2004": 3.0}, SNIPPET_CHARS, near)
    assert years[24] in focused(found, text)
    assert found.focus.near is None
    below = snippet(f"# 2004\n{text[:-4]}".replace("In 2004", "Then"), {"2004": 3.0, "other": 1.0}, SNIPPET_CHARS, near)
    assert below.focus.near is not None, "the heading is of all that stands below it"
    words = snippet(
        "\n".join(["the reception of the wedding", *FILLING, "it was 1999"]), {"reception": 2.0, "1999": 1.5}
    )
    assert words.focus.terms == ("1999",)


@pytest.mark.parametrize(("standout", "expected"), [(0.0, "word"), (0.05, "word"), (1.0, "meant")])
def test_passage_weighs_as_much_as_it_stands_out(standout: float, expected: str) -> None:
    text = "\n".join(["- the word", *FILLING, "- what is meant"])
    near = [MatchingPassage(len(text) - 15, len(text), standout)]
    found = snippet(text, {"word": 2.0, "other": 3.0}, SNIPPET_CHARS, near)
    assert any(expected in line for line in focused(found, text))


def test_one_line_of_a_hundred_kilobytes_is_a_focus_of_one_line() -> None:
    text = f"first\n{'x ' * 25_000}lease{' y' * 25_000}\nlast"
    found = snippet(text, {"lease": 1.0})
    assert (found.focus.first_line, found.focus.last_line) == (1, 1)
    assert "lease" in found.text


def test_line_that_is_cut_shows_what_is_near_in_meaning_where_no_word_is() -> None:
    text = f"first\n{'x ' * 25_000}what is meant{' y' * 25_000}\nlast"
    found = snippet(text, {"lease": 1.0}, SNIPPET_CHARS, passage(text, "what is meant"))
    assert "what is meant" in found.text
    assert (found.focus.first_line, found.focus.last_line) == (1, 1)


@pytest.mark.parametrize(
    ("lines", "weights", "expected"),
    [
        (["# Backup", "", "Every night at three."], {"backup": 1.0}, (0, 2)),
        (["one\r", "the lease\r", "three\r", ""], {"lease": 1.0}, (0, 2)),
        (["", "", "the lease", "", ""], {"lease": 1.0}, (2, 2)),
        (["| a | b |", "|---|---|", *["| x | y |"] * 20, "| lease | 7 |"], {"lease": 1.0}, (17, 22)),
        (["```", *["run"] * 20, "```", "lease"], {"lease": 1.0}, (17, 22)),
        (["的确", "海边的木屋", "no"], {"海边": 1.0}, (0, 2)),
        ([""], {"lease": 1.0}, (0, 0)),
    ],
)
def test_lines_of_the_focus(lines: list[str], weights: dict[str, float], expected: tuple[int, int]) -> None:
    focus = snippet("\n".join(lines), weights).focus
    assert (focus.first_line, focus.last_line) == expected


def test_heading_with_a_long_paragraph_below_it_is_focused_as_far_as_it_is_shown() -> None:
    text = "\n".join([*FILLING[:5], "## Backup", "", "Every night at three. " + "And so on. " * 200])
    found = snippet(text, {"backup": 1.0}, 300)
    assert (found.focus.first_line, found.focus.last_line) == (found.first_line, found.last_line) == (5, 7)


@pytest.mark.parametrize(
    ("language", "term", "line"),
    [
        ("de", "turnieren", "das Turnier beginnt im Mai"),
        ("de", "beitragen", "der Beitrag wird im Mai bezahlt"),
        ("es", "alquileres", "el alquiler se paga en mayo"),
        ("ru", "книгами", "книга лежит на столе"),
    ],
)
def test_other_form_of_a_word_is_in_the_focus(language: str, term: str, line: str) -> None:
    text = "\n".join([*FILLING[:30], line, *FILLING[30:]])
    found = snippet(text, {term: 2.0}, language=language)
    assert line in focused(found, text)
    assert found.focus.terms == (term,)
    assert line not in focused(snippet(text, {term: 2.0}), text)
