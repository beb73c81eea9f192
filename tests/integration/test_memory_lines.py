"""The memory lines of `tests/data/memories` parse as in `lines.jsonl`, and nothing else is a memory."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from bench.recall_questions.question_set import OWN, WORKSPACE, rows
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import Attributes, RetainedLine, parse_line, render
from memoryd.domain.memories.sections import MemorySections, holds_memories, memory_sections
from memoryd.domain.text.lines import encode_padded

DOCUMENTS = sorted(str(path.relative_to(WORKSPACE)) for path in WORKSPACE.rglob("*.md"))
STATED = list(rows(OWN / "lines.jsonl"))
NAMES = {"c": "confidence", "i": "importance", "from": "provenance", "pin": "is_pinned"}
SEVERAL = ("supports", "contradicts", "supersedes", "tags")


def sections(path: str) -> MemorySections:
    return memory_sections(encode_padded((WORKSPACE / path).read_text(encoding="utf-8")), RelativePath(path))


def line_at(path: str, number: int) -> str:
    return (WORKSPACE / path).read_text(encoding="utf-8").splitlines()[number - 1].strip()


def given(attributes: Attributes) -> dict[str, object]:
    """Return the attributes that a line states."""
    values = {one.name: getattr(attributes, one.name) for one in fields(attributes)}
    return {name: value for name, value in values.items() if value not in (None, "", (), False)}


def stated(row: Mapping[str, Any]) -> dict[str, object]:
    named = {NAMES.get(key, key): value for key, value in row.items() if key not in KEYS}
    return {name: (value,) if name in SEVERAL else value for name, value in named.items()}


KEYS = ("path", "line", "kind", "entities", "text")


@pytest.mark.parametrize("path", DOCUMENTS)
def test_lines_parse_as_stated(path: str) -> None:
    expected = {row["line"]: row for row in STATED if row["path"] == path}
    found = {line_at(path, placed.start_line): placed.line for placed in sections(path).lines}
    assert found.keys() == expected.keys()
    for text, line in found.items():
        row = expected[text]
        assert line.kind == row["kind"], text
        assert list(line.entities) == row["entities"], text
        assert " ".join(line.text.split()) == row["text"], text
        assert given(line.attributes) == stated(row), text


def test_only_logs_and_three_pages_have_memories() -> None:
    holding = {path for path in DOCUMENTS if holds_memories(path)}
    assert {path for path in DOCUMENTS if path.startswith("memory/")} <= holding
    assert holding - {path for path in DOCUMENTS if path.startswith("memory/")} == {
        "bank/world.md",
        "bank/experience.md",
        "bank/opinions.md",
    }


def test_malformed_lines_are_no_memories() -> None:
    misses = [(path, placed.line) for path in DOCUMENTS for placed in sections(path).misses]
    assert ("memory/2025-09-29.md", 13) in misses
    assert {path for path, _ in misses} == {"memory/2025-09-29.md"}


def test_ids_named_in_lines_exist() -> None:
    lines = [placed.line for path in DOCUMENTS for placed in sections(path).lines]
    ids = {short_id(line.id) for line in lines}
    attributes = [line.attributes for line in lines]
    named = {name for one in attributes for name in (*one.supports, *one.contradicts, *one.supersedes)}
    assert len(named) == 9
    assert named <= ids


def test_repeated_statement_is_one_memory() -> None:
    """Two of 179 lines are repetitions: the dentist, and the cat that may go into the garden again."""
    lines = [placed.line for path in DOCUMENTS for placed in sections(path).lines]
    assert len(lines) == len(STATED)
    assert len({line.id for line in lines}) == len(STATED) - 2


@pytest.mark.parametrize("path", DOCUMENTS)
def test_rendered_line_parses_to_the_same(path: str) -> None:
    for placed in sections(path).lines:
        again = parse_line(render(placed.line))
        assert isinstance(again, RetainedLine)
        assert again == placed.line


def test_record_days_in_file_names_are_unique() -> None:
    days = [date.fromisoformat(Path(path).stem) for path in DOCUMENTS if path.startswith("memory/")]
    assert len(set(days)) == len(days)
