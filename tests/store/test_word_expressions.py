"""What FTS5 is asked: each word quoted, and an asterisk only where more may follow."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.words import phrase_words, query_terms
from memoryd.store.word_expressions import all_of, any_of, any_phrase, every_phrase, one_of

QUESTIONS = st.text(st.sampled_from('ab1 -"*():^+{}NEAR漢字屋\x00'), max_size=40)


@pytest.mark.parametrize(
    ("term", "expression"),
    [
        ("lease", '"lease"'),
        ("near", '"near"'),
        ("a828e60", '("a828e60" OR "a828e60"*)'),
        ("50032", '("50032" OR "50032"*)'),
        ("5003", '"5003"'),
        ("deadly", '"deadly"'),
        ("dead", '"dead"'),
        ("decade", '("decade" OR "decade"*)'),
        ("屋", '"屋"*'),
        ("木屋", '"木屋"'),
    ],
)
def test_term_may_go_on_if_it_is_a_code_or_a_single_sign(term: str, expression: str) -> None:
    assert one_of(term) == expression


def test_any_of_finds_terms_and_phrases_whose_last_word_may_go_on() -> None:
    assert any_of(["lease", "oak"], [("2026", "10")]) == '"lease" OR "oak" OR "2026 10"*'
    assert any_of([], [("海边", "屋")]) == '"海边 屋"*'
    assert any_of([]) == ""


def test_all_terms_are_looked_for_whole_and_begun() -> None:
    assert all_of(["lease", "oak"]) == ('"lease" AND "oak"',)
    assert all_of(["lease", "a828e60"]) == ('"lease" AND "a828e60"', '"lease" AND ("a828e60" OR "a828e60"*)')
    assert all_of(["a828e60"]) == ('"a828e60"', '("a828e60" OR "a828e60"*)')
    assert all_of(["lease"]) == all_of([]) == ()


def test_phrases_are_joined_by_what_they_are_for() -> None:
    phrases = [("second", "process"), ("屋",)]
    assert every_phrase(phrases) == '"second process" AND "屋"*'
    assert any_phrase(phrases) == '"second process" OR "屋"*'
    assert every_phrase([]) == any_phrase([]) == ""


@given(QUESTIONS)
def test_no_question_is_read_as_syntax(text: str) -> None:
    db = apsw.Connection("")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
    terms, phrase = query_terms(text), tuple(phrase_words(text)[:8])
    asked = [any_of(terms, [phrase]), *all_of(terms), every_phrase([phrase]), any_phrase([phrase])]
    for expression in filter(None, asked):
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get == 0
