"""Tombstones recognise a forgotten memory without revealing it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.changes.tombstones import HASH_BYTES, TextMatcher, Tombstones, parse_mirror, render_mirror

KEY = bytes(range(32))
EMPTY = Tombstones(KEY)


def with_one(memory: str, text: str) -> Tombstones:
    return replace(EMPTY, hashes=frozenset(EMPTY.hashes_of(memory, text)))


def test_memory_is_recognised_by_id_and_text() -> None:
    stones = with_one("id-1", "The alarm code is 4711")

    assert stones.contains("id-1", "something else by now")
    assert stones.contains("id-2", "the  alarm *code* is 4711")
    assert stones.contains("id-3", "The alarm code is 4711")
    assert stones.contains("id-4", "the alarm code is 4711!")


def test_other_fact_is_not_recognised() -> None:
    stones = with_one("id-1", "The alarm code is 4711")

    assert not stones.contains("id-2", "The alarm code is 8832")
    assert not stones.contains("id-3", "The alarm code is not 4711")


@pytest.mark.parametrize(
    ("forgotten", "sentence"),
    [
        ("My brother is a pilot.", "Hi there, my brother is a pilot."),
        ("My brother is a pilot.", "Hey my brother is a pilot"),
        ("My cat is called Tomatina!", 'My cat is called "Tomatina".'),
        ('My cat is called "Tomatina".', "my cat is called Tomatina"),
        ("My cat is called Tomatina.", "My cat is called Tomatina, and I live in Rome."),
        ("My cat is called Tomatina.", "I live in Rome and my cat is called Tomatina, by the way"),
        ("Hello, my name is Ann, or Annie.", "well: my name is Ann, or Annie"),
        ("I weigh 72.5 kg.", "I weigh 72.5 kg, so be it"),
        ("我叫安娜。", "你好，我叫安娜，住在上海。"),
        ("门锁密码是 4711。", "对了门锁密码是“4711”"),
        ("My brother is a pilot.", 'She wrote "my brother is a pilot" on the card.'),
        ("My brother is a pilot.", "Ann’s note has ‘My brother is a pilot’ in it"),
        ("My brother is a pilot.", "I think that my brother is a pilot"),
        ("My brother isn't a pilot.", "He said my brother isn't a pilot"),
        ("我哥哥是飞行员。", "我觉得我哥哥是飞行员"),
    ],
)
def test_forgotten_text_is_recognised_in_a_sentence(forgotten: str, sentence: str) -> None:
    stones = with_one("id-1", forgotten)

    assert stones.contains_part_of(sentence)
    assert not Tombstones(bytes(32), stones.hashes).contains_part_of(sentence)


@pytest.mark.parametrize(
    ("forgotten", "sentence", "left"),
    [
        (
            "The key is in the cellar",
            "Decided: that the *key* is in the cellar. So be it.",
            "Decided: that [forgotten]. So be it.",
        ),
        ("The key is in the cellar.", "the key is in the cellars", "the key is in the cellars"),
        ("门锁密码是 4711。", "他说门锁密码是4711，别忘了", "他说[forgotten]，别忘了"),
        ("I weigh 72", "I weigh 72.5 kg", "I weigh 72.5 kg"),
        ("Tea", "Ann likes tea.", "Ann likes tea."),
    ],
)
def test_forgotten_text_is_masked_in_a_sentence(forgotten: str, sentence: str, left: str) -> None:
    assert with_one("id-1", forgotten).cut_from(sentence) == left
    assert EMPTY.cut_from(sentence) == sentence


def test_text_with_all_but_one_of_three_words_is_near() -> None:
    forgotten = TextMatcher("The spare key hangs behind the boiler.")

    assert forgotten.is_near("Behind the furnace hangs your spare key, as you told me.")
    assert not forgotten.is_near("The boiler is behind the house.")
    assert not TextMatcher("Tea").is_near("Tea is ready")
    assert TextMatcher("门锁密码是 4711。").is_near("门锁的密码是4711")


def test_sentence_with_other_statement_is_not_recognised() -> None:
    stones = with_one("id-1", "My cat is called Tom.")

    for sentence in (
        "My cat is called Tomatina.",
        "My cat is not called Tom.",
        "My dog is called Tom, and I live in Rome.",
    ):
        assert not stones.contains_part_of(sentence)
    assert not stones.contains("id-2", "My cat is called Tom, and I live in Rome."), "its owner may state it"
    assert not with_one("id-1", "I weigh 72.").contains_part_of("I weigh 72.5 kg")
    assert not EMPTY.contains_part_of("")


@given(st.text(), st.text(max_size=20))
def test_any_text_is_recognised_in_itself(sentence: str, forgotten: str) -> None:
    assert with_one("id-1", forgotten).contains_part_of(forgotten)
    assert isinstance(with_one("id-1", forgotten).contains_part_of(sentence), bool)


def test_only_forgotten_memory_is_recognised() -> None:
    stones = with_one("id-2", "b")

    assert not stones.contains("id-1", "a")
    assert stones.contains("id-2", "b")


def test_other_key_recognises_nothing() -> None:
    stones = with_one("id-1", "The alarm code is 4711")

    assert not Tombstones(bytes(32), stones.hashes).contains("id-1", "The alarm code is 4711")


def test_mirror_contains_no_text() -> None:
    text = render_mirror(with_one("id-1", "The alarm code is 4711").hashes)

    assert "4711" not in text.replace("\n", " ").split()
    assert all(len(line) == 2 * HASH_BYTES for line in text.splitlines())


@given(st.frozensets(st.binary(min_size=HASH_BYTES, max_size=HASH_BYTES)))
def test_mirror_round_trips(hashes: frozenset[bytes]) -> None:
    assert parse_mirror(render_mirror(hashes)) == hashes


@given(st.text())
def test_any_file_parses_as_mirror(text: str) -> None:
    assert all(len(one) == HASH_BYTES for one in parse_mirror(text))


@given(st.text(), st.text())
def test_any_text_is_recognised(memory: str, text: str) -> None:
    assert with_one(memory, text).contains(memory, text)
