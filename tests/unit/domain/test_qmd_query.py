"""Questions in the words of qmd."""

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.qmd_query import MAX_SEARCHES, SubQuery, document, sub_queries
from memoryd.domain.words import query_terms


def test_words_are_asked_together_and_then_each_alone() -> None:
    asked = sub_queries("search", "which port does the gateway use", ("port", "gateway", "use"))
    assert asked == (
        SubQuery("lex", "port gateway use"),
        SubQuery("lex", "gateway"),
        SubQuery("lex", "port"),
        SubQuery("lex", "use"),
    )


def test_one_word_is_asked_once() -> None:
    assert sub_queries("search", "lease", ("lease",)) == (SubQuery("lex", "lease"),)


def test_modes_ask_by_words_by_meaning_and_by_both() -> None:
    assert sub_queries("vsearch", "who  repaired\nthe roof", ("repaired",)) == (
        SubQuery("vec", "who repaired the roof"),
    )
    kinds = [one.type for one in sub_queries("query", "roof lease", ("roof", "lease"))]
    assert kinds == ["lex", "lex", "lex", "vec"]


def test_question_without_words_asks_nothing() -> None:
    assert sub_queries("search", "?!", ()) == ()
    assert sub_queries("vsearch", " \0 ", ()) == ()


def test_document_has_one_line_for_each_part() -> None:
    assert document((SubQuery("lex", "a b"), SubQuery("vec", "a b?"))) == "lex: a b\nvec: a b?"


@given(st.text(max_size=200))
def test_no_question_smuggles_in_syntax_or_lines(text: str) -> None:
    for mode in ("search", "vsearch", "query"):
        asked = sub_queries(mode, text, query_terms(text))
        assert len(asked) <= MAX_SEARCHES
        assert len(document(asked).split("\n")) == max(1, len(asked))
        assert not [one for one in asked if one.type == "lex" and set(one.query) & set('"-\0')]
