"""Selection of the searched words of a long message."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import MAX_COUNTED, LongMessage, Question, parse_question, questions_in

NOW = datetime(2026, 11, 23, tzinfo=UTC)
STORY = " ".join(f"word{at} tale{at}." for at in range(50))


def parsed(text: str, limit: int = 64) -> Question:
    return parse_question(text, Filters(), NOW, limit=limit)


def parsed_long(text: str, limit: int = 64) -> LongMessage:
    long = parsed(text, limit).long
    assert long is not None
    return long


def test_short_question_is_searched_completely() -> None:
    assert parsed("where is the spare key?").long is None
    assert parsed("where is the spare key?").terms == ("spare", "key")


@pytest.mark.parametrize("text", [f"{STORY} Where is the spare key?", f"Where is the spare key? {STORY}"])
def test_question_anywhere_in_a_long_message_is_searched(text: str) -> None:
    question = parsed(text)
    assert {"spare", "key"} <= set(question.terms)
    assert len(question.terms) == 64
    assert question.long is not None
    assert question.long.question_terms == {"spare", "key"}


def test_rarest_other_words_are_added_to_the_question() -> None:
    long = parsed_long(f"{STORY} Where is the spare key?", 8)
    holders = {"spare": 200, "key": 90, "word1": 3, "tale7": 1, "tale40": 2, "word9": 100}
    assert long.by_rarity(holders) == ("tale7", "tale40", "spare", "key")
    assert long.by_rarity(dict.fromkeys(long.terms, 5))[-2:] == ("spare", "key")
    assert len(long.by_rarity(dict.fromkeys(long.terms, 5))) == 4


def test_message_without_question_is_searched_by_rarest_words() -> None:
    long = parsed_long(STORY, 4)
    assert not long.question_terms
    holders = {term: at + 1 for at, term in enumerate(reversed(long.terms))}
    assert long.by_rarity(holders) == long.terms[-4:]


def test_words_in_no_note_are_not_searched() -> None:
    long = parsed_long(f"{STORY} Where is the spare key?", 8)
    assert long.by_rarity({"tale3": 1}) == ("tale3",)
    assert long.by_rarity({}) == long.by_place()


def test_beginning_and_end_of_very_long_message_are_counted() -> None:
    long = parsed_long(" ".join(f"term{at}" for at in range(5000)))
    assert len(long.terms) == MAX_COUNTED
    assert (long.terms[0], long.terms[-1]) == ("term0", "term4999")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("We sat by the weir. Where is the key? Thanks.", "Where is the key?"),
        ("v1.2 is out. What changed in v1.2? See the log.", "What changed in v1.2?"),
        ("我们昨天去了河边。钥匙在哪里？谢谢。", "钥匙在哪里?"),
        ("我们昨天去了河边。钥匙在哪里。谢谢。", "钥匙在哪里。"),
        ("We sat by the weir. Who has the key\nThanks", "Who has the key"),
        ("When the war was over, they left.", ""),
    ],
)
def test_questions_in_message(text: str, asked: str) -> None:
    assert questions_in(text).replace("？", "?").strip() == asked


def test_neighbours_come_from_the_question() -> None:
    question = parsed(f"{STORY} Where does the support group meet?")
    assert question.neighbours == (("support", "group"), ("group", "meet"))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Hi, where is the key? Thanks!", ("key",)),
        ("hello", ("hello",)),
        ("请问钥匙在哪", ("钥匙", "匙在", "在哪")),
        ("谢谢", ("谢谢",)),
    ],
)
def test_greetings_are_dropped_beside_other_words(text: str, terms: tuple[str, ...]) -> None:
    assert parsed(text).terms == terms


@given(st.text(max_size=600), st.integers(1, 20))
def test_number_of_searched_words_is_limited(text: str, limit: int) -> None:
    question = parsed(text, limit)
    assert len(question.terms) <= limit
    if question.long is not None:
        chosen = question.long.by_rarity({term: len(term) for term in question.long.terms})
        assert 0 < len(chosen) <= limit
        assert set(chosen) <= set(question.long.terms)


@pytest.mark.parametrize("piece", ["a.", "a", "?", " .", "。", "what ", "什么", "a? "])
def test_hostile_message_is_parsed_in_linear_time(piece: str) -> None:
    assert len(parsed(piece * 50_000).terms) <= 64
