from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.snippets import snippet

LINE = st.text(st.sampled_from("abc lease 海边 \tİß"), max_size=40)
TEXTS = st.lists(LINE, min_size=1, max_size=30).map("\n".join)
TERMS = st.lists(st.sampled_from(["lease", "abc", "海边", "none"]), max_size=3)


@given(text=TEXTS, terms=TERMS, limit=st.integers(1, 120))
def test_snippet_is_an_exact_slice_within_the_limit(text: str, terms: list[str], limit: int) -> None:
    found = snippet(text, terms, limit)
    assert found.text in text
    assert len(found.text) <= limit


@given(text=TEXTS, terms=TERMS, limit=st.integers(1, 120))
def test_snippet_names_the_lines_it_stands_on(text: str, terms: list[str], limit: int) -> None:
    found, lines = snippet(text, terms, limit), text.split("\n")
    assert 0 <= found.first_line <= found.last_line < len(lines)
    cited = lines[found.first_line : found.last_line + 1]
    if len(cited) > 1:
        assert found.text == "\n".join(cited)
    else:
        assert found.text in cited[0]


@given(before=st.integers(0, 40), after=st.integers(0, 40))
def test_line_with_the_word_is_shown(before: int, after: int) -> None:
    lines = [*["filler text about nothing"] * before, "error GW-4172 means a lease", *["more filler"] * after]
    assert "GW-4172" in snippet("\n".join(lines), ["gw", "4172"], 200).text


@given(place=st.integers(0, 5000))
def test_word_deep_in_one_long_line_is_shown(place: int) -> None:
    line = "x" * place + " lease " + "y" * (5000 - place)
    found = snippet(f"first\n{line}\nlast", ["lease"], 100)
    assert "lease" in found.text
    assert (found.first_line, found.last_line) == (1, 1)


def test_short_chunk_is_shown_whole_without_its_blank_edges() -> None:
    found = snippet("\n\n# Head\n\ntext\n\n", ["text"], 700)
    assert found.text == "# Head\n\ntext"
    assert (found.first_line, found.last_line) == (2, 4)


def test_carriage_returns_stay_inside_and_go_at_the_end() -> None:
    assert snippet("one\r\ntwo\r\n", [], 700).text == "one\r\ntwo"
