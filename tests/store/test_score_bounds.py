"""Questions of a large word index: what they do not weigh cannot be among the best."""

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import parse_question
from memoryd.store.index import words
from memoryd.store.index.documents import remove_files
from memoryd.store.index.schema import prepare_index
from memoryd.store.index.stems import BOUND, ScoreBounds, bounds_of
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


@contextmanager
def index_of(texts: Sequence[str], removed: Sequence[int] = ()) -> Iterator[apsw.Connection]:
    """Yield an index of one note a text, of which some were removed again."""
    with closing(apsw.Connection("")) as db:
        prepare_index(db)
        for number, text in enumerate(texts):
            put(db, f"memory/{number}.md", f"# Day\n\n{text} end\n")
        remove_files(db, [RelativePath(f"memory/{number}.md") for number in removed])
        yield db


def answer(
    db: apsw.Connection, question: str, limit: int, admitted: CandidateFilter, *, is_large: bool
) -> LexicalMatches:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "LARGE", 0 if is_large else math.inf)
        patch.setattr(words, "MANY", 0)
        return best_matches(db, parse_question(question, Filters(), NOW), limit, admitted, {})


@given(
    st.lists(TEXTS.map(" ".join), min_size=4, max_size=40),
    QUESTIONS,
    st.integers(1, 6),
    FILTERS,
    st.sets(st.integers(0, 9)),
)
def test_the_best_are_those_of_all(
    texts: list[str], question: str, limit: int, admitted: CandidateFilter, removed: set[int]
) -> None:
    with index_of(texts, sorted(removed)) as db:
        of_all = answer(db, question, limit, admitted, is_large=False)
        found = answer(db, question, limit, admitted, is_large=True)
        assert (list(found.bm25.items()), found.levels) == (list(of_all.bm25.items()), of_all.levels)


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), min_size=1, max_size=30), st.floats(0.01, 20))
def test_whatever_can_reach_a_score_is_found(chunks: list[set[str]], score: float) -> None:
    with closing(apsw.Connection("")) as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
        db.executemany("INSERT INTO words VALUES (?)", [(" ".join(sorted(chunk)),) for chunk in chunks])
        holders = {f'"{word}"': sum(word in chunk for chunk in chunks) for word in "abcdefgh"}
        known = bounds_of([*holders, '"a"'], holders, len(chunks))
        if expression := known.reaching(score):
            found = {row[0] for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,))}
            weights = [sum(known.weights[f'"{word}"'] for word in chunk) for chunk in chunks]
            assert {at for at, weight in enumerate(weights, 1) if BOUND * weight >= score} <= found


def test_note_that_is_titled_by_a_common_word_is_among_the_best() -> None:
    chance = random.Random(1)
    holders = {
        word: set(chance.sample(range(430), count)) for word, count in (("garage", 30), ("wifi", 8), ("opener", 62))
    }
    plain = "work and rest and a walk along the river for an hour or more with a friend of ours in the sun and the wind"
    texts = [" ".join([plain, *(word for word in holders if at in holders[word])]) for at in range(430)]
    with index_of(texts) as db:
        put(db, "memory/garage.md", "# Garage\n\nGarage code 4711.\n")
        question = "which opener and wifi are in the garage"
        of_all, found = (answer(db, question, 8, CandidateFilter(), is_large=large) for large in (False, True))
        assert list(found.bm25.items()) == list(of_all.bm25.items())


def test_common_word_alone_is_not_weighed() -> None:
    holders = {'"rare"': 40, '"usual"': 20_000, '"common"': 30_000}
    known = bounds_of(['"common"', '"rare"', '"usual"', '"nowhere"'], {**holders, '"nowhere"': 0}, 100_000)
    assert list(known.weights) == list(holders), "the most telling first"
    rare, usual, common = known.weights.values()
    assert known.reaching(BOUND * (usual + common)) == '"rare" OR ("usual" AND ("common"))'
    assert known.reaching(BOUND * (usual + common) + 0.1) == '"rare"'
    assert known.reaching(BOUND * rare + 0.1) == '("rare" AND ("usual" OR "common"))'
    assert known.reaching(BOUND * common) == "", "all of them would be weighed"


def test_phrase_that_is_given_twice_counts_twice() -> None:
    once, twice = (bounds_of(['"2019"'] * times, {'"2019"': 5}, 100).weights['"2019"'] for times in (1, 2))
    assert twice == 2 * once


def test_score_is_guessed_by_how_many_chunks_hold_phrases_together() -> None:
    known = ScoreBounds({'"a"': 5.0, '"b"': 3.0, '"c"': 2.0}, {'"a"': 10, '"b"': 100, '"c"': 500}, 1_000)
    assert [known.guessed_score(limit) for limit in (1, 10, 50, 100, 300, 5_000)] == [8.0, 5.0, 5.0, 3.0, 2.0, 0.0]


def test_many_phrases_make_no_long_expression() -> None:
    holders = {f'"{number}"': 50 for number in range(64)}
    known = bounds_of(list(holders), holders, 100_000)
    assert len(known.reaching(3 * BOUND * known.weights['"1"']).split('"')) < 1_000
