import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.questions import MAX_NEIGHBOURS, MAX_TOGETHER, min_holders, neighbours_in
from memoryd.domain.text.words import STOP_WORDS


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("When was Caroline at the LGBTQ support group?", [("lgbtq", "support"), ("support", "group")]),
        ("who painted the old boat shed", [("old", "boat"), ("boat", "shed")]),
        ("the shed by the lake", []),
        ("Achim Beierlorzer", []),
        ("trainer of FC Koln", []),
        ("Caroline painted", [("caroline", "painted")]),
        ("mother-in-law, boat; shed", []),
        ("plan B works", []),
        ("Zoë's café crème", [("cafe", "creme")]),
        ("我们 去了 海边", []),
        ("", []),
    ],
)
def test_neighbours_are_significant_words_separated_by_a_space(question: str, found: list[tuple[str, str]]) -> None:
    assert list(neighbours_in(question)) == found


@given(st.integers(1, 10_000))
def test_minimum_of_holders_follows_from_limit(together: int) -> None:
    least = min_holders(together)
    assert together <= MAX_TOGETHER * least
    assert together > MAX_TOGETHER * (least - 1)


@given(st.text(st.sampled_from("abAB  the漢\u0301-1२\x00'"), max_size=80))
def test_any_text_has_limited_neighbours_without_stop_words(text: str) -> None:
    found = neighbours_in(text)
    assert len(found) == len(set(found)) <= MAX_NEIGHBOURS
    assert all(len(words) == 2 and STOP_WORDS.isdisjoint(words) for words in found)


def test_number_of_neighbours_is_limited() -> None:
    assert len(neighbours_in(" ".join(f"ab{number}" for number in range(2000)))) == MAX_NEIGHBOURS
