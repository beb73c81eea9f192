import unicodedata

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.words import identifier_parts, index_text, match_expression, query_terms

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"


def finds(question: str, text: str) -> bool:
    """Ask the tokenizer of the real index, in a database in memory."""
    db = apsw.Connection("")
    db.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize="{TOKENIZER}")')
    db.execute("INSERT INTO words VALUES (?)", (f"{index_text(text)} {identifier_parts(text)}",))
    terms = query_terms(question)
    if not terms:
        return False
    return bool(db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (match_expression(terms),)).get)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("GW-4172", "Error GW-4172 means a second process."),
        ("gw 4172", "Error GW-4172 means a second process."),
        ("résumé", "Her resume is in the drawer."),
        ("resume", "Her résumé is in the drawer."),
        ("maxResults", "Set query.maxResults to 6."),
        ("results", "Set query.maxResults to 6."),
        ("海边", "今天和文一起去海边的木屋"),
        ("木屋在哪里", "今天和文一起去海边的木屋"),
        ("屋", "一 屋 二"),
        ("ひらがな", "これはひらがなです"),
        ("회의", "오늘 회의가 있다"),
        ("who is the", "who is the"),
        ("10.0.0.7", "The printer is at 10.0.0.7 now."),
        ("naïve", "a naive plan"),
        ("Ελλάδα", "στην Ελλάδα"),
        ("снег", "выпал снег"),
    ],
)
def test_what_is_written_is_found(question: str, text: str) -> None:
    assert finds(question, text)


@pytest.mark.parametrize("question", ["résumé", "Ångström", "회의"])
def test_decomposed_spelling_finds_the_composed_one_and_back(question: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", question), unicodedata.normalize("NFD", question)
    assert finds(decomposed, f"about {composed} today")
    assert finds(composed, f"about {decomposed} today")


@given(st.text(max_size=200))
def test_any_question_is_a_valid_expression(question: str) -> None:
    finds(question, "some text")


@given(st.text(max_size=400), st.integers(1, 10))
def test_terms_are_distinct_bounded_and_hold_no_syntax(question: str, limit: int) -> None:
    terms = query_terms(question, limit=limit)
    assert len(terms) <= limit
    assert len(set(terms)) == len(terms)
    assert not any(set('"*():^- \0') & set(term) for term in terms)


@given(st.text(st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x24F), min_size=1, max_size=20))
def test_a_word_finds_itself(word: str) -> None:
    assert finds(word, f"before {word} after")


def test_long_compound_is_no_long_phrase() -> None:
    """A quoted token that falls into n words costs n milliseconds a note."""
    expression = match_expression(query_terms("a1-" * 1000 + "z"))
    assert all(" " not in term for term in expression.replace('"', "").split(" OR "))


def test_stop_words_are_left_out_unless_nothing_else_is_asked() -> None:
    assert query_terms("where is the lease") == ["lease"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_nul_does_not_hide_what_follows() -> None:
    assert finds("lease", "before\0lease")
