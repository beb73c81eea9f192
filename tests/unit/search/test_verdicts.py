"""Verdicts on hits and answers, and their reasons."""

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.calibration import Thresholds, Verdict, idf
from memoryd.domain.ranking.fusion import Noise
from memoryd.search.hits import Hit, best_verdict
from memoryd.search.protocol import (
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    Freshness,
    Query,
    SearchResult,
    why_no_better,
    why_no_notes,
    with_verdicts,
)
from memoryd.store.index.passages import ChunkRow

IDF = idf(100, {"lease": 2, "birch": 8, "oak": 40, "day": 60})
FLOORS = Thresholds(IDF, Noise(0.0, 0.1), vectors=100, share=0.2, deviations=2.0, vector_floor=3.0, clear_floor=4.3)
HIT = Hit(chunk=ChunkRow(1, RelativePath("a.md"), Source.MEMORY, 1, 2, "", "text"), base_score=0.5, score=0.5)
WORD = replace(HIT, terms=("lease",))


@pytest.mark.parametrize(
    ("terms", "cosine", "verdict"),
    [
        ({"lease", "oak"}, None, Verdict.ANSWERABLE),
        ({"birch"}, None, Verdict.WEAK),
        ({"birch"}, 0.1, Verdict.WEAK),
        ({"oak"}, 0.29, Verdict.NONE),
        ({"oak"}, 0.31, Verdict.WEAK),
        ({"oak", "birch"}, None, Verdict.WEAK),
        ({"day"}, None, Verdict.NONE),
        ({"day"}, 0.29, Verdict.NONE),
        ({"day"}, 0.31, Verdict.WEAK),
        (set[str](), 0.44, Verdict.ANSWERABLE),
        (set[str](), 0.31, Verdict.WEAK),
        (set[str](), 0.29, Verdict.NONE),
        (set[str](), -0.5, Verdict.NONE),
    ],
)
def test_verdict_depends_on_words_and_cosine(terms: set[str], cosine: float | None, verdict: Verdict) -> None:
    assert FLOORS.verdict(terms, cosine, is_literal=bool(terms)) is verdict


def test_word_that_is_only_part_of_a_name_is_weak() -> None:
    """The lexical arm found it, but it is not counted as a whole word."""
    assert FLOORS.verdict((), None, is_literal=True) is Verdict.WEAK


def test_few_words_are_weak_without_vectors() -> None:
    alone = replace(FLOORS, deviations=None)
    assert alone.verdict({"oak"}, None, is_literal=True) is Verdict.WEAK
    assert replace(alone, idf=idf(100, {"lease": 2, "day": 90})).verdict({"day"}, None, is_literal=True) is Verdict.NONE


def test_word_in_all_of_a_few_notes_is_distinctive() -> None:
    assert idf(3, {"boiler": 3}).has_share({"boiler"})
    assert not idf(300, {"boiler": 300}).has_share({"boiler"})
    assert not idf(3, {"boiler": 3}).has_share(())


def test_verdict_of_an_answer_is_that_of_its_best_hit() -> None:
    hits = [replace(HIT, verdict=verdict) for verdict in (Verdict.NONE, Verdict.WEAK, Verdict.ANSWERABLE)]
    assert best_verdict(hits) is Verdict.ANSWERABLE
    assert best_verdict(hits[:2]) is Verdict.WEAK
    assert best_verdict(hits[:1]) is Verdict.NONE
    assert best_verdict([HIT]) is best_verdict([]) is None


def test_without_statistics_literal_leading_hits_are_answerable() -> None:
    given = with_verdicts([HIT, WORD, HIT, WORD, replace(WORD, verdict=Verdict.NONE)], leading=3)
    assert [hit.verdict for hit in given] == ["weak", "answerable", "weak", "weak", "none"]
    assert [hit.verdict for hit in with_verdicts([WORD, HIT], leading=0)] == ["weak", "weak"]


def test_reason_fits_the_verdict() -> None:
    weak, none = replace(HIT, verdict=Verdict.WEAK), replace(HIT, verdict=Verdict.NONE)
    assert why_no_better([none, replace(HIT, verdict=Verdict.ANSWERABLE)], FLOORS) == ""
    assert why_no_better([none, weak], FLOORS) == FLOORS.why_weak
    assert why_no_better([none], FLOORS) == FLOORS.why_empty
    assert "2.0 deviations above the mean" in FLOORS.why_empty
    assert "none of the first 3 hits" in why_no_better([weak], None)
    assert why_no_better([none], None)
    assert why_no_better([], FLOORS) == ""


def test_reason_distinguishes_few_words_from_none() -> None:
    few = FLOORS.why_none(("oak",), 0.1)
    assert few.startswith("it holds only ")
    assert few.endswith(
        "(enough is 30%), and its meaning is within the noise: 1.0 deviations above the mean, "
        "where the best of unrelated notes reaches 3.0"
    )
    for words in ((), ("day",)):
        assert FLOORS.why_none(words, None) == "it contains no distinctive word of the question"
    assert FLOORS.why_empty.startswith("the best hit holds only 20% of what the question's words weigh")
    assert replace(FLOORS, share=0.0).why_empty.startswith("no hit holds a telling word of the question")
    # no word of this question is distinctive
    usual = replace(FLOORS, idf=idf(100, {"day": 90}), share=1.0)
    assert "no distinctive word" in usual.why_none(("day",), None)
    assert "no hit holds a telling word" in usual.why_empty


@pytest.mark.parametrize(
    ("freshness", "told"),
    [
        (Freshness(pending_files=1), "still indexing: 1 file is not read yet"),
        (Freshness(pending_files=1200), "still indexing: 1,200 files are not read yet"),
        (Freshness(pending_files=1, hold="no rules"), "1 file is held back: no rules"),
    ],
)
def test_files_that_are_not_read_yet_are_told_as_one_or_several(freshness: Freshness, told: str) -> None:
    arms = {LEXICAL: Arm(ArmState.OK), VECTOR: Arm(ArmState.OK)}
    assert why_no_notes(SearchResult((), (), arms, ()), freshness, Query("boiler")) == told
