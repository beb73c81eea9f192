"""Single cases of import and export, without a daemon."""

import json
from datetime import date
from io import BytesIO
from pathlib import Path

from memoryd.api.calls.retain import export_memory
from memoryd.cli.importing.sources import entries
from memoryd.cli.memory.transfer import FORMATS
from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.line import parse_line
from tests.unit.domain.memories.books import line_of


def test_markdown_export_keeps_all_attributes_of_a_line() -> None:
    attributes = (
        "c=0.9, i=0.4, at=2025-11, scope=agent:main, supports=0123abcd, contradicts=1123abcd, supersedes=2123abcd"
    )
    attributes += ", superseded=3123abcd, beside=4123abcd, from=agent, tags=home shed, pin"
    line = line_of(f"- W({attributes}) @Anna: the shed is green")
    memory = Memory(line.id, (MemorySource("memory/2025-11-27.md", 3, 3, line, date(2025, 11, 27), None, 1),))
    out = BytesIO()
    FORMATS["markdown"](iter([export_memory(memory)]), out)
    assert parse_line(out.getvalue().decode().splitlines()[-1]) == line


def test_memory_of_mem0_has_the_date_of_its_last_update(tmp_path: Path) -> None:
    rows = [
        {"memory": "likes tea", "created_at": "2025-01-02T12:00:00Z", "updated_at": "2025-03-04T12:00:00Z"},
        {"memory": "likes figs", "created_at": "2025-01-02T12:00:00Z", "updated_at": None},
    ]
    (tmp_path / "mem0.json").write_text(json.dumps({"results": rows}))
    days = [line.days for line in entries(tmp_path / "mem0.json", of="mem0")]
    assert days == [{"2025-03-04"}, {"2025-01-02"}]
