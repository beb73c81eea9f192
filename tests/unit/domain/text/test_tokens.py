import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.tokens import UNIT, estimate, weigh

ENGLISH = (
    "Caroline took the first step towards becoming a mother: she applied to several adoption agencies, and a local "
    "support group gave her plenty of advice and assistance along the way."
)


def test_english_costs_a_token_per_four_to_five_characters() -> None:
    assert 4.0 < len(ENGLISH) / estimate(ENGLISH) < 5.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("你好，世界", 5),
        ("こんにちは", 5),
        ("안녕하세요", 5),
        ("Привет", 3),
        ("สวัสดี", 3),
        ("नमस्ते", 3),
        ("😀😀", 4),
        ("\ud800", 1),
        ("\0", 1),
    ],
)
def test_each_script_has_its_weight(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_punctuation_and_digits_cost_more_than_letters() -> None:
    assert estimate("a" * 100) < estimate("7" * 100) < estimate("|" * 100)


def test_estimate_is_proportional_to_length() -> None:
    unit = ENGLISH[:64] * 3
    assert estimate(unit * 64) == pytest.approx(64 * estimate(unit), rel=0.02)


@given(st.text(max_size=60), st.text(max_size=60))
def test_weights_add_up(first: str, second: str) -> None:
    both = estimate(first + second)
    assert estimate(first) + estimate(second) - 1 <= both <= estimate(first) + estimate(second)


@given(st.text(max_size=300))
def test_estimate_is_the_sum_of_weights_rounded_up(text: str) -> None:
    assert estimate(text) == -(-sum(weigh(text.encode())) // UNIT)
