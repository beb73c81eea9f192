"""FTS5 expressions: each word quoted, and an asterisk only for prefixes."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.dates import dates_in
from memoryd.domain.text.words import phrase_words, query_terms
from memoryd.store.index.words import all_phrases, any_phrase, term_expression
from tests.unit.domain.text.test_words import any_of

DAY, DAY_OF_ANY_YEAR, MONTH = dates_in("7 May 2023 or 4 May or May 2023")
IN_MAY = '"may 2023" OR "2023 年 5 月"*'
PIECES = st.sampled_from(['ab1 -"*():^+{}NEAR漢字屋\x00', "7 May 2023 ", "5月4号", "2023-05-07", " May 2023"])
QUESTIONS = st.lists(PIECES.flatmap(lambda piece: st.just(piece) | st.text(piece, max_size=12)), max_size=8).map(
    "".join
)


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
def test_codes_and_single_signs_match_as_prefixes(term: str, expression: str) -> None:
    assert term_expression(term) == expression


def test_any_of_joins_terms_and_prefix_phrases() -> None:
    assert any_of(["lease", "oak"], [("2026", "10")]) == '"lease" OR "oak" OR "2026 10"*'
    assert any_of([], [("海边", "屋")]) == '"海边 屋"*'
    assert any_of([]) == ""


def test_years_count_twice_and_codes_no_more() -> None:
    assert any_of(["lease", "2019", "500", "12"]) == '"lease" OR "2019" OR "2019" OR "500" OR "500" OR "12"'
    assert any_of(["50032"]) == '"50032" OR "50032"*'


def test_day_counts_three_times_in_names_and_once_in_texts() -> None:
    day = '"2023 05 07" OR "2023 5 7" OR "20230507"'
    sentence = '"may 7 2023" OR "7 may 2023" OR "2023 年 5 月 7"'
    assert any_of([], [], [DAY]) == f"{day} OR {day} OR {day} OR {sentence}"
    assert any_of([], [], [MONTH]) == f'"2023 05" OR {IN_MAY}'
    named, sentence = '{heading path} : "05 04"', '"may 4" OR "4 may" OR "5 月 4"'
    assert any_of([], [], [DAY_OF_ANY_YEAR]) == f'"05 04" OR {named} OR {named} OR {sentence}'


def test_numbers_of_a_date_are_left_to_the_date() -> None:
    assert any_of(["7", "may", "2023", "lake"], [], [DAY]).startswith(
        '"may" OR "2023" OR "2023" OR "lake" OR "2023 05 '
    )


def test_word_of_a_date_also_matches_the_date() -> None:
    assert term_expression("may", [MONTH]) == f'("may" OR (("2023 05") OR {IN_MAY}))'
    assert term_expression("dentist", [MONTH]) == '"dentist"'


def test_phrases_are_joined_with_and_or_or() -> None:
    phrases = [("second", "process"), ("屋",)]
    assert all_phrases(phrases) == '"second process" AND "屋"*'
    assert any_phrase(phrases) == '"second process" OR "屋"*'
    assert all_phrases([]) == any_phrase([]) == ""


@given(QUESTIONS)
def test_no_question_is_read_as_syntax(text: str) -> None:
    db = apsw.Connection("")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(body, heading, path)")
    terms, phrase, dates = query_terms(text), tuple(phrase_words(text)[:8]), dates_in(text)
    asked = [any_of(terms, [phrase], dates), all_phrases([phrase]), any_phrase([phrase])]
    asked += [term_expression(term, dates) for term in terms]
    for expression in filter(None, asked):
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get == 0
