"""The focus of a snippet: the lines that answer best, by words and by meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.snippets import FOCUS, SNIPPET_CHARS, MatchingPassage, Snippet, snippet

FILLER = [f"- item {number} says nothing of it" for number in range(60)]
LINE = st.text(st.sampled_from("abc lease 海边 \t\rİß|`#"), max_size=60)
LONG = st.builds("{}{}".format, LINE, st.integers(0, 900).map("x ".__mul__))
TEXTS = st.lists(LINE | LONG, min_size=1, max_size=30).map("\n".join)
TERMS = st.dictionaries(st.sampled_from(["lease", "abc", "海边", "none"]), st.floats(0, 9), max_size=3)


def within_filler(line: str, at: int) -> str:
    return "\n".join([*FILLER[:at], line, *FILLER[at:]])


def focus_lines(found: Snippet, text: str) -> list[str]:
    """Return the lines of the focus."""
    return text.split("\n")[found.focus.first_line : found.focus.last_line + 1]


def passages(text: str, part: str) -> list[MatchingPassage]:
    start = text.index(part)
    return [MatchingPassage(start, start + len(part), 0.5)]


@given(text=TEXTS, terms=TERMS, limit=st.integers(1, 900), span=st.tuples(st.integers(0, 500), st.integers(0, 500)))
def test_focus_is_within_shown_lines(text: str, terms: dict[str, float], limit: int, span: tuple[int, int]) -> None:
    found = snippet(text, terms, limit, [MatchingPassage(min(span), max(span) + 1, 0.5)])
    focus, lines = found.focus, text.split("\n")
    assert 0 <= found.first_line <= focus.first_line <= focus.last_line <= found.last_line < len(lines)
    assert focus.last_line - focus.first_line < FOCUS.lines
    assert len(found.text) <= limit
    assert found.text in "\n".join(lines[found.first_line : found.last_line + 1])
    assert set(focus.terms) <= terms.keys()


@given(text=TEXTS, terms=TERMS, at=st.integers(0, 400))
def test_passage_outside_shown_lines_is_ignored(text: str, terms: dict[str, float], at: int) -> None:
    near = [MatchingPassage(len(text) + at, len(text) + at + 10, 1.0)]
    assert snippet(text, terms, SNIPPET_CHARS, near).focus.near is None


@pytest.mark.parametrize("at", [0, 1, 7, 30, 59, 60])
def test_word_at_any_line_is_in_focus(at: int) -> None:
    text = within_filler("the boiler leaks", at)
    found = snippet(text, {"boiler": 2.0})
    assert "the boiler leaks" in focus_lines(found, text)
    assert len(focus_lines(found, text)) == FOCUS.lines
    assert found.focus.terms == ("boiler",)
    assert found.last_line - found.first_line > FOCUS.lines, "the snippet shows more than its focus"


@pytest.mark.parametrize("at", [0, 1, 7, 30, 59, 60])
def test_nearest_passage_is_in_focus_if_no_word_matches(at: int) -> None:
    text = within_filler("the boiler leaks", at)
    found = snippet(text, {"heating": 2.0}, SNIPPET_CHARS, passages(text, "the boiler leaks"))
    assert "the boiler leaks" in focus_lines(found, text)
    assert found.focus.near == passages(text, "the boiler leaks")[0]
    assert not found.focus.terms


def test_focus_contains_word_and_passage_if_both_fit() -> None:
    lines = [*FILLER[:20], "the heating is old", "and the boiler leaks", *FILLER[20:], "heating, once more"]
    text = "\n".join(lines)
    found = snippet(text, {"heating": 2.0, "repair": 2.0}, SNIPPET_CHARS, passages(text, "and the boiler leaks"))
    assert {"the heating is old", "and the boiler leaks"} <= set(focus_lines(found, text))


def test_number_decides_between_similar_lines_before_meaning() -> None:
    years = [f"In {year} the club had a trainer, and then another one." for year in range(1980, 2020)]
    text = "\n".join(years)
    near = [MatchingPassage(0, 200, 1.0)]
    found = snippet(text, {"trainer": 0.5, "club": 0.5, "2004": 3.0}, SNIPPET_CHARS, near)
    assert years[24] in focus_lines(found, text)
    assert found.focus.near is None
    below = snippet(f"# 2004\n{text[:-4]}".replace("In 2004", "Then"), {"2004": 3.0, "other": 1.0}, SNIPPET_CHARS, near)
    assert below.focus.near is not None, "a heading applies to everything below it"
    words = snippet(
        "\n".join(["the reception of the wedding", *FILLER, "it was 1999"]), {"reception": 2.0, "1999": 1.5}
    )
    assert words.focus.terms == ("1999",)


@pytest.mark.parametrize(("standout", "expected"), [(0.0, "word"), (0.05, "word"), (1.0, "meant")])
def test_passage_weighs_by_its_standout(standout: float, expected: str) -> None:
    text = "\n".join(["- the word", *FILLER, "- what is meant"])
    near = [MatchingPassage(len(text) - 15, len(text), standout)]
    found = snippet(text, {"word": 2.0, "other": 3.0}, SNIPPET_CHARS, near)
    assert any(expected in line for line in focus_lines(found, text))


def test_long_line_is_a_focus_of_one_line() -> None:
    text = f"first\n{'x ' * 25_000}lease{' y' * 25_000}\nlast"
    found = snippet(text, {"lease": 1.0})
    assert (found.focus.first_line, found.focus.last_line) == (1, 1)
    assert "lease" in found.text


def test_cut_line_shows_nearest_passage_if_no_word_matches() -> None:
    text = f"first\n{'x ' * 25_000}what is meant{' y' * 25_000}\nlast"
    found = snippet(text, {"lease": 1.0}, SNIPPET_CHARS, passages(text, "what is meant"))
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
def test_focus_has_expected_lines(lines: list[str], weights: dict[str, float], expected: tuple[int, int]) -> None:
    focus = snippet("\n".join(lines), weights).focus
    assert (focus.first_line, focus.last_line) == expected


def test_focus_ends_with_shown_part_of_long_paragraph() -> None:
    text = "\n".join([*FILLER[:5], "## Backup", "", "Every night at three. " + "And so on. " * 200])
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
def test_inflected_word_is_in_focus(language: str, term: str, line: str) -> None:
    text = within_filler(line, 30)
    found = snippet(text, {term: 2.0}, language=language)
    assert line in focus_lines(found, text)
    assert found.focus.terms == (term,)
    assert line not in focus_lines(snippet(text, {term: 2.0}), text)
