"""What claude-mem keeps: the observations and the summaries of its database, or of the JSON file of its export."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from memoryd.cli.importing.json_files import first_of, json_files, list_of, listed, objects
from memoryd.cli.importing.lines import ImportLine, memory_line
from memoryd.cli.importing.members import opened_members
from memoryd.store.foreign import rows_of_tables

TABLES: Final = ("observations", "session_summaries")
_KINDS: Final = {"decision": "fact", "discovery": "fact", "bugfix": "lesson"}
"""The kinds of its observations; what was done else is an experience."""


def observations(path: Path) -> Iterator[ImportLine]:
    """Yield what was observed, then what sessions were summed up to."""
    database = path / "claude-mem.db" if path.is_dir() else path
    if database.suffix != ".json":
        for table, row in rows_of_tables(database, TABLES, value_bytes=8 << 20):
            yield _entry(table, row, row.get("id"))
        return
    with opened_members(database) as members:
        for found in json_files(members, ""):
            for table, key in zip(TABLES, ("observations", "summaries"), strict=True):
                for number, one in enumerate(objects(listed(found, key)), start=1):
                    yield one if isinstance(one, ImportLine) else _entry(table, one[1], number)


def _entry(table: str, row: Mapping[str, Any], number: object) -> ImportLine:
    where = f"{table} {number}"
    if table == "observations":
        facts = row.get("facts")
        with suppress(ValueError, RecursionError):
            facts = json.loads(facts) if isinstance(facts, str) else facts
        title = first_of(row, "title", "subtitle")
        parts = [title, first_of(row, "narrative", "text", "subtitle"), *list_of(facts)]
        kind = _KINDS.get(str(row.get("type")), "experience")
    else:
        names = ("request", "learned", "completed", "next_steps")
        parts, kind = [f"{name.replace('_', ' ')}: {row[name]}" for name in names if row.get(name)], "experience"
    text = "\n".join(dict.fromkeys(part.strip() for part in parts if isinstance(part, str)))
    when = first_of(row, "created_at_epoch", "created_at")
    return memory_line(where, text, when, source="claude-mem", kind=kind, about=row.get("project"))
