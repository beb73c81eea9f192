"""What claude-mem keeps: the observations and the summaries of its database, or of the JSON file of its export."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memoryd.cli.importing.json_files import Object, first_of, json_entries, list_of
from memoryd.cli.importing.lines import ImportLine, memory_line
from memoryd.cli.importing.members import opened_members
from memoryd.store.opening import rows_of_tables

_KINDS = {"decision": "fact", "discovery": "fact", "bugfix": "lesson"}
"""The kinds of its observations; what was done else is an experience."""
_SUMMED_UP = ("request", "learned", "completed", "next_steps")


def observations(path: Path) -> Iterator[ImportLine]:
    """Yield what was observed, then what sessions were summed up to."""
    database = path / "claude-mem.db" if path.is_dir() else path
    if database.suffix != ".json":
        for table, row in rows_of_tables(database, ("observations", "session_summaries"), value_bytes=8 << 20):
            yield _line(f"{table} {row.get('id')}", row)
        return
    with opened_members(database) as files:
        for one in json_entries(files, Object, "observations", "summaries"):
            yield one if isinstance(one, ImportLine) else _line(*one)


def _line(where: str, row: Mapping[str, Any]) -> ImportLine:
    if "type" in row:
        facts = row.get("facts")
        with suppress(ValueError, RecursionError):
            facts = json.loads(facts) if isinstance(facts, str) else facts
        parts = [first_of(row, "title", "subtitle"), first_of(row, "narrative", "text", "subtitle"), *list_of(facts)]
    else:
        parts = [f"{name.replace('_', ' ')}: {row[name]}" for name in _SUMMED_UP if row.get(name)]
    text = "\n".join(dict.fromkeys(part.strip() for part in parts if isinstance(part, str)))
    when, kind = first_of(row, "created_at_epoch", "created_at"), _KINDS.get(str(row.get("type")), "experience")
    return memory_line(where, text, when, source="claude-mem", kind=kind, about=row.get("project"))
