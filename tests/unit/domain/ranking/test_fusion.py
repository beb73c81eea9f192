import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.ranking.fusion import (
    Evidence,
    LexicalMatches,
    Noise,
    VectorMatches,
    Weights,
    score_relative,
    score_weighted,
    standout,
    text_score,
)

IDS = st.integers(1, 12)
WORDS = st.dictionaries(IDS, st.floats(1e-6, 60), max_size=10)
COSINES = st.dictionaries(IDS, st.floats(-1, 1), max_size=10)
NOISE = st.builds(Noise, st.floats(-1, 1), st.floats(0.01, 1))
LEVELS = st.dictionaries(IDS, st.integers(1, 2), max_size=10)
LEXICAL = st.builds(LexicalMatches, bm25=WORDS, levels=LEVELS)
EVIDENCE = st.builds(Evidence, LEXICAL, st.builds(VectorMatches, cosines=COSINES, noise=NOISE))
WITH_EACH_MERGE = pytest.mark.parametrize("merge", [score_relative, score_weighted])
Merge = Callable[[Evidence, Weights], dict[int, float]]


def assert_rising(fused: dict[int, float], ranked: list[int]) -> None:
    assert all(fused[low] <= fused[high] + 1e-12 for low, high in itertools.pairwise(ranked))


@WITH_EACH_MERGE
@given(evidence=EVIDENCE, share=st.floats(0, 1))
def test_scores_stay_between_0_and_1(merge: Merge, evidence: Evidence, share: float) -> None:
    fused = merge(evidence, Weights(vector=share, text=1 - share))
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@WITH_EACH_MERGE
@given(evidence=EVIDENCE)
def test_fused_scores_include_candidates_of_both_arms(merge: Merge, evidence: Evidence) -> None:
    fused = merge(evidence, Weights())
    assert fused.keys() >= evidence.lexical.bm25.keys() | evidence.vector.cosines.keys()


@WITH_EACH_MERGE
@given(words=WORDS)
def test_words_alone_keep_their_order(merge: Merge, words: dict[int, float]) -> None:
    fused = merge(Evidence(LexicalMatches(words)), Weights())
    assert_rising(fused, sorted(words, key=words.__getitem__))


@WITH_EACH_MERGE
@given(cosines=COSINES)
def test_vectors_alone_keep_their_order(merge: Merge, cosines: dict[int, float]) -> None:
    fused = merge(Evidence(vector=VectorMatches(cosines)), Weights())
    assert_rising(fused, sorted(cosines, key=cosines.__getitem__))


@WITH_EACH_MERGE
@given(evidence=EVIDENCE, lift=st.floats(0, 1))
def test_better_cosine_never_ranks_lower_with_equal_words(merge: Merge, evidence: Evidence, lift: float) -> None:
    lexical, vector = evidence.lexical, evidence.vector
    both = Evidence(
        LexicalMatches({**lexical.bm25, 101: 3.0, 102: 3.0}, lexical.levels),
        VectorMatches({**vector.cosines, 101: -lift, 102: lift}, vector.noise),
    )
    fused = merge(both, Weights())
    assert fused[102] >= fused[101] - 1e-12


@WITH_EACH_MERGE
@given(words=WORDS, levels=LEVELS)
def test_complete_matches_rank_before_others(merge: Merge, words: dict[int, float], levels: dict[int, int]) -> None:
    found = LexicalMatches(words, levels)
    fused = merge(Evidence(found), Weights())
    assert_rising(fused, sorted(words, key=lambda chunk: (levels.get(chunk, 0), words[chunk])))
    assert sorted(words, key=lambda chunk: (-levels.get(chunk, 0), -words[chunk], chunk)) == found.order()


@given(evidence=EVIDENCE)
def test_meaning_does_not_lift_partial_match_above_complete_one(evidence: Evidence) -> None:
    fused = score_relative(evidence, Weights())
    found = evidence.lexical
    best = max((found.levels.get(chunk, 0) for chunk in found.bm25), default=0)
    top = max((fused[chunk] for chunk in found.bm25 if found.levels.get(chunk, 0) == best), default=0.0)
    assert all(fused[chunk] <= top for chunk in found.bm25)


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_text_score_grows_from_0_to_1(first: float, second: float) -> None:
    assert 0 <= text_score(first) <= 1
    assert (text_score(first) <= text_score(second)) or first > second


@given(cosine=st.floats(-1, 1), noise=NOISE)
def test_cosine_within_noise_counts_nothing(cosine: float, noise: Noise) -> None:
    found = standout(cosine, noise)
    assert 0 <= found <= 1
    assert (found == 0) == (cosine <= noise.mean) or found < 1e-9


def test_no_evidence_gives_no_scores() -> None:
    assert score_relative(Evidence(), Weights()) == score_weighted(Evidence(), Weights()) == {}


CLEAR = Noise(0.0, 0.1)
"""Noise among 1000 vectors, where a cosine of 0.3 is noise and 0.6 is clear."""


def test_words_count_by_their_share_if_meaning_is_clear() -> None:
    near = VectorMatches({1: 0.1, 2: 0.55}, CLEAR, compared=1_000)
    for share, best in ((1.0, 1), (0.5, 1), (0.1, 2)):
        fused = score_relative(Evidence(LexicalMatches({1: 4.0}, share=share), near), Weights())
        assert max(fused, key=fused.__getitem__) == best
    dim = replace(near, cosines={1: 0.1, 2: 0.3})
    fused = score_relative(Evidence(LexicalMatches({1: 4.0}, share=0.1), dim), Weights())
    assert fused == {1: 0.7, 2: pytest.approx(0.3 * standout(0.3, CLEAR))}


def test_meaning_replaces_words_for_foreign_chunks() -> None:
    words = LexicalMatches({1: 4.0, 2: 3.0})
    near = VectorMatches({1: 0.15, 2: 0.15, 3: 0.55}, CLEAR, compared=1_000)
    same_language = score_relative(Evidence(words, near), Weights())
    foreign = score_relative(Evidence(words, replace(near, foreign=frozenset({3, 4}))), Weights())
    assert same_language[1] > same_language[2] > same_language[3]
    assert foreign[3] == pytest.approx(1.0)
    assert foreign[3] > foreign[1] == same_language[1]
    assert foreign.keys() == same_language.keys()
    assert replace(near, foreign=frozenset({3})).near_foreign == {3}
    assert replace(near, foreign=frozenset({2})).near_foreign == {1, 2, 3}
    assert near.near_foreign == frozenset()
    complete = LexicalMatches({1: 4.0, 2: 3.0}, {2: 1})
    beside = score_relative(Evidence(complete, replace(near, foreign=frozenset({3}))), Weights())
    assert beside[2] > beside[3] > beside[1]


def test_unclear_model_has_no_clarity() -> None:
    near = VectorMatches({1: 0.1, 2: 0.9}, replace(CLEAR, is_clear=False), compared=1_000)
    assert near.clarity == 0.0
    assert replace(near, noise=CLEAR).clarity == 1.0
    assert VectorMatches().clarity == 0.0
