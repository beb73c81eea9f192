"""Wording of a message: whether it asks for personal memories or is general."""

import pytest

from memoryd.domain.memories.unasked.form import ALWAYS, TABLE, UNKNOWN, features, form_of

MIDDLE = -1.0
"""Approximate value of an undecidable message."""


@pytest.mark.parametrize(
    "text",
    [
        "how do you spell rhythm?",
        "how do I sort a dict by value",
        "put that in a list",
        "write a haiku about it",
        "rename this function",
        "whats the difference between a fox and a wolf",
        "pytest: how to skip a slow test",
        "formula in google sheets that adds column C",
        "what is a landlord for?",
        "how do hens keep warm",
        "can you make the border green?",
        "Wie schreibt man Rhythmus?",
        "Schreib mir ein Gedicht uber Katzen",
        "光合作用是什么",
        "墨水用法语怎么说",
        "蜜蜂和黄蜂有什么区别",
        "鲸鱼为什么会唱歌",
        "一头大象能活几年",
        "didn't see my sister at all",
        "I sold the old car this morning.",
        "good, both of them in the post",
        "the twins painted the whole bathroom mirror with toothpaste lol, and then he said it was the dog",
    ],
)
def test_general_message_or_news_asks_for_no_memory(text: str) -> None:
    assert form_of(text) < MIDDLE


@pytest.mark.parametrize(
    "text",
    [
        "when do I have to hand in the keys?",
        "book the usual table for Friday",
        "which bin goes out this Wednesday?",
        "write a card to aunt May, she framed it last time",
        "who shuts the hens in when I am away?",
        "I sold the old car, who has the papers?",
        "which python do we run in our services",
        "where's the spare key?",
        "when is the dentist appointment?",
        "order the filters",
        "what am I allergic to?",
        "Wann kommt der Klempner am Montag?",
        "女儿这周六有空吗",
        "帮我订下周的票",
        "钢琴课几点来着",
    ],
)
def test_personal_question_or_order_asks_for_memory(text: str) -> None:
    assert form_of(text) > MIDDLE


def test_features_are_words_pairs_first_word_marks_and_length() -> None:
    assert features("Can I? can i") == {ALWAYS, "can", "i", "can i", "i can", "^can", "?", ">2", ">4"}
    assert features("don’t") == {ALWAYS, "dont", "^dont"}
    assert features("帮我 2") == {ALWAYS, "帮", "我", "帮我", "#"}
    assert features("") == {ALWAYS}


def test_table_has_distinct_features_with_weights() -> None:
    rows = [row.partition(" ") for row in TABLE.strip().split("\n")]
    listed = [feature for _, _, several in rows for feature in several.split(" | ")]
    assert len(set(listed)) == len(listed) > 1000
    assert ALWAYS in listed
    assert all(int(weight) for weight, _, _ in rows)


@pytest.mark.parametrize(
    "text", ["Где мой паспорт?", "여권이 어디 있어?", "quién inventó el café y por qué es tan bueno para la salud"]
)
def test_language_without_weights_is_unknown(text: str) -> None:
    assert form_of(text) == UNKNOWN


def test_weights_can_be_given() -> None:
    assert form_of("book it", {"book": 2.0, "^book": 0.5, "never": 9.0}) == 2.5
