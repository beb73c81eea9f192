"""Echoes of recalled memories, and news."""

import pytest

from memoryd.domain.memories.capture.firewall import hash_span, hash_with_key, is_echo
from tests.waiting import soon

HASHED = hash_with_key(b"key")
NEWS = [
    ("My cat's name is Mia.", "My cat's name is Tom."),
    ("I am allergic to nuts.", "I am allergic to milk."),
    ("My favourite tea is Darjeeling.", "My favourite tea is Assam."),
    ("My name is Ann Berg.", "My name is Ann Huber."),
    ("My sister is called Lena Berg.", "My sister is called Lena Huber."),
    ("I live in the old town of Graz.", "I live in the old town of Linz."),
    ("My wife is allergic to peanuts and shellfish.", "My son is allergic to peanuts and shellfish."),
    (
        "My sister Anna lives in Graz and my brother Tom in Linz.",
        "My sister Tom lives in Graz and my brother Anna in Linz.",
    ),
    (
        "My locker is number 4417 in hall B of the old station.",
        "My locker is number 8832 in hall B of the old station.",
    ),
    ("I like the long walks by the river.", "I don't like the long walks by the river."),
    ("My brother likes tea and my sister likes jazz.", "My brother likes jazz."),
    ("It is not so that I live in Graz.", "I live in Graz."),
    ("我喜欢喝茶。", "我喜欢喝酒。"),
    ("我最喜欢的颜色是蓝色。", "我最喜欢的颜色是绿色。"),
    ("我妻子叫李娜。", "我妻子叫李丽。"),
    ("I prefer tea to coffee.", "I prefer coffee to tea."),
    ("My name is Lena Hofer.", "As you told me, my name is Lena Berger."),
    ("I live in Graz.", "Of course I live in Linz"),
    ("Call me Leni.", "Yes, please call me Lea, thanks for remembering."),
    ("I live in Graz.", "As you told me, I live in Vienna."),
    ("I like tea.", "You said that I like tea, but I don't like tea."),
    ("我住在成都。", "你说过,我住在重庆。"),
]
ECHOES = [
    ("My name is Lena Hofer.", "my name is Lena Hofer"),
    ("My name is Lena Hofer.", "As you told me, my name is Lena Hofer."),
    ("My name is Lena Hofer.", "My name is Lena Hofer, as you said."),
    ("I am allergic to the nuts.", "Right, and I am allergic to nuts!"),
    ("My name is Lena Hofer and I live in Graz.", "I live in Graz."),
    ("我喜欢喝茶。", "你说过，我喜欢喝茶。"),
    ("我住在格拉茨，喜欢喝茶。", "我住在格拉茨"),
    ("Call me Leni.", "As you told me, call me Leni."),
    ("以后请用简体中文回答我。", "没错:以后请用简体中文回答我。"),
    ("以后请用简体中文回答我。", "就像你说的,以后请用简体中文回答我,没错。"),
    ("Call me Leni.", "Yes, call me Leni. Thanks for remembering."),
    ("Call me Leni.", "Yes, please call me Leni, thanks for remembering."),
    ("Call me Leni.", "That's right, call me Leni."),
    ("I live in Graz.", "Yes, I still live in Graz."),
    ("I live in Graz.", "Of course I live in Graz"),
    ("我住在成都。", "是的，我还住在成都。"),
    ("叫我小王。", "对，叫我小王，谢谢你记得。"),
]


def echoes(message: str, *recalled: str) -> bool:
    spans = [span for text in recalled if (span := hash_span(text, HASHED))]
    assert len(spans) == len(recalled)
    return is_echo(message, spans, HASHED)


@pytest.mark.parametrize("piece", [" ", "-", "; ", "\n"])
def test_long_row_of_symbols_is_compared_in_linear_time(piece: str) -> None:
    with soon(2):
        for words in ("I live in Linz", "I live in Graz"):
            assert echoes(f"{words}{piece * 2_000}", "I live in Graz.") is words.endswith("Graz")


@pytest.mark.parametrize(("recalled", "message"), NEWS)
def test_message_with_new_words_is_no_echo(recalled: str, message: str) -> None:
    assert not echoes(message, recalled)


@pytest.mark.parametrize(("recalled", "message"), ECHOES)
def test_same_words_with_few_around_them_are_an_echo(recalled: str, message: str) -> None:
    assert echoes(message, recalled)


def test_mixed_words_of_two_spans_are_no_echo() -> None:
    recalled = ("I live in Graz.", "My mother is a judge.")

    assert not echoes("My mother lives in Graz.", *recalled)
    assert echoes("I live in Graz.", *recalled)


SEVERAL = ("I am allergic to peanuts.", "I work at Siemens as an engineer.", "我喜欢喝茶。", "我住在格拉茨。")


@pytest.mark.parametrize(
    "message",
    [
        "I'm allergic to peanuts.",
        "Right, I work at Siemens as an engineer, and I am allergic to peanuts.",
        "So I'm allergic to peanuts, and I work at Siemens as an engineer, thanks.",
        "Remember that I am allergic to peanuts and work at Siemens.",
        "对，我喜欢喝茶，而且我住在格拉茨。",
    ],
)
def test_several_recalled_memories_in_one_sentence_are_an_echo(message: str) -> None:
    assert echoes(message, *SEVERAL)


@pytest.mark.parametrize(
    "message",
    [
        "I'm allergic to peanuts and shellfish.",
        "I am allergic to peanuts, and I work at Bosch as an engineer.",
        "I'm not allergic to peanuts, and I work at Siemens as an engineer.",
        "我喜欢喝茶，而且我住在维也纳。",
    ],
)
def test_sentence_with_one_new_clause_is_no_echo(message: str) -> None:
    assert not echoes(message, *SEVERAL)
