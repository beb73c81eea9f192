from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.ranking.calibration import (
    BACKGROUND_CHUNKS,
    TermStatistics,
    clear_floor,
    idf,
    thresholds_of,
    vector_floor,
    with_term_share,
)
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, Noise, VectorMatches, best_unrelated

COUNTS = st.dictionaries(st.sampled_from(["lease", "gateway", "the", "gw"]), st.integers(0, 500), max_size=4)


@given(st.integers(0, 500), COUNTS)
def test_share_is_between_0_and_1(chunks: int, counts: dict[str, int]) -> None:
    weights = idf(chunks, counts)
    assert all(weight >= 0 for weight in weights.weights.values())
    assert 0 <= weights.share(frozenset()) <= weights.share(counts.keys()) <= 1 + 1e-9


@given(st.integers(0, 500), COUNTS, st.randoms())
def test_order_of_terms_does_not_change_result(chunks: int, counts: dict[str, int], random: Random) -> None:
    weights, terms = idf(chunks, counts), list(counts)
    random.shuffle(terms)
    assert weights.weight_of(terms) == weights.weight_of(list(counts))
    assert weights.share(terms) in (0.0, 1.0)


def test_rare_words_weigh_more_and_frequent_ones_nothing() -> None:
    weights = idf(100, {"lease": 1, "gateway": 20, "day": 90}).weights
    assert weights["lease"] > weights["gateway"] > weights["day"] == 0


@given(st.integers(0, 500), COUNTS, st.floats(0, 1))
def test_common_words_weigh_less(chunks: int, counts: dict[str, int], common: float) -> None:
    rare, usual = idf(chunks, counts), idf(chunks, counts, lambda _term: common)
    assert all(usual.weights[term] <= rare.weights[term] + 1e-9 for term in counts)


def test_background_separates_words_of_equal_count_in_few_notes() -> None:
    usual = {"cost": 0.05, "toll": 0.0}
    for chunks in (1, 3, 12):
        weights = idf(chunks, {"cost": 1, "toll": 1}, lambda term: usual[term])
        assert weights.weights["toll"] > weights.weights["cost"] > 0
        assert weights.answers({"toll"})
        assert not weights.answers({"cost"})


def test_background_fades_as_the_notes_grow() -> None:

    many = 1_000 * BACKGROUND_CHUNKS
    without_background, with_background = (
        idf(many, {"oak": many // 100}),
        idf(many, {"oak": many // 100}, lambda _term: 0.5),
    )
    assert with_background.weights["oak"] == pytest.approx(without_background.weights["oak"], rel=0.02)


def test_word_in_many_notes_weighs_little_though_rare_in_language() -> None:
    assert idf(100, {"audrey": 1}).weights["audrey"] > 6
    assert idf(100, {"audrey": 30}).weights["audrey"] < 1.5
    assert idf(100, {"audrey": 70}).weights["audrey"] == 0


def test_character_pair_in_no_note_weighs_half() -> None:
    weights = idf(
        10, {"租多": 0, "房租": 1, "wifi": 0, "多少": 0}, lambda term: 0.02 if term == "多少" else 0.0
    ).weights
    assert weights["租多"] == pytest.approx(weights["wifi"] / 2)
    assert weights["房租"] > weights["租多"]
    assert weights["多少"] > weights["租多"]


def test_all_words_answer_and_one_common_word_does_not() -> None:
    weights = idf(200, {"boiler": 2, "serviced": 3, "aldebaran": 1, "winter": 30})
    assert weights.answers({"boiler", "serviced", "aldebaran", "winter"})
    assert not weights.answers({"winter"})
    assert not weights.answers(set())


def test_words_in_no_note_reduce_share_of_the_others() -> None:
    assert idf(200, {"boiler": 40}).answers({"boiler"})
    assert not idf(200, {"boiler": 40, "zzzxqv": 0, "qwpoei": 0}).answers({"boiler"})


@pytest.mark.parametrize("vectors", [0, 1, 2, 100, 100_000])
def test_floors_rise_with_number_of_strangers(vectors: int) -> None:
    assert best_unrelated(vectors, 0.1) <= best_unrelated(10 * vectors + 2, 0.1)
    known, unknown = (vector_floor(vectors, knows_a_word=knows) for knows in (True, False))
    assert 0 <= known <= unknown <= clear_floor(vectors)


@pytest.mark.parametrize("strangers", [1, 2, 3, 5, 10, 1_000])
@pytest.mark.parametrize("chance", [0.1, 0.5])
def test_best_stranger_exceeds_floor_with_given_probability(strangers: int, chance: float) -> None:
    rng, tries = np.random.default_rng(7), 2_000
    best = rng.standard_normal((tries, strangers)).max(axis=1)
    assert (best > best_unrelated(strangers, chance)).mean() == pytest.approx(chance, abs=0.04)


def test_noise_without_deviation_gives_zero_deviations() -> None:
    assert Noise(0.1, 0.0).deviations(0.9) == 0
    assert Noise(0.1, 0.1).deviations(0.5) == pytest.approx(4.0)


def test_term_share_is_share_of_best_chunk() -> None:
    weights = idf(1_000, {"gateway": 10, "lease": 10, "attic": 10, "back": 400})
    terms_by_chunk = {1: frozenset({"back"}), 2: frozenset({"gateway", "lease"})}
    found = with_term_share(Evidence(LexicalMatches({1: 2.0, 2: 1.0})), TermStatistics(weights, terms_by_chunk))
    assert found.lexical.bm25 == {1: 2.0, 2: 1.0}
    assert found.lexical.share == weights.share(terms_by_chunk[2])
    # if no chunk contains a word, a chunk without words is not foreign
    alone = Evidence(vector=VectorMatches({3: 0.5}, foreign=frozenset({3})))
    assert with_term_share(alone, TermStatistics(weights, {})).vector.foreign == frozenset()
    beside = replace(alone, lexical=LexicalMatches({1: 2.0}))
    assert with_term_share(beside, TermStatistics(weights, terms_by_chunk)).vector.foreign == {3}
    assert with_term_share(Evidence(), TermStatistics(weights, {})).lexical.share == 0


def test_unclear_model_answers_by_words_only() -> None:
    weights = idf(1_000, {"gateway": 10, "lease": 10})
    clear = VectorMatches({1: 0.9}, Noise(0.0, 0.1), compared=1_000)
    blind = VectorMatches({1: 0.9}, Noise(0.0, 0.1, is_clear=False), compared=1_000)
    thresholds = [thresholds_of(found, TermStatistics(weights, {})) for found in (clear, blind)]
    assert [one.answers((), 0.9) for one in thresholds] == [True, False]
    assert "separates no answers by meaning" not in thresholds[0].why_weak
    assert "separates no answers by meaning" in thresholds[1].why_weak
    assert [one.answers(("gateway", "lease"), None) for one in thresholds] == [True, True]
