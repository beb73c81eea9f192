"""Answers fit into a token limit: best first, one shortened, the rest counted."""

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.tokens import estimate
from memoryd.mcp.answers import GUTTER, FoundText, beginning, clean_text, fit_pieces, render_piece, text_cost

TEXTS = st.lists(st.text(max_size=400), max_size=12)


@given(TEXTS, st.integers(300, 2_000))
def test_answer_is_within_its_limit_and_counts_what_is_left_out(texts: list[str], limit: int) -> None:
    pieces = [FoundText(text=clean_text(text)[0], corpus="notes", path="a.md") for text in texts]
    kept, cut = fit_pieces(pieces, limit, "{}")
    assert sum(estimate(piece.model_dump_json(exclude_none=True)) for piece in kept) <= limit
    assert sum(estimate(render_piece(piece)) for piece in kept) <= limit
    whole = [piece for piece in kept if not piece.shortened]
    assert whole == pieces[: len(whole)]
    assert len(kept) - len(whole) <= 1
    assert bool(cut) is (kept != pieces)
    assert len(kept) == len(pieces) or f"{len(pieces) - len(kept)} left out" in cut


@given(st.text(max_size=2_000), st.integers(20, 300))
def test_beginning_of_a_text_ends_with_a_whole_line_if_one_fits(text: str, limit: int) -> None:
    found = beginning(text, limit, text_cost)
    assert text.startswith(found)
    assert text_cost(found) <= limit or not found
    assert found == text or found.endswith("\n") or "\n" not in found


@given(st.text(max_size=500))
def test_every_line_is_behind_the_gutter(text: str) -> None:
    clean, _ = clean_text(text)
    head, *lines = render_piece(FoundText(text=clean, corpus="notes", path="a.md")).splitlines()
    assert head == "- a.md; notes"
    assert all(line.startswith(GUTTER.rstrip()) for line in lines)


def test_invisible_characters_are_removed_and_flagged() -> None:
    assert clean_text("pass\u200bword \u202eabc \U000e0041") == ("password abc ", ["invisible-characters"])
    assert clean_text("plain\r\ntext") == ("plain\ntext", None)
    assert clean_text("x", ["hard-link"]) == ("x", ["hard-link"])
