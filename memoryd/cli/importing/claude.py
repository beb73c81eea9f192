"""Import from Claude: its data export, and the program claude-mem.

The data export has memories, and instructions and documents of projects, which become notes. claude-mem has
observations and summaries, in its database or in the JSON file of its export, which become memories.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct

from memoryd.cli.importing.files import Object, first_of, json_entries, list_of, named, object_of, open_members
from memoryd.cli.importing.lines import ImportLine, memory_line, note_line
from memoryd.domain.expressions import expression
from memoryd.files.ignore import is_private
from memoryd.store.opening import rows_of_tables

_OF_PROJECTS = expression(r"(?:^|/)projects(?:/[^/]*|[^/]*)\.json$")
_NO_NAME = expression(r"[^\w .()-]+|^[\s.#]+|[\s.]+$")


def pages(path: Path) -> Iterator[ImportLine]:
    """Yield the notes of a data export: those of projects, then memories."""
    export = _Export()
    with open_members(path) as files:
        # all projects are in one file, or each in its own
        yield from json_entries((file for file in files if _OF_PROJECTS.search(file.name)), export.of_project)
        yield from json_entries(named(files, "memories"), export.of_memory)


class _Export(Struct):
    """The state while an export is read."""

    names: dict[str, tuple[str, str]] = {}
    """Name and folder of each project, by its id."""
    taken: set[str] = set()
    """Paths of notes and folders in use, case-folded."""

    def of_project(self, where: str, project: Object) -> Iterator[ImportLine]:
        key = str(project.get("uuid") or where)
        name = str(project.get("name") or project.get("uuid") or "project")
        folder = self._free("projects", name, key)
        self.names[key] = name, folder
        texts = (project.get("description"), project.get("prompt_template"))
        if text := "\n\n".join(text for text in texts if isinstance(text, str) and text.strip()):
            path = self._free(folder, "instructions", key, ".md")
            yield _page(where, path, name, text, project.get("created_at"))
        for number, document in enumerate(map(object_of, list_of(project.get("docs"))), start=1):
            title = str(document.get("filename") or f"document {number}")
            path = self._free(folder, title, str(document.get("uuid") or number), ".md")
            place = f"{where}, document {number}"
            yield _page(place, path, title, document.get("content"), document.get("created_at"))

    def of_memory(self, where: str, memory: Object) -> Iterator[ImportLine]:
        if text := memory.get("conversations_memory"):
            yield _page(where, self._free("", "memory", where, ".md"), "What Claude remembers", text, None)
        for key, text in object_of(memory.get("project_memories")).items():
            name, folder = self.names.get(key) or (key, f"projects/{_safe_name(key)}")
            yield _page(f"{where}, project {key}", self._free(folder, "memory", key, ".md"), name, text, None)

    def _free(self, folder: str, name: str, key: str, end: str = "") -> str:
        """Return an unused path below a folder; a name in use gets the beginning of its key, then a number."""
        path = base = f"{folder}/{_safe_name(name.removesuffix(end))}".removeprefix("/")
        suffixes = chain([_safe_name(key)[:8]], count(2))
        while f"{path}{end}".casefold() in self.taken:
            path = f"{base} {next(suffixes)}"
        self.taken.add(f"{path}{end}".casefold())
        return f"{path}{end}"


def _page(where: str, path: str, title: str, text: object, when: object) -> ImportLine:
    """Return a note for a text of an export, with a front matter that names its source."""
    if not isinstance(text, str) or not text.strip():
        return ImportLine(trouble="it says nothing", where=where)
    if is_private(text):
        # after the new front matter its own, which says that it is private, would have no effect
        return ImportLine(trouble="its front matter keeps it private", where=where)
    at = f"generated: {{ by: claude, at: {json.dumps(when)} }}\n" if isinstance(when, str) else ""
    source = f"sources:\n  - resource: {json.dumps(f'export of Claude, {where}')}\n"
    head = f"---\ntype: Memory\ntitle: {json.dumps(title)}\n{source}{at}---\n\n"
    return note_line(where, path, (head + text.strip() + "\n").encode("utf-8", "replace"), source="claude")


def _safe_name(name: str) -> str:
    """Return a name that is valid for files on every system, 80 characters at most."""
    return _NO_NAME.sub("-", name).strip("-. ")[:80] or "untitled"


_KINDS = {"decision": "fact", "discovery": "fact", "bugfix": "lesson"}
"""Kinds of memories by types of observations; all other types are an experience."""
_SUMMARY_FIELDS = ("request", "learned", "completed", "next_steps")


def observations(path: Path) -> Iterator[ImportLine]:
    """Yield the observations of claude-mem, then its summaries of sessions."""
    database = path / "claude-mem.db" if path.is_dir() else path
    if database.suffix != ".json":
        for table, row in rows_of_tables(database, ("observations", "session_summaries"), value_bytes=8 << 20):
            yield _line(f"{table} {row.get('id')}", row)
        return
    with open_members(database) as files:
        yield from json_entries(files, lambda where, row: [_line(where, row)], "observations", "summaries")


def _line(where: str, row: Mapping[str, Any]) -> ImportLine:
    if "type" in row:
        facts = row.get("facts")
        with suppress(ValueError, RecursionError):
            facts = json.loads(facts) if isinstance(facts, str) else facts
        parts = [first_of(row, "title", "subtitle"), first_of(row, "narrative", "text", "subtitle"), *list_of(facts)]
    else:
        parts = [f"{name.replace('_', ' ')}: {row[name]}" for name in _SUMMARY_FIELDS if row.get(name)]
    text = "\n".join(dict.fromkeys(part.strip() for part in parts if isinstance(part, str)))
    when, kind = first_of(row, "created_at_epoch", "created_at"), _KINDS.get(str(row.get("type")), "experience")
    return memory_line(where, text, when, source="claude-mem", kind=kind, about=row.get("project"))
