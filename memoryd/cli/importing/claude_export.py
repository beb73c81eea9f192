"""What the data export of Claude holds: what it remembers, and instructions and documents of projects, as notes."""

import json
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

from msgspec import Struct, field

from memoryd.cli.importing.json_files import Object, json_entries, list_of, named, object_of
from memoryd.cli.importing.lines import ImportLine, note_line
from memoryd.cli.importing.members import opened_members
from memoryd.domain.expressions import expression
from memoryd.files.ignore import is_private

_OF_PROJECTS = expression(r"(?:^|/)projects(?:/[^/]*|[^/]*)\.json$")
_NO_NAME = expression(r"[^\w .()-]+|^[\s.#]+|[\s.]+$")


def pages(path: Path) -> Iterator[ImportLine]:
    """Yield the pages of an export."""
    export = _Export()
    with opened_members(path) as files:
        # all of them in one file, or one file for each
        for project in json_entries((one for one in files if _OF_PROJECTS.search(one.name)), Object):
            yield from [project] if isinstance(project, ImportLine) else export.of_project(*project)
        for held in json_entries(named(files, "memories"), Object):
            yield from [held] if isinstance(held, ImportLine) else export.of_memory(*held)


class _Export(Struct):
    """What was read so far: names and folders of projects by their ids, and which paths are taken."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

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
        return ImportLine(0, trouble="it says nothing", where=where)
    if is_private(text):
        # behind another front matter its own would be text
        return ImportLine(0, trouble="its front matter keeps it private", where=where)
    at = f"generated: {{ by: claude, at: {json.dumps(when)} }}\n" if isinstance(when, str) else ""
    source = f"sources:\n  - resource: {json.dumps(f'export of Claude, {where}')}\n"
    head = f"---\ntype: Memory\ntitle: {json.dumps(title)}\n{source}{at}---\n\n"
    return note_line(where, path, (head + text.strip() + "\n").encode("utf-8", "replace"), source="claude")


def _safe_name(name: str) -> str:
    """Return a name as a file may have it, on every system."""
    return _NO_NAME.sub("-", name).strip("-. ")[:80] or "untitled"
