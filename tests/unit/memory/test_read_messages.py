"""Entities that a message refers to by pronoun, or that a recalled line names."""

from collections.abc import Sequence

import pytest

from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.memories.unasked.descriptions import DESCRIBED, NAMED, Descriptions
from memoryd.domain.ranking.calibration import Verdict
from memoryd.memory.recall.candidates import ReadMessage, read
from memoryd.memory.recall.query import CheckedSource, RecalledMemory
from memoryd.search.hits import ChunkEvidence
from tests.unit.domain.memories.books import book_from

BOOK = book_from(
    {
        "memory/2026-10-01.md": [
            "- W @Greta: Greta sings on Mondays.",
            "- W @Olaf: Olaf mends clocks.",
            "- W @Clock: The clock of the hall is with Olaf.",
        ]
    }
)
DESCRIPTIONS = Descriptions().of(BOOK)


def reading(text: str, *before: str) -> ReadMessage:
    earlier = [(message, BOOK.entities_in(message)) for message in before]
    return read(text, BOOK, DESCRIPTIONS, BOOK.entities_in(text), before=earlier)


@pytest.mark.parametrize(
    ("text", "before", "meant"),
    [
        ("should I ring her tonight?", ["is Greta in?"], {"greta": DESCRIBED}),
        ("should I ring her tonight?", ["Olaf came by", "is Greta in?", "thanks"], {"greta": DESCRIBED}),
        ("should I ring tonight?", ["is Greta in?"], {}),
        ("should I ring him or Olaf?", ["is Greta in?"], {"olaf": NAMED}),
        ("my sister is ill, should I ring her?", ["is Greta in?"], {}),
        ("should I ring her tonight?", [], {}),
    ],
)
def test_pronoun_refers_to_the_entity_of_the_last_message(
    text: str, before: Sequence[str], meant: dict[str, float]
) -> None:
    assert dict(reading(text, *before).entities) == meant


def recalled(*texts: str) -> list[RecalledMemory]:
    placed = RankedCandidate(1.0, {}, Verdict.WEAK, False, None)
    memories = [memory for memory in BOOK.memories.values() if memory.text in texts]
    return [
        RecalledMemory(
            memory=memory, sources=tuple(map(CheckedSource, memory.sources)), placed=placed, evidence=ChunkEvidence()
        )
        for memory in memories
    ]


@pytest.mark.parametrize("text", ["is the clock ready? ask when", "when will she have the clock?"])
def test_recalled_line_names_the_entity_to_ask(text: str) -> None:
    further = reading(text).following(recalled("The clock of the hall is with Olaf."), BOOK)
    assert further is not None
    assert further.entities[EntitySlug("olaf")] == NAMED


def test_nothing_follows_without_a_recalled_line_or_another_entity() -> None:
    assert reading("ask when it is ready").following([], BOOK) is None
    assert reading("is the clock ready?").following(recalled("The clock of the hall is with Olaf."), BOOK) is None
    assert reading("ask Olaf when it is ready").following(recalled("Olaf mends clocks."), BOOK) is None


def test_message_without_a_pronoun_has_related_words_beside_it() -> None:
    assert "toaster" in reading("may I have toast on Sunday?").beside
