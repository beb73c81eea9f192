import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.snippets import snippet
from tests.waiting import soon

LINE = st.text(st.sampled_from("abc lease 海边 \tİß"), max_size=40)
TEXTS = st.lists(LINE, min_size=1, max_size=30).map("\n".join)
TERMS = st.dictionaries(st.sampled_from(["lease", "abc", "海边", "none"]), st.floats(0, 9), max_size=3)
WITH_HEADINGS = st.lists(st.builds("{}{}".format, st.sampled_from(["", "# "]), LINE), min_size=1, max_size=30).map(
    "\n".join
)


@given(text=TEXTS | WITH_HEADINGS, terms=TERMS, limit=st.integers(1, 120))
def test_snippet_is_an_exact_slice_within_the_limit(text: str, terms: dict[str, float], limit: int) -> None:
    found = snippet(text, terms, limit)
    assert found.text in text
    assert len(found.text) <= limit


@given(text=TEXTS | WITH_HEADINGS, terms=TERMS, limit=st.integers(1, 120))
def test_snippet_has_its_line_numbers(text: str, terms: dict[str, float], limit: int) -> None:
    found, lines = snippet(text, terms, limit), text.split("\n")
    assert 0 <= found.first_line <= found.last_line < len(lines)
    cited = lines[found.first_line : found.last_line + 1]
    assert found.text in "\n".join(cited)
    assert found.text.count("\n") == len(cited) - 1
    if len(cited) > 1:
        assert found.text.startswith(cited[0])


@given(before=st.integers(0, 40), after=st.integers(0, 40))
def test_line_with_the_word_is_shown(before: int, after: int) -> None:
    lines = [*["filler text about nothing"] * before, "error GW-4172 means a lease", *["more filler"] * after]
    assert "GW-4172" in snippet("\n".join(lines), {"gw": 1.0, "4172": 1.0}, 200).text


FILLER = [f"line {number} says nothing of it, as most of them do not" for number in range(60)]


@pytest.mark.parametrize("at", [20, 30, 40])
def test_match_is_in_the_middle(at: int) -> None:
    lines = [*FILLER[:at], "the boiler leaks", *FILLER[at:]]
    found = snippet("\n".join(lines), {"boiler": 1.0}, 700)
    assert len(found.text) > 600
    assert abs((at - found.first_line) - (found.last_line - at)) <= 1


def test_lines_with_significant_words_together_are_shown() -> None:
    """They rank above many repetitions of one word, and above a word that is everywhere."""
    lines = [*["the note notes a note"] * 20, *FILLER[:20], "the boiler", "has a warranty", *FILLER[20:40]]
    weights = {"note": 0.0, "boiler": 3.0, "warranty": 3.0}
    assert "boiler\nhas a warranty" in snippet("\n".join([*lines, "a boiler", *FILLER[:20]]), weights, 400).text
    once = [*FILLER[:20], "it notes", *FILLER[:20]]
    assert "it notes" in snippet("\n".join(once), {"note": 0.0}, 200).text


def test_matching_heading_is_shown_with_following_text() -> None:
    lines = [*FILLER[:20], "one schedule in passing", *FILLER[:10], "## Backup schedule", "", *FILLER[20:]]
    found = snippet("\n".join(lines), {"backup": 2.0, "schedule": 2.0}, 500)
    assert found.text.startswith("## Backup schedule\n\nline 20")
    assert len(found.text) > 400


def test_long_paragraph_below_matching_heading_is_cut() -> None:
    text = "\n".join([*FILLER[:5], "## Backup", "", "Every night at three. " + "And so on. " * 200])
    found = snippet(text, {"backup": 1.0}, 300)
    assert found.text.startswith("## Backup\n\nEvery night at three.")
    assert 250 < len(found.text) <= 300
    assert (found.first_line, found.last_line) == (5, 7)


def test_heading_at_the_end_is_shown_with_preceding_text() -> None:
    found = snippet("\n".join([*FILLER[:5], "## Backup"]), {"backup": 1.0}, 200)
    assert found.text.startswith("line")
    assert found.text.endswith("## Backup")


def test_chunk_of_many_short_lines_is_fast() -> None:
    text = "\n".join(["ab cd", "# ef"] * 3000)
    with soon(2):
        snippet(text, {f"{one}{two}": 1.0 for one in "abcdefgh" for two in "abcdefgh"}, 700)


@given(place=st.integers(0, 5000))
def test_word_deep_in_one_long_line_is_shown(place: int) -> None:
    line = "x" * place + " lease " + "y" * (5000 - place)
    found = snippet(f"first\n{line}\nlast", {"lease": 1.0}, 100)
    assert "lease" in found.text
    assert (found.first_line, found.last_line) == (1, 1)


def test_short_chunk_is_shown_completely_without_blank_edges() -> None:
    found = snippet("\n\n# Head\n\ntext\n\n", {"text": 1.0}, 700)
    assert found.text == "# Head\n\ntext"
    assert (found.first_line, found.last_line) == (2, 4)


def test_carriage_returns_are_kept_except_at_the_end() -> None:
    assert snippet("one\r\ntwo\r\n", {}, 700).text == "one\r\ntwo"
