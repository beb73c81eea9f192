"""Scores of rerankers become relevance from 0 to 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.models.families import Reranker

LOGITS = Reranker("m", "bge-reranker", "bert", 512)
PROBABILITIES = Reranker("m", "qwen3-reranker", "qwen3", 512)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_relevance_of_logits_is_monotonic_from_0_to_1(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0 <= LOGITS.relevance(low) <= LOGITS.relevance(high) <= 1


def test_logits_go_through_the_sigmoid() -> None:
    assert LOGITS.relevance(0) == 0.5
    assert LOGITS.relevance(2) == pytest.approx(0.880797)
    assert LOGITS.relevance(-2) == pytest.approx(0.119203)


@pytest.mark.parametrize(("given", "expected"), [(0.0, 0.0), (0.25, 0.25), (1.0000001, 1.0), (-1e-9, 0.0)])
def test_probabilities_are_clamped(given: float, expected: float) -> None:
    assert PROBABILITIES.relevance(given) == expected


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("model", [LOGITS, PROBABILITIES])
def test_number_that_is_not_finite_is_an_error(model: Reranker, odd: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        model.relevance(odd)
