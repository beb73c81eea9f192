"""Whom a message means that names nobody: the one of the message before, or whom a line names that is told."""

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
    said = [(one, BOOK.entities_in(one)) for one in before]
    return read(text, BOOK, DESCRIPTIONS, BOOK.entities_in(text), before=said)


@pytest.mark.parametrize(
    ("text", "before", "meant"),
    [
        ("should I ring her tonight?", ["is Greta in?"], {"greta": DESCRIBED}),
        ("should I ring her tonight?", ["Olaf came by", "is Greta in?", "thanks"], {"greta": DESCRIBED}),
        ("should I ring tonight?", ["is Greta in?"], {}),
        ("should I ring him or Olaf?", ["is Greta in?"], {"olaf": NAMED}),
        ("should I ring her tonight?", [], {}),
    ],
)
def test_pronoun_means_whom_the_last_message_spoke_of(
    text: str, before: Sequence[str], meant: dict[str, float]
) -> None:
    assert dict(reading(text, *before).entities) == meant


def told(*texts: str) -> list[RecalledMemory]:
    placed = RankedCandidate(1.0, {}, Verdict.WEAK, False, None)
    memories = [one for one in BOOK.memories.values() if one.text in texts]
    return [
        RecalledMemory(
            memory=one, sources=tuple(map(CheckedSource, one.sources)), placed=placed, evidence=ChunkEvidence()
        )
        for one in memories
    ]


@pytest.mark.parametrize("text", ["is the clock ready? ask when", "when will she have the clock?"])
def test_line_that_is_told_names_who_is_to_be_asked(text: str) -> None:
    further = reading(text).following(told("The clock of the hall is with Olaf."), BOOK)
    assert further is not None
    assert further.entities[EntitySlug("olaf")] == NAMED


def test_nothing_follows_where_nothing_is_told_or_nobody_else_is_meant() -> None:
    assert reading("ask when it is ready").following([], BOOK) is None
    assert reading("is the clock ready?").following(told("The clock of the hall is with Olaf."), BOOK) is None
    assert reading("ask Olaf when it is ready").following(told("Olaf mends clocks."), BOOK) is None


def test_message_without_a_pronoun_has_the_words_of_its_family_beside_it() -> None:
    assert "toaster" in reading("may I have toast on Sunday?").beside
