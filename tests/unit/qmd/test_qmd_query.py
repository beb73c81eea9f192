"""Questions translated into the query language of qmd."""

from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.text.words import query_terms
from memoryd.qmd.query import MAX_SEARCHES, QmdMode, QmdQuestion, SubQuery, document, sub_queries

NOW = datetime(2026, 10, 18, tzinfo=UTC)


def asked_of(mode: QmdMode, text: str) -> list[str]:
    question = parse_question(text, Filters(), NOW)
    return [sub_query.query for sub_query in sub_queries(mode, question, query_terms(question.text))]


def test_words_are_searched_together_and_then_each_alone() -> None:
    asked = sub_queries("search", Question("which port does the gateway use"), ("port", "gateway", "use"))
    assert asked == (
        SubQuery("lex", "port gateway use"),
        SubQuery("lex", "gateway"),
        SubQuery("lex", "port"),
        SubQuery("lex", "use"),
    )


def test_one_word_is_searched_once() -> None:
    assert sub_queries("search", Question("lease"), ("lease",)) == (SubQuery("lex", "lease"),)


def test_phrases_are_in_every_line_and_exclusions_in_all_but_the_last() -> None:
    assert asked_of("search", 'port "GW-4172" -old_gateway') == [
        'port gw 4172 "GW 4172" -"old gateway"',
        'port "GW 4172" -"old gateway"',
        '4172 "GW 4172" -"old gateway"',
        'gw "GW 4172" -"old gateway"',
        'port gw 4172 "GW 4172"',
    ]
    assert asked_of("search", "port -gateway") == ['port -"gateway"', "port"]
    assert asked_of("vsearch", "port -gateway") == ["port"]


def test_modes_search_by_words_by_meaning_or_by_both() -> None:
    assert sub_queries("vsearch", Question("who  repaired\nthe roof"), ("repaired",)) == (
        SubQuery("vec", "who repaired the roof"),
    )
    kinds = [sub_query.type for sub_query in sub_queries("query", Question("roof lease"), ("roof", "lease"))]
    assert kinds == ["lex", "lex", "lex", "vec"]


def test_question_without_words_has_no_sub_queries() -> None:
    assert sub_queries("search", Question("?!"), ()) == ()
    assert sub_queries("vsearch", Question(" \0 "), ()) == ()


def test_document_has_one_line_for_each_part() -> None:
    assert document((SubQuery("lex", "a b"), SubQuery("vec", "a b?"))) == "lex: a b\nvec: a b?"


@given(st.text(max_size=200))
def test_question_cannot_inject_syntax_or_lines(text: str) -> None:
    for mode in ("search", "vsearch", "query"):
        asked = sub_queries(mode, Question(text), query_terms(text))
        assert len(asked) <= MAX_SEARCHES
        assert len(document(asked).split("\n")) == max(1, len(asked))
        assert not [sub_query for sub_query in asked if sub_query.type == "lex" and set(sub_query.query) & set('"-\0')]


@given(st.text(max_size=200))
def test_phrase_cannot_break_the_syntax_of_a_line(text: str) -> None:
    question = Question("heron", phrases=(text,), excluded=(text,))
    for sub_query in sub_queries("search", question, ("heron",)):
        assert sub_query.query.count('"') % 2 == 0
        assert len(sub_query.query.splitlines()) == 1


def test_question_searches_all_collections_in_one_ranking() -> None:
    arguments = QmdQuestion((SubQuery("lex", "lease"), SubQuery("vec", "who holds it")), 7).tool_arguments()
    assert arguments == {
        "searches": [{"type": "lex", "query": "lease"}, {"type": "vec", "query": "who holds it"}],
        "collections": [],
        "limit": 7,
        "candidateLimit": 7,
        "minScore": 0,
        "rerank": False,
    }
    reranked = QmdQuestion((SubQuery("lex", "lease"),), 7, is_reranked=True).tool_arguments()
    assert "candidateLimit" not in reranked
    assert reranked["rerank"] is True


@pytest.mark.parametrize(
    ("is_reranked", "options"), [(False, [("--no-rerank", "-C", "7", "-n", "7"), ("-n", "7")]), (True, [("-n", "7")])]
)
def test_command_lines_end_with_the_fewest_options(is_reranked: bool, options: list[tuple[str, ...]]) -> None:
    question = QmdQuestion((SubQuery("lex", "lease"), SubQuery("lex", "-n 9")), 7, is_reranked)
    rest = ("-c", "notes", "-c", "docs", "--", "lex: lease\nlex: -n 9")
    assert question.command_lines(["notes", "docs"]) == tuple(("query", "--json", *chosen, *rest) for chosen in options)


@pytest.mark.parametrize(
    ("type_", "is_reranked", "needs_models"), [("lex", False, False), ("lex", True, True), ("vec", False, True)]
)
def test_search_by_words_needs_no_model(type_: Literal["lex", "vec"], is_reranked: bool, needs_models: bool) -> None:
    assert QmdQuestion((SubQuery(type_, "lease"),), 1, is_reranked).needs_models is needs_models
