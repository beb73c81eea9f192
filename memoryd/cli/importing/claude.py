"""What is kept of Claude: the data export has what it remembers, and instructions and documents of projects, as notes;
claude-mem has observations and summaries, in its database or in the JSON file of its export.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct

from memoryd.cli.importing.files import Object, first_of, json_entries, list_of, named, object_of, opened_members
from memoryd.cli.importing.lines import ImportLine, memory_line, note_line
from memoryd.domain.expressions import expression
from memoryd.files.ignore import is_private
from memoryd.store.opening import rows_of_tables

_OF_PROJECTS = expression(r"(?:^|/)projects(?:/[^/]*|[^/]*)\.json$")
_NO_NAME = expression(r"[^\w .()-]+|^[\s.#]+|[\s.]+$")


def pages(path: Path) -> Iterator[ImportLine]:
    """Yield the pages of an export."""
    export = _Export()
    with opened_members(path) as files:
        # all of them in one file, or one file for each
        yield from json_entries((one for one in files if _OF_PROJECTS.search(one.name)), export.of_project)
        yield from json_entries(named(files, "memories"), export.of_memory)


class _Export(Struct):
    """What was read so far: names and folders of projects by their ids, and which paths are taken."""

    names: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()

    def of_project(self, where: str, project: Object) -> Iterator[ImportLine]:
        key = str(project.get("uuid") or where)
        name = str(project.get("name") or project.get("uuid") or "project")
        folder, given = self._free("projects", name, key), [project.get("description"), project.get("prompt_template")]
        self.names[key] = name, folder
        if text := "\n\n".join(one for one in given if isinstance(one, str) and one.strip()):
            at = self._free(folder, "instructions", key, ".md")
            yield _page(where, at, name, text, project.get("created_at"))
        for number, document in enumerate(map(object_of, list_of(project.get("docs"))), start=1):
            title = str(document.get("filename") or f"document {number}")
            at = self._free(folder, title, str(document.get("uuid") or number), ".md")
            place = f"{where}, document {number}"
            yield _page(place, at, title, document.get("content"), document.get("created_at"))

    def of_memory(self, where: str, held: Object) -> Iterator[ImportLine]:
        if text := held.get("conversations_memory"):
            yield _page(where, self._free("", "memory", where, ".md"), "What Claude remembers", text, None)
        for key, text in object_of(held.get("project_memories")).items():
            name, folder = self.names.get(key) or (key, f"projects/{_safe_name(key)}")
            yield _page(f"{where}, project {key}", self._free(folder, "memory", key, ".md"), name, text, None)

    def _free(self, folder: str, name: str, key: str, end: str = "") -> str:
        """Return a path below a folder; of those of one name the second has a part of its id in it, others a number."""
        path = plain = f"{folder}/{_safe_name(name.removesuffix(end))}".removeprefix("/")
        more = chain([_safe_name(key)[:8]], count(2))
        while f"{path}{end}".casefold() in self.taken:
            path = f"{plain} {next(more)}"
        self.taken.add(f"{path}{end}".casefold())
        return f"{path}{end}"


def _page(where: str, path: str, title: str, text: object, when: object) -> ImportLine:
    """Return a page that an export holds as text, under a front matter that says whence it is."""
    if not isinstance(text, str) or not text.strip():
        return ImportLine(trouble="it says nothing", where=where)
    if is_private(text):
        # behind another front matter its own would be text
        return ImportLine(trouble="its front matter keeps it private", where=where)
    at = f"generated: {{ by: claude, at: {json.dumps(when)} }}\n" if isinstance(when, str) else ""
    source = f"sources:\n  - resource: {json.dumps(f'export of Claude, {where}')}\n"
    head = f"---\ntype: Memory\ntitle: {json.dumps(title)}\n{source}{at}---\n\n"
    return note_line(where, path, (head + text.strip() + "\n").encode("utf-8", "replace"), source="claude")


def _safe_name(name: str) -> str:
    """Return a name as a file may have it, on every system."""
    return _NO_NAME.sub("-", name).strip("-. ")[:80] or "untitled"


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
        yield from json_entries(files, lambda where, row: [_line(where, row)], "observations", "summaries")


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
