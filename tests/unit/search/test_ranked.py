"""Candidates in order, which of them are noise, and which may not stand in an answer, told before any is read."""

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


def test_what_is_literal_or_above_the_noise_tells_something() -> None:
    ranking = rank(Evidence(WORDS, NEAR))
    assert (ranking.telling, ranking.noise, ranking.refused) == ([1, 2, 3], [4], [])
    verdicts = [ranking.hit(row(number)).verdict for number in (1, 2, 3, 4)]
    assert verdicts == ["answerable", "answerable", "answerable", "none"]
    assert [ranking.hit(row(number)).is_noise for number in (3, 4)] == [False, True]


def test_min_score_refuses_what_holds_no_word_and_nothing_else() -> None:
    ranking = rank(Evidence(WORDS, NEAR), min_score=0.9)
    assert (ranking.telling, ranking.noise, ranking.refused) == ([1, 2], [], [3, 4])


def test_noise_without_a_score_is_in_the_order_of_its_cosines() -> None:
    near = VectorMatches({7: -0.1, 8: 0.1, 9: 0.05, 3: 0.3}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near), TermStatistics(idf(100, {"lease": 2}), {}))
    assert (ranking.telling, ranking.noise) == ([], [3, 8, 9, 7])
    assert ranking.base_scores[8] == ranking.base_scores[7] == 0


def test_meanings_that_all_stand_out_in_full_are_in_the_order_of_their_cosines() -> None:
    """Vectors alone: on pages that are all about the same, the first ten count in full."""
    near = VectorMatches({7: 0.81, 8: 0.93, 9: 0.87, 3: 0.87}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near))
    assert set(ranking.base_scores.values()) == {0.3}
    assert ranking.telling == [8, 9, 3, 7]


def test_latest_of_copies_comes_first_though_their_cosines_differ_in_the_last_digits() -> None:
    near = VectorMatches({1: 0.9300001, 2: 0.93, 3: 0.9300002, 4: 0.93}, Noise(0.0, 0.1), compared=1000)
    assert rank(Evidence(vector=near)).telling == [4, 3, 2, 1]


def test_latest_of_copies_comes_first_where_words_and_meaning_count_in_part() -> None:
    """One sentence on several days: a last digit of a cosine is no reason to tell the oldest first."""
    words = LexicalMatches({9: 3.0, 1: 2.0, 2: 2.0, 3: 2.0})
    near = VectorMatches({9: 0.95, 1: 0.3000002, 2: 0.3000001, 3: 0.3}, Noise(0.0, 0.1), compared=100)
    ranking = rank(Evidence(words, near), statistics=None)
    assert ranking.telling == [9, 3, 2, 1]
    assert 0 < ranking.base_scores[1] == ranking.base_scores[3] < ranking.base_scores[9]


def test_literal_chunk_without_a_score_stands_before_noise() -> None:
    near = VectorMatches({2: -0.2, 8: 0.1}, Noise(0.0, 0.1), compared=1000)
    ranking = rank(Evidence(vector=near))
    assert (ranking.telling, ranking.noise) == ([2], [8])


def test_noise_is_left_to_read_only_while_there_are_places_for_it() -> None:
    ranking = rank(Evidence(WORDS, NEAR))
    assert [ranking.unread(count, is_filled=False) for count in (0, 3, 4, 9)] == [4, 1, 0, 0]
    assert [ranking.unread(count, is_filled=True) for count in (0, 2, 3, 9)] == [3, 1, 0, 0]


def test_word_of_the_question_counts_though_the_keyword_arm_gave_up() -> None:
    """The vectors found what holds a word; the statistics say so."""
    ranking = rank(Evidence(vector=NEAR), min_score=1.0)
    assert ranking.telling == [2]
    assert ranking.hit(row(2)).is_literal
    assert ranking.hit(row(2)).terms == ("lease", "oak")


def test_without_statistics_nothing_is_judged_and_words_count_all_the_same() -> None:
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


def test_latest_of_equals_comes_first() -> None:
    assert rank(Evidence(LexicalMatches({1: 2.0, 5: 2.0, 3: 2.0})), statistics=None).telling == [5, 3, 1]
