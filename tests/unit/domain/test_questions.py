from datetime import UTC, datetime, timedelta

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.filters import Filters
from memoryd.domain.questions import Question, parse_question

NOW = datetime(2026, 10, 18, 12, tzinfo=UTC)
NOISE = st.text(st.sampled_from('ab -"“”:*path:since:30d until source:memory\x00漢字()'), max_size=60)


def asked(text: str, filters: Filters | None = None) -> Question:
    return parse_question(text, filters or Filters(), NOW)


def test_everything_at_once() -> None:
    question = asked('path:memory/2026* since:30d "second process" lease -backup')
    assert question.text == "second process lease"
    assert question.terms == ("second", "process", "lease")
    assert question.phrases == ("second process",)
    assert question.excluded == ("backup",)
    assert question.filters.within == (("memory/2026*",),)
    assert question.filters.since == NOW - timedelta(days=30)


@pytest.mark.parametrize(
    "text",
    [
        "what does ls -l do",
        "it was -5 degrees",
        "see http://path:80",
        "since:soon path: until:never",
        'a 5" screen',
        "well-known mother-in-law",
        'say "" nothing',
        "re:path:x note:this",
        "git push --force-with-lease",
    ],
)
def test_what_only_looks_like_a_filter_is_a_word(text: str) -> None:
    question = asked(text)
    assert question.text == text
    assert not question.is_narrowed
    assert question.filters.is_empty


def test_minus_counts_only_beside_something_to_look_for() -> None:
    assert asked("-backup").terms == ("backup",)
    assert asked("-backup").excluded == ()
    assert asked("会议 -周末").excluded == ("周末",)


@pytest.mark.parametrize("text", ['who wrote "The Mayor"', 'notes on "The Mayor"?', "“市长”是什么？"])
def test_quotes_in_a_sentence_exclude_nothing(text: str) -> None:
    assert asked(text).phrases == ()
    assert not asked(text).is_narrowed


def test_quotes_in_a_sentence_are_looked_for_as_they_stand() -> None:
    assert ("the", "mayor") in asked('who wrote "The Mayor"').joined


def test_filters_of_both_kinds_must_hold() -> None:
    question = asked(
        "x path:bank path:memory/a* since:2026-01-01 source:memory",
        Filters(paths=("memory",), since=NOW, sources=("memory", "sessions")),
    )
    assert question.filters.since == NOW
    assert question.filters.sources == ("memory",)
    assert question.filters.admits("memory/a.md", "memory", int(NOW.timestamp() * 1e9) + 1)
    assert not question.filters.admits("bank/a.md", "memory", int(NOW.timestamp() * 1e9) + 1)
    assert not question.filters.admits("memory/b.md", "memory", int(NOW.timestamp() * 1e9) + 1)


def test_sources_that_exclude_each_other_admit_nothing() -> None:
    question = asked("x source:memory", Filters(sources=("sessions",)))
    assert not question.filters.is_empty
    assert not any(question.filters.admits("memory/a.md", source, 0) for source in ("memory", "sessions"))


def test_until_is_the_end_of_its_day() -> None:
    until = asked("x until:2026-10-01").filters.until
    assert until is not None
    assert until.hour == 23


@pytest.mark.parametrize(
    ("text", "is_admitted"),
    [
        ("A Second\n  process took it", True),
        ("a second-process", False),
        ("process second", False),
        ("a sécond process", True),
    ],
)
def test_phrase_is_exact_but_for_case_accents_and_line_breaks(text: str, is_admitted: bool) -> None:
    assert asked('"second process"').admits([text]) == is_admitted


def test_excluded_word_is_a_whole_word() -> None:
    question = asked("lease -back")
    assert question.allows(["a lease with a backup"])
    assert not question.allows(["a lease, Back to back"])


@given(NOISE)
def test_any_text_is_a_question_whose_expressions_are_valid(text: str) -> None:
    question = asked(text)
    db = apsw.Connection("")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
    for expression in (question.expression, question.required, question.forbidden):
        if expression:
            assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get == 0
    assert question.admits([question.text]) or "\0" in text or question.phrases
