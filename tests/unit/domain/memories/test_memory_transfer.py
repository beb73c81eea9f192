"""Export and import of memories: complete pages, and identical lines."""

import json
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from memoryd.api.calls.retain import ImportedMemory, export_memory, import_line
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.documents import (
    PAGE_CHARS,
    days_of_memory,
    export_page,
    missing_days,
)
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine

TODAY = date(2026, 11, 23)


def memory(text: str, *days: date, attributes: Attributes | None = None) -> Memory:
    line = RetainedLine(Kind.OPINION, text, ("Anna", "Two Words"), attributes or Attributes())
    return Memory(
        line.id, tuple(MemorySource("memory/x.md", 1, 1, line, day, None, 1) for day in days[::-1] or (TODAY,))
    )


def book(memories: list[Memory]) -> Book:
    return Book(memories={one.id: one for one in memories})


@given(st.lists(st.integers(1, 28), min_size=1, max_size=30), st.integers(1, 7))
def test_pages_contain_each_memory_once_in_order(days: list[int], limit: int) -> None:
    known = [memory(f"said {number}", date(2026, 1, day)) for number, day in enumerate(days)]
    exported, cursor = list[Memory](), ""
    while True:
        page = export_page(book(known), lambda _one: True, cursor, limit)
        assert 0 < len(page.memories) <= limit
        assert page.total == len(known)
        exported += page.memories
        cursor = page.cursor
        if not cursor:
            break
    assert sorted(one.id for one in exported) == sorted(one.id for one in known)
    assert [one.first_recorded for one in exported] == sorted(one.first_recorded for one in known)


def test_page_of_long_memories_is_limited_but_never_empty() -> None:
    known = [memory(f"{number} " + "x" * 16_000, TODAY) for number in range(20)]
    page = export_page(book(known), lambda _one: True, "", 500)
    assert 1 < len(page.memories) < PAGE_CHARS // 16_000 + 1
    assert page.cursor
    assert export_page(Book(), lambda _one: True, "", 5).memories == ()
    assert export_page(book(known), lambda one: one is known[3], "", 5).memories == (known[3],)


def test_memory_round_trips() -> None:
    attributes = Attributes(
        confidence=0.7, importance=0.0, at="2026-01", scope="global", provenance=Provenance.TOOL, is_pinned=True
    )
    original = memory("hates plums\nand wears clogs", date(2026, 1, 2), date(2026, 1, 9), attributes=attributes)
    imported = ImportedMemory.model_validate_json(json.dumps(export_memory(original)))
    assert import_line(imported) == original.line
    assert tuple(imported.days) == days_of_memory(original) == (date(2026, 1, 2), date(2026, 1, 9))


def test_invalid_memory_is_reported() -> None:
    for invalid in (
        ImportedMemory(text="x", kind="nonsense"),
        ImportedMemory(text=" ", kind="fact"),
        ImportedMemory.model_validate({"text": "x", "kind": "fact", "saidBy": "nobody"}),
        ImportedMemory(text="x", kind="fact", at="yesterday"),
        ImportedMemory(text="x", kind="fact", supports=["short"]),
        ImportedMemory(text="x", kind="fact", entities=["[a]"]),
    ):
        assert isinstance(import_line(invalid), str)


def test_missing_days_are_those_without_a_line() -> None:
    known, early, later = memory("x", date(2026, 1, 2)), date(2026, 1, 2), date(2030, 1, 1)
    assert missing_days((early, later), None, TODAY) == (early, TODAY)
    assert missing_days((early,), known, TODAY) == ()
    assert missing_days((early, later), known, TODAY) == (TODAY,)
    assert missing_days((), None, TODAY) == (TODAY,)
    assert missing_days((), known, TODAY) == ()
