"""Echoes of recalled memories, and news."""

from time import process_time

import pytest

from memoryd.domain.memories.capture.firewall import hash_span, hash_with_key, is_echo

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
]
ECHOES = [
    ("My name is Lena Hofer.", "my name is Lena Hofer"),
    ("My name is Lena Hofer.", "As you told me, my name is Lena Hofer."),
    ("My name is Lena Hofer.", "My name is Lena Hofer, as you said."),
    ("I am allergic to the nuts.", "Right, and I am allergic to nuts!"),
    ("My name is Lena Hofer and I live in Graz.", "I live in Graz."),
    ("我喜欢喝茶。", "你说过，我喜欢喝茶。"),
    ("我住在格拉茨，喜欢喝茶。", "我住在格拉茨"),
]


@pytest.mark.parametrize("piece", [" ", "-", "; ", "\n"])
def test_long_row_of_symbols_is_compared_in_linear_time(piece: str) -> None:
    span = hash_span("I live in Graz.", HASHED)

    assert span is not None
    began = process_time()
    for words in ("I live in Linz", "I live in Graz"):
        assert is_echo(f"{words}{piece * 2_000}", [span], HASHED) is words.endswith("Graz")
    assert process_time() - began < 2


@pytest.mark.parametrize(("recalled", "message"), NEWS)
def test_message_with_new_words_is_no_echo(recalled: str, message: str) -> None:
    span = hash_span(recalled, HASHED)

    assert span is not None
    assert not is_echo(message, [span], HASHED)


@pytest.mark.parametrize(("recalled", "message"), ECHOES)
def test_message_with_same_words_is_an_echo(recalled: str, message: str) -> None:
    span = hash_span(recalled, HASHED)

    assert span is not None
    assert is_echo(message, [span], HASHED)


def test_mixed_words_of_two_spans_are_no_echo() -> None:
    spans = [one for text in ("I live in Graz.", "My mother is a judge.") if (one := hash_span(text, HASHED))]

    assert not is_echo("My mother lives in Graz.", spans, HASHED)
    assert is_echo("I live in Graz.", spans, HASHED)


TWO_MEMORIES = ("I am allergic to peanuts.", "I work at Siemens as an engineer.", "我喜欢喝茶。", "我住在格拉茨。")


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
    spans = [one for text in TWO_MEMORIES if (one := hash_span(text, HASHED))]

    assert is_echo(message, spans, HASHED)


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
    spans = [one for text in TWO_MEMORIES if (one := hash_span(text, HASHED))]

    assert not is_echo(message, spans, HASHED)
