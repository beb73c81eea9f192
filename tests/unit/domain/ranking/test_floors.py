from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.floors import clear_floor, idf, stranger_floor, vector_floor
from memoryd.domain.ranking.fusion import Noise

COUNTS = st.dictionaries(st.sampled_from(["lease", "gateway", "the", "gw"]), st.integers(0, 500), max_size=4)


@given(st.integers(0, 500), COUNTS)
def test_shares_are_shares(chunks: int, counts: dict[str, int]) -> None:
    weights = idf(chunks, counts)
    assert all(weight >= 0 for weight in weights.weights.values())
    assert 0 <= weights.share(frozenset()) <= weights.share(counts.keys()) <= 1 + 1e-9


@given(st.integers(0, 500), COUNTS, st.randoms())
def test_order_of_terms_changes_no_digit(chunks: int, counts: dict[str, int], random: Random) -> None:
    weights, terms = idf(chunks, counts), list(counts)
    random.shuffle(terms)
    assert weights.covered(terms) == weights.covered(list(counts))
    assert weights.share(terms) in (0.0, 1.0)


def test_rare_words_weigh_more_and_usual_ones_nothing() -> None:
    weights = idf(100, {"lease": 1, "gateway": 20, "day": 90}).weights
    assert weights["lease"] > weights["gateway"] > weights["day"] == 0


def test_all_words_answer_and_one_of_many_does_not() -> None:
    weights = idf(200, {"boiler": 2, "serviced": 3, "aldebaran": 1, "winter": 30})
    assert weights.answers({"boiler", "serviced", "aldebaran", "winter"})
    assert not weights.answers({"winter"})
    assert not weights.answers(set())


def test_words_that_stand_nowhere_make_the_rest_weigh_less() -> None:
    assert idf(200, {"boiler": 40}).answers({"boiler"})
    assert not idf(200, {"boiler": 40, "zzzxqv": 0, "qwpoei": 0}).answers({"boiler"})


@pytest.mark.parametrize("vectors", [0, 1, 2, 100, 100_000])
def test_floors_rise_with_the_number_of_strangers(vectors: int) -> None:
    assert stranger_floor(vectors) <= stranger_floor(10 * vectors + 2)
    known, unknown = (vector_floor(vectors, knows_a_word=knows) for knows in (True, False))
    assert stranger_floor(vectors) == known <= unknown <= clear_floor(vectors)


def test_deviations_without_a_spread_tell_nothing() -> None:
    assert Noise(0.1, 0.0).deviations(0.9) == 0
    assert Noise(0.1, 0.1).deviations(0.5) == pytest.approx(4.0)
