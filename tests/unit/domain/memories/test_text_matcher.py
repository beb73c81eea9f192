"""Finding the words of a forgotten memory in other texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.tombstones import FORGOTTEN, TextMatcher
from tests.sweeps import whole_or

ALARM_CODE = TextMatcher("The alarm code is 4711")


@pytest.mark.parametrize(
    "text",
    [
        "The alarm code is 4711",
        "Well: the ALARM  code\nis 4711.",
        "(the alarm code is 4711)",
        "He said the alarm code is 4711, twice.",
    ],
)
def test_words_are_found_with_other_white_space_and_case(text: str) -> None:
    assert ALARM_CODE.occurs_in(text)
    assert FORGOTTEN in ALARM_CODE.cut_from(text)
    assert not ALARM_CODE.occurs_in(ALARM_CODE.cut_from(text))


@pytest.mark.parametrize("text", ["The alarm code is 47110", "bathe alarm code is 4711", "The alarm code was 4711", ""])
def test_other_words_are_kept(text: str) -> None:
    assert not ALARM_CODE.occurs_in(text)
    assert ALARM_CODE.cut_from(text) == text


def test_chinese_words_are_found_within_text() -> None:
    said = TextMatcher("门锁密码是 4711")

    assert said.cut_from("妈妈说门锁密码是 4711。") == f"妈妈说{FORGOTTEN}。"
    assert TextMatcher("我家的门锁密码").occurs_in("他知道我家的门锁密码了")


def test_short_text_matches_only_alone() -> None:
    said = TextMatcher("tea")

    assert said.occurs_in(" Tea\n")
    assert not said.occurs_in("Anna drinks tea")


def test_decomposed_letters_match() -> None:
    assert TextMatcher("Caf\u00e9 Central at noon").occurs_in("Cafe\u0301 Central at noon")


def test_blank_text_matches_nothing() -> None:
    assert not TextMatcher(" \n").occurs_in("anything")


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_found_words_are_masked(said: str, before: str, after: str) -> None:
    words = TextMatcher(said)
    text = f"{before} {said} {after}"

    cut = words.cut_from(text)

    if words.occurs_in(text):
        assert FORGOTTEN in cut
    else:
        assert cut == text


@pytest.mark.sweep
@pytest.mark.parametrize("unit", ["一", "a ", " ", "a-", "\n", "(", "\\", "aaaa"])
def test_hostile_words_are_searched_in_linear_time(unit: str) -> None:
    text = unit * whole_or(20_000, 50_000)

    assert TextMatcher(text).occurs_in(text) is not text.isspace()
    assert not ALARM_CODE.occurs_in(text)


@pytest.mark.parametrize(
    ("words", "other"),
    [("5 mg at noon", "2.5 mg at noon"), ("the train at 9", "the train at 9:35"), ("是5毫克的药水", "是2.5毫克的药水")],
)
def test_number_matches_completely(words: str, other: str) -> None:
    assert TextMatcher(words).occurs_in(f"He said: {words}.")
    assert not TextMatcher(words).occurs_in(other)


@pytest.mark.parametrize(
    ("said", "other", "left"),
    [
        ("My cat is called Tom Lee.", "And my cat is called Tom Lee, remember?", f"And {FORGOTTEN}, remember?"),
        ("My cat is called Tom Lee!", "Open: my cat is called Tom Lee", f"Open: {FORGOTTEN}"),
        ("My cat is called Tom Lee.", 'So my cat is called "Tom Lee".', f'So {FORGOTTEN}".'),
        ('My cat is "Tom" not a dog.', "Well, my cat is Tom not a dog.", f"Well, {FORGOTTEN}"),
        ("我家的门锁密码是四七。", "他知道我家的门锁密码是四七，对吗", f"他知道{FORGOTTEN}，对吗"),
    ],
)
def test_final_punctuation_and_quotes_are_ignored(said: str, other: str, left: str) -> None:
    words = TextMatcher(said)

    assert words.occurs_in(other)
    assert words.cut_from(other) == left


def test_longer_word_does_not_match() -> None:
    assert not TextMatcher("My cat is called Tom.").occurs_in("My cat is called Tomatina.")
    assert not TextMatcher("The door code is 47.").occurs_in("The door code is 4711.")
    assert not TextMatcher("Tea!").occurs_in("Anna drinks tea")
    assert TextMatcher("Tea!").occurs_in('"tea".')
