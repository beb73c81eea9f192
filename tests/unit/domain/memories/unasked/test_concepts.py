"""Concepts: words of one meaning in English, Chinese and German."""

import pytest

from memoryd.domain.memories.unasked.concepts import (
    concepts_in,
    families_in,
    family_of,
    relatives_of,
    root_of,
    significant_words,
    width_weight,
    words_beside,
)
from memoryd.domain.memories.unasked.german import GERMAN_CONCEPTS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("my wife", "his spouse"),
        ("给老公", "她的丈夫"),
        ("where are the keys", "钥匙在抽屉"),
        ("the invoice", "costs £40"),
        ("the invoice", "up by 12 per cent"),
        ("the invoice", "a few per cent more"),
        ("send him a mail", "write to kim@example.org"),
        ("what is her phone number", "Ida: +44 7700-900123"),
        ("we rolled it back with a revert", "the rollback is quick"),
        ("礼拜五出门", "周五限行"),
        ("on Friday", "星期五"),
        ("Was darf sie nicht essen?", "Er ist gegen Nüsse allergisch."),
        ("wann hat Vater Geburtstag", "Papa wurde am 3. Mai geboren"),
        ("die Klausur in Chemie", "Prüfungen sind im Februar"),
        ("wo liegen die Schlüssel", "the keys are on the hook"),
        ("what may granny not eat", "Oma verträgt keine Nüsse"),
    ],
)
def test_synonyms_share_a_concept(one: str, other: str) -> None:
    assert concepts_in(one) & concepts_in(other)


@pytest.mark.parametrize(
    "text",
    [
        "Frau Kern kommt gern mit der Band",
        "Der Vertrag der Frau ist ein Gift für den Chef",
        "Wir haben den Brief an die Bank geschickt",
        "Es gibt keine Art von Not",
    ],
)
def test_german_words_that_are_also_english_have_no_german_concept(text: str) -> None:
    german = {word for row in GERMAN_CONCEPTS.replace("\n", " | ").split("|") for word in row.split()[1:]}
    assert german.isdisjoint(text.lower().split())


def test_unrelated_texts_share_no_concept() -> None:
    assert not concepts_in("wann kommt der Müll?") & concepts_in("ich bin allergisch gegen Penicillin")
    assert not concepts_in("the wife of the baker") & concepts_in("a certificate for the server")


@pytest.mark.parametrize("text", ["My boss is called Fiona.", "the band's now called Ferns", "please call me Immy"])
def test_to_be_called_something_is_no_call(text: str) -> None:
    asked = concepts_in("what phone do I have")

    assert asked & concepts_in("call me later") & concepts_in("Dana was called back")
    assert not asked & concepts_in(text)


def test_inflected_words_have_one_root() -> None:
    assert root_of("deployed") == root_of("deploys") == root_of("deploying") == root_of("deploy")
    assert root_of("parties") == root_of("party")
    assert root_of("class") == "class"


def test_wide_concept_weighs_less_and_adds_no_words() -> None:
    weights = [width_weight(one) for one in sorted(concepts_in("dinner at the restaurant with my husband"))]
    assert len(set(weights)) > 1
    assert "spouse" in words_beside("my husband", 24)
    assert "breakfast" not in words_beside("dinner", 24)
    assert len(words_beside("my husband drives the car to the doctor", 5)) == 5


def test_single_character_is_a_word_missing_from_the_index() -> None:
    text = "开我那辆车出城"
    assert concepts_in(text) & concepts_in("车是白色的", beside=significant_words(text))
    both = "钥匙在哪"
    assert not concepts_in(both) & concepts_in("钥匙丢了", beside=significant_words(both))


@pytest.mark.parametrize(
    ("text", "relative"),
    [
        ("toast for all", "toaster"),
        ("who can bake", "baker"),
        ("the driver is late", "drive"),
        ("back from dry dock", "drydock"),
        ("the ship is in drydock", "dock"),
    ],
)
def test_relatives_of_a_word_are_found(text: str, relative: str) -> None:
    assert relative in relatives_of(text, {"dry", "dock", "toast", "bake", "driver"}.__contains__)


@pytest.mark.parametrize("text", ["which week", "the boathouse", "what to do"])
def test_words_without_family_have_no_relatives(text: str) -> None:
    found = relatives_of(text, {"boathouse", "boat", "house"}.__contains__)
    assert {"weeker", "boat", "house", "whater"}.isdisjoint(found)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("toast", "the toaster", True),
        ("baking", "a baker", True),
        ("driver", "drives", True),
        ("dries", "a dryer", True),
        ("toast", "a tower", False),
    ],
)
def test_agent_noun_shares_family_of_its_verb(one: str, other: str, is_same: bool) -> None:
    assert bool(families_in(one, {family_of(word) for word in other.split()})) is is_same
