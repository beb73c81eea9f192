"""Ranking of candidates before any is read: order, noise, and those below `minScore`."""

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.calibration import TermStatistics, idf
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, Noise, VectorMatches, Weights, score_relative
from memoryd.search.hits import Ranks
from memoryd.search.ranking import Ranked, rank_candidates
from memoryd.store.index.passages import ChunkRow

WORDS = LexicalMatches({1: 4.0, 2: 2.0})
NEAR = VectorMatches({2: 0.9, 3: 0.7, 4: 0.1}, Noise(0.0, 0.1), compared=100)
TERMS = TermStatistics(idf(100, {"lease": 2, "oak": 40}), {1: frozenset({"lease"}), 2: frozenset({"oak", "lease"})})


def rank(evidence: Evidence, statistics: TermStatistics | None = TERMS, min_score: float = 0.0) -> Ranked:
    return rank_candidates(evidence, score_relative(evidence, Weights()), statistics, min_score=min_score)


def row(number: int) -> ChunkRow:
    return ChunkRow(number, RelativePath(f"{number}.md"), Source.MEMORY, 1, 2, "", "text")


def test_literal_or_above_noise_is_telling() -> None:
    ranking = rank(Evidence(WORDS, NEAR))
    assert (ranking.telling, ranking.noise, ranking.refused) == ([1, 2, 3], [4], [])
    verdicts = [ranking.hit(row(number)).verdict for number in (1, 2, 3, 4)]
    assert verdicts == ["answerable", "answerable", "answerable", "none"]
    assert [ranking.hit(row(number)).is_noise for number in (3, 4)] == [False, True]


def test_min_score_refuses_only_candidates_without_a_word() -> None:
    ranking = rank(Evidence(WORDS, NEAR), min_score=0.9)
    assert (ranking.telling, ranking.noise, ranking.refused) == ([1, 2], [], [3, 4])


def test_noise_without_a_score_is_ordered_by_cosine() -> None:
    near = VectorMatches({7: -0.1, 8: 0.1, 9: 0.05, 3: 0.3}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near), TermStatistics(idf(100, {"lease": 2}), {}))
    assert (ranking.telling, ranking.noise) == ([], [3, 8, 9, 7])
    assert ranking.base_scores[8] == ranking.base_scores[7] == 0


def test_equal_full_vector_scores_are_ordered_by_cosine() -> None:
    """With vectors only, and pages on one subject, the first ten have the full score."""
    near = VectorMatches({7: 0.81, 8: 0.93, 9: 0.87, 3: 0.87}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near))
    assert set(ranking.base_scores.values()) == {0.3}
    assert ranking.telling == [8, 9, 3, 7]


def test_newest_of_copies_comes_first_despite_tiny_cosine_differences() -> None:
    near = VectorMatches({1: 0.9300001, 2: 0.93, 3: 0.9300002, 4: 0.93}, Noise(0.0, 0.1), compared=1000)
    assert rank(Evidence(vector=near)).telling == [4, 3, 2, 1]


def test_newest_of_copies_comes_first_with_both_arms() -> None:
    """The last digit of a cosine must not put the oldest copy first."""
    words = LexicalMatches({9: 3.0, 1: 2.0, 2: 2.0, 3: 2.0})
    near = VectorMatches({9: 0.95, 1: 0.3000002, 2: 0.3000001, 3: 0.3}, Noise(0.0, 0.1), compared=100)
    ranking = rank(Evidence(words, near), statistics=None)
    assert ranking.telling == [9, 3, 2, 1]
    assert 0 < ranking.base_scores[1] == ranking.base_scores[3] < ranking.base_scores[9]


def test_literal_chunk_without_a_score_comes_before_noise() -> None:
    near = VectorMatches({2: -0.2, 8: 0.1}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near))
    assert (ranking.telling, ranking.noise) == ([2], [8])


def test_noise_stays_unread_once_the_places_are_filled() -> None:
    ranking = rank(Evidence(WORDS, NEAR))
    assert [ranking.unread(count, is_filled=False) for count in (0, 3, 4, 9)] == [4, 1, 0, 0]
    assert [ranking.unread(count, is_filled=True) for count in (0, 2, 3, 9)] == [3, 1, 0, 0]


def test_words_count_even_if_the_lexical_arm_failed() -> None:
    """The statistics know which words a chunk found by its vector contains."""
    ranking = rank(Evidence(vector=NEAR), min_score=1.0)
    assert ranking.telling == [2]
    assert ranking.hit(row(2)).is_literal
    assert ranking.hit(row(2)).terms == ("lease", "oak")


def test_without_statistics_there_are_no_verdicts_but_words_count() -> None:
    ranking = rank(Evidence(WORDS, NEAR), statistics=None)
    assert ranking.floors is None
    assert (ranking.telling, ranking.noise) == ([1, 2, 3, 4], [])
    assert ranking.hit(row(1)).is_literal
    assert ranking.hit(row(4)).verdict is None


def test_hit_has_the_numbers_of_the_arms_that_found_it() -> None:
    ranking = rank(Evidence(WORDS, NEAR))
    first, second, third = (ranking.hit(row(number)) for number in (1, 2, 3))
    assert (first.bm25, first.cosine, first.ranks) == (4.0, None, Ranks(1, None, 1))
    assert (second.bm25, second.cosine, second.ranks) == (2.0, 0.9, Ranks(2, 1, 2))
    assert (third.bm25, third.text_score, third.ranks) == (None, None, Ranks(None, 2, 3))
    assert first.score == first.base_score == ranking.base_scores[1]


def test_newest_of_equals_comes_first() -> None:
    assert rank(Evidence(LexicalMatches({1: 2.0, 5: 2.0, 3: 2.0})), statistics=None).telling == [5, 3, 1]
