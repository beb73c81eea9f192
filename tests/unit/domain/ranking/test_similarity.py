import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.selection import are_similar, jaccard, tokens
from memoryd.domain.ranking.snippets import fold
from memoryd.domain.text.words import UNSPACED, UNSPACED_RUN

TEXTS = st.text(st.sampled_from("ab Cé1_漢字かไทย "), max_size=40)
NOTE = "the spare key for the bicycle shed hangs behind the grey fuse box in the hall"


@given(TEXTS, TEXTS)
def test_jaccard_is_symmetric_and_between_0_and_1(first: str, second: str) -> None:
    one, other = tokens(first), tokens(second)
    assert 0 <= jaccard(one, other) == jaccard(other, one) <= 1
    assert are_similar(one, other) == are_similar(other, one)


@given(TEXTS)
def test_text_with_words_is_similar_to_itself(text: str) -> None:
    assert are_similar(tokens(text), tokens(text)) == bool(tokens(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World_1!", {"hello", "world_1"}),
        ("我喜欢hello你好", {"我", "喜", "欢", "我喜", "喜欢", "hello", "你", "好", "你好"}),
        ("привет Ελλάδα", {"привет", "ελλαδα"}),
        ("  ", set()),
    ],
)
def test_tokens_of_each_script(text: str, expected: set[str]) -> None:
    assert tokens(text) == expected


@given(st.text(st.sampled_from("ab-_\x1c\x85\xa0—é\u0301İß漢字，か\u3000ไทｘ²٣ "), max_size=40))
def test_tokens_are_words_or_characters_and_pairs_without_spaces(text: str) -> None:
    plain = fold(text)
    runs = UNSPACED_RUN.findall(plain)
    pairs = {one + two for run in runs for one, two in itertools.pairwise(run)}
    assert tokens(text) == {*re.findall(f"[^\\W{UNSPACED}]+", plain), *"".join(runs), *pairs}


@pytest.mark.parametrize(
    "copy",
    [
        NOTE,
        NOTE.upper() + "!",
        NOTE.replace("hall", "hall 2026"),
        f"{NOTE} 17",
        f"{NOTE} indeed",
    ],
)
def test_texts_that_differ_in_a_word_or_number_are_similar(copy: str) -> None:
    assert are_similar(tokens(NOTE), tokens(copy))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NOTE, "the spare key for the boat house hangs behind the grey fuse box in the hall"),
        ("weight 81 kg", "weight 80 kg"),
        ("room 101 is Peter's", "room 102 is Anna's"),
        (
            "invoice 4711 of 2026-10-01 for 3200 kr was paid to the usual acme account",
            "invoice 4811 of 2026-11-03 for 2900 kr was paid to the usual acme account",
        ),
        (NOTE, ""),
    ],
)
def test_other_words_or_several_numbers_are_not_similar(first: str, second: str) -> None:
    assert not are_similar(tokens(first), tokens(second))
