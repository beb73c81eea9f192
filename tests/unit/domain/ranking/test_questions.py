from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import index_text
from memoryd.store.index.words import all_phrases, any_phrase
from tests.unit.domain.text.test_words import any_of, indexed

NOW = datetime(2026, 10, 18, 12, tzinfo=UTC)
NOISE = st.text(st.sampled_from('ab -"“”:*path:since:30d until source:memory\x00漢字()'), max_size=60)


def parsed(text: str, filters: Filters | None = None) -> Question:
    return parse_question(text, filters or Filters(), NOW)


def test_question_with_all_kinds_of_parts_parses() -> None:
    question = parsed('path:memory/2026* since:30d "second process" lease -backup')
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
def test_text_that_resembles_a_filter_stays_text(text: str) -> None:
    question = parsed(text)
    assert question.text == text
    assert not question.is_narrowed
    assert question.filters.is_empty


def test_minus_excludes_only_beside_a_searched_word() -> None:
    assert parsed("-backup").terms == ("backup",)
    assert parsed("-backup").excluded == ()
    assert parsed("会议 -周末").excluded == ("周末",)


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ('lease -"one two"', "one two"),
        ("lease -\u201cone two\u201d", "one two"),
        ('会议 -"星期六"', "星期六"),
        ('lease -"the mayor of it"', "the mayor of it"),
        ('lease -"GW-4172"', "GW-4172"),
    ],
)
def test_quotes_after_minus_exclude_and_are_not_required(text: str, excluded: str) -> None:
    question = parsed(text)
    assert (question.excluded, question.phrases, question.joined) == ((excluded,), (), ())
    assert question.text == text.split()[0]
    assert not question.fits([f"so {excluded} it is"])
    assert question.fits(["one of two, the 会议"])


@pytest.mark.parametrize("text", ['what is -"one two"', 'lease -"one two"?', f'lease -"{"w1 " * 17}"', 'lease -""'])
def test_quotes_after_minus_are_text_in_a_sentence_or_beyond_limits(text: str) -> None:
    question = parsed(text)
    assert question.text == text
    assert not question.is_narrowed


def test_quotes_after_a_minus_alone_are_searched() -> None:
    assert parsed('-"oak elm"').terms == ("oak", "elm")
    assert not parsed('-"oak elm"').is_narrowed


@pytest.mark.parametrize("text", ['who wrote "The Mayor"', 'notes on "The Mayor"?', "“市长”是什么？"])
def test_quotes_in_a_sentence_require_nothing(text: str) -> None:
    assert parsed(text).phrases == ()
    assert not parsed(text).is_narrowed


def test_quotes_in_a_sentence_are_searched_as_phrase() -> None:
    assert ("the", "mayor") in parsed('who wrote "The Mayor"').joined


@pytest.mark.parametrize("text", ["what does rsync -archive do", "rsync -archive?", "会议在哪里？ -周末"])
def test_minus_in_a_sentence_is_text(text: str) -> None:
    assert parsed(text).excluded == ()
    assert parsed(text).text == text


def test_quotes_and_filters_do_not_make_a_sentence() -> None:
    question = parsed('"who is the mayor?" path:the/of -lease')
    assert (question.phrases, question.excluded) == (("who is the mayor?",), ("lease",))


def test_phrases_and_exclusions_beyond_limit_stay_text() -> None:
    question = parse_question(" ".join(f'"ab{n} cd{n}" -word{n}' for n in range(9)), Filters(), NOW, limit=4)
    assert (len(question.phrases), len(question.excluded)) == (4, 4)
    assert "ab8 cd8" in question.text
    assert "-word8" in question.text
    assert parsed(f"lease -{'漢字' * 50}").excluded == ()


def test_long_phrase_is_cut_in_index_query_but_required_in_full() -> None:
    words = [f"w{number % 3}" for number in range(300)]
    question = parsed(f'"{" ".join(words)}"')
    assert len(all_phrases(question.required).split()) <= 8
    assert question.has_phrases([f"so {' '.join(words)} it is"])
    assert not question.has_phrases([" ".join(words[:-1])])


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("大会 周末", "下次大会 周末再说"),
        ("海边 cabin", "我们去海边 cabin 里住"),
        ("GPU服务器", "新的GPU服务器很贵"),
        ("アリ・バス", "アリ・バス停"),
        ("error: disk", "an Error: disk full"),
        ("屋", "海边的木屋在那里"),
        ("2.5", "version 2.5 it is"),
        ("ﬁle ①", "the file 1 is lost"),
        ("max_results", "set max_results to 6"),
        ("naïve plan", "a NAIVE\n  plan"),
        ("市长 的", "新 市长 的 家"),
    ],
)
def test_phrase_is_found_by_keyword_index(phrase: str, text: str) -> None:
    question = parsed(f'"{phrase}"')
    db = indexed(index_text(text))
    assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (all_phrases(question.required),)).get == 1
    assert question.has_phrases([text])


def test_filters_in_text_and_arguments_both_apply() -> None:
    question = parsed(
        "x path:bank path:memory/a* since:2026-01-01 source:memory",
        Filters(paths=("memory",), since=NOW, sources=("memory", "sessions")),
    )
    assert question.filters.since == NOW
    assert question.filters.sources == ("memory",)
    assert question.filters.admits("memory/a.md", "memory", int(NOW.timestamp() * 1e9) + 1)
    assert not question.filters.admits("bank/a.md", "memory", int(NOW.timestamp() * 1e9) + 1)
    assert not question.filters.admits("memory/b.md", "memory", int(NOW.timestamp() * 1e9) + 1)


def test_contradicting_sources_admit_nothing() -> None:
    question = parsed("x source:memory", Filters(sources=("sessions",)))
    assert not question.filters.is_empty
    assert not any(question.filters.admits("memory/a.md", source, 0) for source in ("memory", "sessions"))


def test_until_is_the_end_of_its_day() -> None:
    until = parsed("x until:2026-10-01").filters.until
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
    assert parsed('"second process"').has_phrases([text]) == is_admitted


def test_excluded_word_is_a_whole_word() -> None:
    question = parsed("lease -back")
    assert question.fits(["a lease with a backup"])
    assert not question.fits(["a lease, Back to back"])


@given(NOISE)
def test_any_text_gives_valid_index_queries(text: str) -> None:
    question = parsed(text)
    db = indexed()
    any_term = any_of(question.terms, question.joined)
    for expression in (any_term, all_phrases(question.required), any_phrase(question.forbidden)):
        if expression:
            assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get == 0
    assert question.has_phrases([question.text]) or "\0" in text or question.phrases


def test_date_is_searched_in_the_form_of_file_names() -> None:
    question = parsed("what did I do on 7 May 2023?")
    assert question.terms == ("7", "may", "2023")
    assert question.dates == (WrittenDate(5, 7, 2023),)
    assert parsed("dentist 2023-05-07 or v1.2").dates == (WrittenDate(5, 7, 2023),)
    assert parsed("dentist 2023-05-07 or v1.2").joined == (("v1", "2"),)


def test_date_in_a_filter_is_not_searched() -> None:
    question = parsed("dentist since:2023-05-07 until:2023-06-01 path:memory/2023-05-09.md")
    assert question.terms == ("dentist",)
    assert not question.dates
    assert not question.joined
