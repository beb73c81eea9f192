"""Content of the core block that is withheld from groups is recognised everywhere."""

import pytest

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.visibility import withheld_from_groups
from tests.unit.domain.memories.books import source_of


def memory(text: str) -> Memory:
    source = source_of("memory/2026-11-22.md", 3, text)
    return Memory(source.line.id, (source,))


PIN = memory("entity(pin): My phone number is +43 660 1234567.")
NAME = memory("entity(pin): My name is Ann Berg.")
PLAIN = memory("fact: The mill has a red roof.")
KEPT = withheld_from_groups([PIN, NAME, PLAIN])


@pytest.mark.parametrize(
    "text",
    [
        "my phone number is +43 660 1234567",
        "Session x: Asked: My name  is Ann Berg.",
        "call 0660/1234567 or 0660 1234567",
        "Her number: 0043 (660) 123-4567",
    ],
)
def test_words_and_numbers_of_pins_are_withheld(text: str) -> None:
    assert KEPT.hides(text)


@pytest.mark.parametrize(
    "text", ["The mill has a red roof.", "The number is 0660 7654321.", "My name", "on 2026-11-22"]
)
def test_other_text_is_shown(text: str) -> None:
    assert not KEPT.hides(text)
    assert not KEPT.hides(text, path="memory/2026-11-22.md", memory=PLAIN.id)


def test_pins_and_core_file_are_always_withheld() -> None:
    assert KEPT.hides("anything", memory=PIN.id)
    assert KEPT.hides("anything", path="MEMORY.md")
    assert not withheld_from_groups([PLAIN]).hides(PIN.line.text)


def test_session_summary_is_withheld() -> None:
    summary = memory("session(from=agent, tags=session:chat-1): Session chat-1: Decided: We sell the harpsichord.")

    assert withheld_from_groups([summary]).hides(summary.line.text, memory=summary.id)
