"""Pins of captured names, their succession, and the limit of captured pins."""

from datetime import date

import pytest

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.capture import capture_message
from memoryd.domain.memories.capture.corrections import (
    NOT_ADDRESSED,
    PINS_OF_A_KIND,
    pin_kind,
    surplus_pins,
    with_succession,
)
from memoryd.domain.memories.kinds import short_id
from tests.unit.domain.memories.books import line_of, source_of

PINNED = [
    ("Please call me Liz.", ""),
    ("Hello! Call me Liz.", ""),
    ("Call me Liz from now on.", ""),
    ("Call me liz for short.", ""),
    ("My name is Liz Taylor.", "Hi, what is your name?"),
    ("Call me Liz.", "What shall I call you?"),
    ("你好，我叫王小明。", ""),
    ("叫我小王就好。", ""),
    ("我叫王小明。", "请问怎么称呼？"),
    ("My phone number is +43 660 1234567.", ""),
]
NOT_PINNED = [
    ("Call me Ishmael.", ""),
    ("My name is Susan.", ""),
    ("call me bob", ""),
    ("我叫雷锋", ""),
    ("叫我小王。", "好的。"),
    ("My name is Susan.", "Here is the summary."),
]


def memory_of(text: str, day: int, line: int = 1) -> Memory:
    source = source_of(f"memory/2026-01-{day:02}.md", line, text)
    return Memory(source.line.id, (source,))


def superseded_by(line: str, *memories: Memory) -> tuple[str, ...]:
    book = Book({one.id: one for one in memories})
    (found,) = with_succession(book, [line_of(line)], date(2026, 1, 31))
    return tuple(found.attributes.supersedes)


@pytest.mark.parametrize(("text", "answer_before"), PINNED)
def test_name_told_to_the_agent_is_pinned(text: str, answer_before: str) -> None:
    assert [one.is_pinned for one in capture_message(text, answer_before=answer_before).items] == [True]


@pytest.mark.parametrize(("text", "answer_before"), NOT_PINNED)
def test_bare_name_is_captured_without_pin(text: str, answer_before: str) -> None:
    kept = capture_message(text, answer_before=answer_before).items

    assert [(one.is_pinned, one.note) for one in kept] == [(False, NOT_ADDRESSED)]


def test_statement_supersedes_a_line_written_by_hand() -> None:
    line = memory_of("- W: Mein Chef ist Herr Kowalski.", 1)

    new = "- fact(from=user): mein neuer Chef ist Frau Demir, Kowalski ist in Rente"
    assert superseded_by(new, line) == (short_id(line.id),)
    bank = memory_of("- W: Meine Bank ist die ZKB.", 1)
    assert superseded_by("- fact(from=user): meine Bank ist jetzt die Raiffeisen", bank) == (short_id(bank.id),)


def test_bare_name_supersedes_no_pin_and_pinned_one_supersedes_all() -> None:
    pinned = memory_of("- entity(from=user, pin): Please call me Bob.", 1)
    bare = memory_of("- entity(from=user): Call me Ishmael.", 2)

    assert superseded_by("- entity(from=user): Call me Ishmael.", pinned) == ()
    assert superseded_by("- entity(from=user): Call me Ahab.", pinned, bare) == (short_id(bare.id),)
    assert superseded_by("- entity(from=user, pin): Please call me Rob.", pinned, bare) == (
        short_id(bare.id),
        short_id(pinned.id),
    )
    number = memory_of("- entity(from=user, pin): My phone number is 0660 1234567.", 1)
    assert superseded_by("- entity(from=user): My phone number is 0660 7654321.", number) == (short_id(number.id),)


def test_superseded_line_is_not_superseded_again() -> None:
    dropped = memory_of("- fact(from=user): I live in Linz.", 9)
    current = memory_of(f"- fact(from=user, supersedes={short_id(dropped.id)}): I live in Graz.", 5)

    assert superseded_by("- fact(from=user): I live in Wels.", dropped, current) == (short_id(current.id),)


def test_later_line_of_a_day_is_newer() -> None:
    first, second = (
        memory_of(f"- fact(from=user): I live in {place}.", 5, at) for at, place in ((3, "Graz"), (9, "Linz"))
    )

    assert superseded_by("- fact(from=user): I live in Wels.", first, second) == (short_id(second.id),)


def test_newest_captured_pins_of_a_kind_are_kept() -> None:
    phones = [
        memory_of(f"- entity(i=0.95, from=user, pin): Call me at +43 660 123456{n}.", 5, 10 + n) for n in range(6)
    ]
    mails = [memory_of("- entity(i=0.95, from=user, pin): My email is ann@example.org.", 1)]
    own = [memory_of(f"- entity(pin): The number of aunt {n} is 0316 77777{n}.", 2) for n in range(6)]

    assert PINS_OF_A_KIND == 3
    assert surplus_pins([*phones, *mails, *own]) == {one.id for one in phones[:3]}


def test_pins_of_other_kinds_are_unlimited() -> None:
    things = [
        memory_of(f"- entity(from=user, pin): Our {thing} is in the old mill.", 2)
        for thing in ("bank", "vet", "gym", "pub")
    ]

    assert surplus_pins(things) == frozenset()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please call me Bob.", "name"),
        ("My phone number is +43 660 1234567.", "phone number"),
        ("我的邮箱是 xiaoyu@example.cn。", "e-mail address"),
        ("My passport number is P1234567.", "ID number"),
        ("Our router stands in the cellar.", ""),
        ("王芳住在上海。", ""),
    ],
)
def test_pin_has_a_kind(text: str, kind: str) -> None:
    assert pin_kind(text) == kind
