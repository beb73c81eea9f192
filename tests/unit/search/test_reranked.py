"""Reranking reorders the candidates that were read, and leaves the rest to the other rules."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.config.memory_search import HybridSection
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.calibration import TermStatistics, idf
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, Noise, VectorMatches, Weights, score_relative
from memoryd.search.hits import Hit
from memoryd.search.ranking import PairReading, Ranked, SearchSettings, Selected, rank_candidates, reorder, select
from memoryd.store.index.passages import ChunkRow

NOW = datetime(2026, 10, 30, tzinfo=UTC)
LIMIT = 6
DECAY: Mapping[str, object] = {"temporalDecay": {"enabled": True, "halfLifeDays": 10}}
WORDS = 8
"""Number of chunks with a word, best first; as many more are found by meaning only, half of them noise."""


def ranking(min_score: float = 0.0) -> Ranked:
    lexical = LexicalMatches({number: 10.0 - number for number in range(WORDS)})
    cosines = {8: 0.9, 9: 0.8, 10: 0.7, 11: 0.6, 12: 0.2, 13: 0.15, 14: 0.1, 15: 0.05}
    statistics = TermStatistics(idf(100, {"lease": 8}), {number: frozenset({"lease"}) for number in range(WORDS)})
    evidence = Evidence(lexical, VectorMatches(cosines, Noise(0.0, 0.12), compared=100))
    return rank_candidates(evidence, score_relative(evidence, Weights()), statistics, min_score=min_score)


def read_in(order: Sequence[int]) -> dict[int, PairReading]:
    """Return readings of these chunks, best first."""
    return {chunk: PairReading(place, 1 - place / 100) for place, chunk in enumerate(order, start=1)}


def hits_of(ordered: Ranked, dates: Mapping[int, str] | None = None, text: str = "") -> list[Hit]:
    """Return all candidates; `dates` names the files of some, `text` is the text of all if given."""
    names = dates or {}
    rows = [
        ChunkRow(
            number,
            RelativePath(f"memory/{names.get(number, f'note-{number}')}.md"),
            Source.MEMORY,
            1,
            2,
            "",
            text or f"kind{number} of its own{number}, word{number} and thing{number}",
        )
        for number in [*ordered.telling, *ordered.noise]
    ]
    return [ordered.hit(row) for row in rows]


def chosen(
    ordered: Ranked, rules: Mapping[str, object] | None = None, dates: Mapping[int, str] | None = None
) -> Selected:
    settings = SearchSettings(HybridSection.model_validate(rules or {}))
    return select(hits_of(ordered, dates), LIMIT, settings=settings, floors=ordered.floors, now=NOW)


def numbers(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk.id for hit in hits]


def test_fixture_has_the_described_candidates() -> None:
    plain = ranking()
    assert sorted(plain.telling) == [*range(WORDS), 8, 9, 10, 11]
    assert plain.noise == [12, 13, 14, 15]


@given(st.permutations(range(2 * WORDS)), st.integers(2, 2 * WORDS))
def test_candidates_that_were_read_exchange_places_and_scores(order: list[int], count: int) -> None:
    plain = ranking()
    first = [*plain.telling, *plain.noise][:count]
    after = reorder(plain, read_in([chunk for chunk in order if chunk in first]))
    for before, group in ((plain.telling, after.telling), (plain.noise, after.noise)):
        read = [chunk for chunk in group if chunk in first]
        assert sorted(group) == sorted(before)
        assert [chunk for chunk in group if chunk not in first] == [chunk for chunk in before if chunk not in first]
        assert read == [chunk for chunk in order if chunk in read]
        scores = [after.readings[chunk].score for chunk in read]
        assert scores == sorted(scores, reverse=True)
        assert sorted(scores) == sorted(plain.base_scores[chunk] for chunk in read)
    assert after.base_scores == plain.base_scores


def test_reading_in_the_same_order_changes_nothing() -> None:
    plain = ranking()
    after = reorder(plain, read_in([*plain.telling, *plain.noise]))
    assert (after.telling, after.noise) == (plain.telling, plain.noise)
    assert {chunk: reading.score for chunk, reading in after.readings.items()} == plain.base_scores


def test_order_is_that_of_the_reading_and_explained() -> None:
    selected = chosen(reorder(ranking(), read_in([3, 1, 0, 2])))
    assert numbers(selected.hits) == [3, 1, 0, 2, 4, 5]
    scores = [hit.score for hit in selected.hits]
    assert scores == sorted(scores, reverse=True)
    assert "1. by reading it beside the question, from place 4" in selected.hits[0].because
    assert "reading" not in selected.hits[4].because


def test_equal_scores_keep_the_order_of_the_reading() -> None:
    plain = ranking()
    alike = Ranked(
        plain.telling,
        plain.noise,
        plain.refused,
        dict.fromkeys(plain.base_scores, 0.5),
        plain.evidence,
        plain.places,
        plain.by_words,
        plain.by_meaning,
        plain.statistics,
        plain.floors,
    )
    assert numbers(chosen(reorder(alike, read_in([5, 2, 7, 0]))).hits)[:4] == [5, 2, 7, 0]


def test_literal_hit_among_the_best_keeps_a_place() -> None:
    """Chunks without a word fill the answer except for the best literal chunk, which was first before."""
    order = [8, 9, 10, 11, *range(1, WORDS), 0]
    selected = chosen(reorder(ranking(), read_in(order)))
    assert numbers(selected.hits)[0] == 8
    assert 0 in numbers(selected.hits)


def test_noise_is_reordered_among_noise_only() -> None:
    after = reorder(ranking(), read_in([15, 14, 13, 12, *range(12)]))
    assert after.noise == [15, 14, 13, 12]
    assert after.telling == list(range(12))


def test_min_score_is_compared_with_the_base_score() -> None:
    """What was left out stays out, and what the reading moved down stays in."""
    plain = ranking(min_score=0.25)
    left_in = [*plain.telling, *plain.noise]
    assert plain.refused
    after = reorder(plain, read_in(left_in[::-1]))
    settings = SearchSettings(HybridSection())
    selected = select(hits_of(after), 20, settings=settings, min_score=0.25, floors=after.floors, now=NOW)
    assert sorted(numbers(selected.hits)) == sorted(left_in)


def test_decay_applies_to_the_score_of_the_reading() -> None:
    after = reorder(ranking(), read_in([2, 1, 0]))
    fresh = chosen(after, DECAY)
    assert numbers(fresh.hits)[:3] == [2, 1, 0]
    aged = chosen(after, DECAY, dates={2: "2026-07-30"})
    (moved,) = [hit for hit in aged.hits if hit.chunk.id == 2] or [hit for hit in aged.misses if hit.chunk.id == 2]
    assert moved.score == pytest.approx(after.readings[2].score * moved.decay.factor)
    assert numbers(aged.hits)[0] == 1


def test_copies_fold_into_one() -> None:
    after = reorder(ranking(), read_in([4, 0]))
    settings = SearchSettings(HybridSection())
    hits = hits_of(after, text="the lease of the oak is in the drawer")
    selected = select(hits, LIMIT, settings=settings, floors=after.floors, now=NOW)
    assert len(selected.hits[0].copies) == WORDS - 1
