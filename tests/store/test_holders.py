"""Which chunks contain which terms: chunks that are skipped without scoring cannot be among the best."""

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import parse_question
from memoryd.store.index import stems
from memoryd.store.index.documents import remove_files
from memoryd.store.index.schema import prepare_index
from memoryd.store.index.stems import BOUND, Chunks, Holders, ScoreBounds, bounds_of, intersection, is_among, union
from memoryd.store.index.words import CandidateFilter, best_matches
from tests.store.rows import put

NOW = datetime(2026, 11, 23, tzinfo=UTC)
RARITIES = (1, 1, 2, 3, 5, 8, 13, 21)
SPOKEN = ("gate", "lamp", "2019", "a828e60", "木屋", "屋", "2026-10", "7 May 2023")
"""Words of all kinds: plain, a number, a code, pairs and a single sign without spaces, a compound, a date."""
TEXTS = st.lists(st.sampled_from([word for word, share in zip(SPOKEN, RARITIES, strict=True) for _ in range(share)]))
QUESTIONS = st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=6).map(" ".join)
FILTERS = st.sampled_from(
    [
        CandidateFilter(),
        CandidateFilter(without_document=RelativePath("memory/3.md")),
        CandidateFilter(forbidden=(("lamp",),)),
        CandidateFilter(required=(("gate",),)),
        CandidateFilter(excluded=(1, 2, 3)),
        CandidateFilter(chunks=(4, 5, 6, 7, 8)),
    ]
)
IDS = st.sets(st.integers(1, 30))


@contextmanager
def index_of(texts: Sequence[str], removed: Sequence[int] = ()) -> Iterator[apsw.Connection]:
    """Yield an index with one note per text, after removing some of them."""
    with closing(apsw.Connection("")) as db:
        prepare_index(db)
        for number, text in enumerate(texts):
            put(db, f"memory/{number}.md", f"# Day\n\n{text} end\n")
        remove_files(db, [RelativePath(f"memory/{number}.md") for number in removed])
        yield db


def answer(db: apsw.Connection, question: str, limit: int, admitted: CandidateFilter, *, many: float) -> LexicalMatches:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stems, "MANY", many)
        if many == math.inf:
            patch.setattr(ScoreBounds, "of_level", lambda *_: None)
        return best_matches(db, parse_question(question, Filters(), NOW), limit, admitted)


@given(
    st.lists(TEXTS.map(" ".join), min_size=4, max_size=40),
    QUESTIONS,
    st.integers(1, 6),
    FILTERS,
    st.sets(st.integers(0, 9)),
)
def test_best_matches_equal_those_of_full_scoring(
    texts: list[str], question: str, limit: int, admitted: CandidateFilter, removed: set[int]
) -> None:
    with index_of(texts, sorted(removed)) as db:
        of_all = answer(db, question, limit, admitted, many=math.inf)
        found = answer(db, question, limit, admitted, many=0)
        assert (list(found.bm25.items()), found.levels) == (list(of_all.bm25.items()), of_all.levels)


def test_note_titled_with_common_word_is_among_the_best() -> None:
    chance = random.Random(1)
    spread = {
        word: set(chance.sample(range(430), count)) for word, count in (("garage", 30), ("wifi", 8), ("opener", 62))
    }
    plain = "work and rest and a walk along the river for an hour or more with a friend of ours in the sun and the wind"
    texts = [" ".join([plain, *(word for word in spread if at in spread[word])]) for at in range(430)]
    with index_of(texts) as db:
        put(db, "memory/garage.md", "# Garage\n\nGarage code 4711.\n")
        question = "which opener and wifi are in the garage"
        of_all, found = (answer(db, question, 8, CandidateFilter(), many=many) for many in (math.inf, 0))
        assert list(found.bm25.items()) == list(of_all.bm25.items())


def test_levels_count_prefixes_and_date_spellings() -> None:
    with index_of(["a828e60 oak", "a828e60ff oak", "oak", "2023-05-07 oak", "7 may 2023 oak"]) as db:
        assert answer(db, "oak a828e60", 9, CandidateFilter(), many=0).levels == {1: 2, 2: 1}
        assert answer(db, "a828e60", 9, CandidateFilter(), many=0).levels == {1: 2, 2: 1}
        assert answer(db, "oak 7 May 2023", 9, CandidateFilter(), many=0).levels == {4: 1, 5: 1}
        assert answer(db, "oak", 9, CandidateFilter(), many=0).levels == {}


def test_known_expressions_are_not_queried_again() -> None:
    with index_of(["gate lamp", "lamp"]) as db:
        known = Holders()
        assert [chunks.tolist() for chunks in known.of(db, ['"gate"', '"lamp"', '"nowhere"'])] == [[1], [1, 2], []]
        size = known.size
        put(db, "memory/more.md", "# Day\n\ngate\n")
        assert known.of_any(db, '("gate" OR "lamp")', ()).tolist() == [1, 2]
        assert known.of(db, ['"gate"'])[0].tolist() == [1]
        assert size < known.size == known.size
        assert Holders().of(db, ['"gate"'])[0].tolist() == [1, 3]


@given(IDS, IDS, IDS)
def test_chunk_lists_combine_like_sets(one: set[int], two: set[int], three: set[int]) -> None:
    lists: list[Chunks] = [np.array(sorted(ids), np.int32) for ids in (one, two, three)]
    assert union(lists).tolist() == sorted(one | two | three)
    assert intersection(lists).tolist() == sorted(one & two & three)
    assert is_among(lists[0], lists[1]).tolist() == [chunk in two for chunk in sorted(one)]


def held_by(*counts: int) -> list[Chunks]:
    """Return lists of the first chunks, of the given lengths."""
    return [np.arange(1, 1 + count, dtype=np.int32) for count in counts]


def test_chunks_with_only_a_common_word_are_not_scored() -> None:
    known = bounds_of(held_by(40, 15_000, 30_000), [], 100_000)
    common, usual = (float(known.rarities[known.chunks == chunk][0]) for chunk in (30_000, 15_000))
    assert known.chunks[known.reaching(BOUND * usual)].tolist() == list(range(1, 15_001))
    assert known.chunks[known.reaching(BOUND * usual + 0.1)].tolist() == list(range(1, 41))
    assert np.count_nonzero(known.reaching(BOUND * common)) == 30_000, "all of them are scored"


def test_repeated_phrase_counts_twice() -> None:
    once, twice = (bounds_of(held_by(5) * times, [], 100).rarities[1] for times in (1, 2))
    assert twice == 2 * once


def test_guessed_score_follows_terms_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stems, "MANY", 0)
    known = bounds_of(held_by(10, 100), [], 1_000)
    assert [known.guessed_score(limit) for limit in (10, 11, 99, 100)] == [*known.rarities[[9, 10, 98]], 0.0]


def test_only_chunks_with_all_terms_are_scored_if_enough() -> None:
    known = bounds_of(held_by(10, 100), held_by(10, 50), 1_000)
    found = [known.of_level(limit) for limit in (10, 11, 50, 51)]
    assert [None if one is None else np.count_nonzero(one) for one in found] == [10, 50, 50, None]
    assert known.marks(known.reaching(0))[:12] == b"033333333332"
