"""Slots of statements with one value, and statements with many values."""

import pytest

from memoryd.domain.memories.capture.corrections import slots_of

SAME_SLOT = [
    ("Mein Steuerberater ist Herr Krug.", "Mein Steuerberater ist Frau Ahlers."),
    ("I work at Bosch.", "I currently work at Tesla."),
    ("My name is Ann Berger.", "my full name is Zoe Clark"),
    ("Call me Bob", "Please call me Rob."),
    ("I live in Graz", "I live in the north of Linz"),
    ("I live in Graz", "i live in linz"),
    ("My boss is Brandl.", "My new boss is Demir."),
    ("Mein neuer Chef ist Herr Petersen.", "mein chef ist jetzt frau lang"),
    ("I live in a small flat", "I live in the old house"),
    ("My favourite colour is blue.", "My favourite colour is green."),
    ("My phone number is 0660 1.", "My phone number is 0660 2."),
    ("My dog is called Rex.", "My dog is called Bello."),
    ("我住在上海。", "我现在住在广州。"),
    ("我叫李娜", "我叫李丽"),
    ("我的生日是五月三日", "我的生日是六月三日"),
]
OTHER_SLOT = [
    ("My sister is a doctor.", "My sister is called Anna."),
    ("My dog is called Rex.", "My cat is called Rex."),
    ("My work phone is 0660 1.", "My private phone is 0660 2."),
    ("I live in Graz.", "I work at Graz University."),
    ("I live in Graz.", "I live in a shared flat now."),
    ("My neighbour is Anna.", "My new neighbour is Tom."),
    ("Ich wohne in Graz.", "Ich wohne in einer WG."),
    ("I work at Siemens.", "I work at a snail's pace."),
    ("I work at Siemens.", "I work for the money."),
    ("我住在维也纳。", "我住在十楼。"),
    ("我住在维也纳。", "我住在幻想里。"),
]
WITHOUT_SLOT = [
    "Meine Schwester ist Lehrerin.",
    "I like tea.",
    "I prefer rum.",
    "I am allergic to nuts.",
    "Remember that the key is under the mat.",
    "My sister is allergic to nuts.",
    "My name is Ann and I like dogs.",
    "我喜欢喝茶。",
    "我对花生过敏。",
    "The weather is fine.",
]
EVERYDAY = [
    ("I work at Siemens.", "I work at home on Fridays."),
    ("I work at Siemens.", "I work at the kitchen table."),
    ("I work at Siemens.", "I work at the library on Mondays."),
    ("I work at Siemens.", "I work at night."),
    ("I live in Graz.", "I live in Vienna in the summer."),
    ("My birthday is on 3 May.", "My birthday is on a Sunday this year."),
    ("My birthday is the 3rd of May.", "My birthday is always fun."),
    ("My favourite tea is Assam.", "My favourite tea is sold out."),
    ("My favourite cafe is Sperl.", "My favourite cafe is really expensive."),
    ("My employer is New Look.", "My employer is generous."),
    ("My phone number is 0660 1.", "My phone number is hard to remember."),
    ("My email is ann@example.org.", "My email is overflowing."),
    ("我在西门子工作。", "我在想工作的事。"),
    ("我在西门子工作。", "我在家工作。"),
    ("我在研究所工作。", "我在研究工作计划。"),
    ("我住在上海。", "我住在杭州，每周末。"),
    ("我的生日是五月三日。", "我的生日是周日。"),
]
"""A statement with a value, and one with the same words without a value."""


@pytest.mark.parametrize(("value", "sentence"), EVERYDAY)
def test_slot_needs_a_value_of_its_type(value: str, sentence: str) -> None:
    assert slots_of(value)
    assert not slots_of(sentence)


@pytest.mark.parametrize(("older", "newer"), SAME_SLOT)
def test_same_form_has_same_slot(older: str, newer: str) -> None:
    assert slots_of(older)
    assert slots_of(older) == slots_of(newer)


@pytest.mark.parametrize(("one", "other"), OTHER_SLOT)
def test_other_forms_have_other_slots(one: str, other: str) -> None:
    assert slots_of(one)
    assert slots_of(other)
    assert slots_of(one).isdisjoint(slots_of(other))


@pytest.mark.parametrize(
    ("older", "newer", "is_same"),
    [
        ("mein chef ist brandl", "mein neuer Chef ist Demir", True),
        ("unser auto ist ein skoda", "unser neues auto ist ein vw", True),
        ("meine bank ist die zkb", "meine bank ist jetzt die raiffeisen", True),
        ("mein bruder ist lehrer", "mein neuer bruder ist jonas", False),
        ("mein chef ist brandl", "mein chef ist vegetarier", False),
        ("mein chef ist brandl", "mein chef ist jetzt vegetarier", False),
        ("Mein Chef ist Brandl", "Mein Chef ist jetzt Vegetarier", False),
        ("unser auto ist ein skoda", "unser auto ist jetzt blau", False),
        ("Mein Chef ist Brandl", "Mein Chef ist jetzt telefonisch erreichbar", False),
        ("unser auto ist ein skoda", "unser auto ist jetzt 10 jahre alt", False),
    ],
)
def test_what_is_new_fills_the_slot_of_the_older_one_in_german(older: str, newer: str, is_same: bool) -> None:
    assert (slots_of(older, is_older=True) == slots_of(newer) != frozenset()) is is_same


@pytest.mark.parametrize("text", WITHOUT_SLOT)
def test_statement_with_many_values_has_no_slot(text: str) -> None:
    assert not slots_of(text)
