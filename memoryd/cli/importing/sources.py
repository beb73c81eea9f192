"""The table of programs whose data can be imported, and how each format is converted.

The formats are those of mem0's `get_all`, of claude-mem's database and its export, of the exports of ChatGPT and
Claude, and of folders of Markdown: https://github.com/mem0ai/mem0, https://github.com/thedotmack/claude-mem,
https://github.com/basicmachines-co/basic-memory, https://help.obsidian.md.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.cli.importing.files import (
    ExportedFile,
    Object,
    UnreadableExportError,
    first_of,
    json_entries,
    list_of,
    named,
    object_of,
    open_members,
)
from memoryd.cli.importing.lines import LINE_BYTES_MAX, ImportLine, memory_line, note_line
from memoryd.domain.documents import original_of
from memoryd.domain.expressions import expression
from memoryd.domain.patterns import Patterns
from memoryd.errors import InvalidRequest

_CONTEXT_LINE = expression(r"\d+\.\s+\[(?P<day>\d{4}-\d\d-\d\d)\]\.?\s+(?P<text>.+)")
"""A memory in the context that ChatGPT gives to its model."""

_IGNORE_FILE = ".memoryignore"


class ImportSource(Struct, frozen=True):
    """A program: which files are read, what they become, and what is not imported, in words."""

    takes: str
    becomes: str
    leaves: str
    read: Callable[[Path], Iterator[ImportLine]]


def entries(path: Path, *, of: str) -> Iterator[ImportLine]:
    """Yield the data of a program; a duplicate names the first in `same_as`.

    Raises InvalidRequest if there is nothing of the program at `path`, or it is damaged.
    """
    seen: dict[object, str] = {}
    number = 0
    for number, line in enumerate(SOURCES[of].read(path), start=1):
        key = _content_key(line)
        yield replace(line, number=number, same_as=seen.get(key, ""))
        if key:
            seen.setdefault(key, line.where)
    if not number:
        raise InvalidRequest(f"there is nothing of {of} in {path}", hint=f"give {SOURCES[of].takes}")


def _content_key(line: ImportLine) -> object:
    """Return a value that is equal for lines with the same content, None for a line without content."""
    if line.memory is not None:
        return line.memory["text"].strip(), line.memory["kind"], *line.memory["entities"]
    return None if line.note is None else line.note["text"]


def _mem0(path: Path) -> Iterator[ImportLine]:
    ids = dict[object, str]()
    with open_members(path) as files:
        yield from json_entries(
            named(files), lambda where, entry: [_mem0_entry(where, entry, ids)], "results", "memories"
        )


def _mem0_entry(where: str, entry: Object, ids: dict[object, str]) -> ImportLine:
    text, key = first_of(entry, "memory", "data", "text"), str(entry.get("id"))
    if entry.get("id") and ids.setdefault(key, str(text)) != str(text):
        return ImportLine(trouble=f"another memory has its id, {key[:40]}", where=where)
    user = entry.get("user_id")
    is_name = isinstance(user, str) and user.replace(" ", "").isalpha() and user not in ("user", "default")
    # mem0 replaces the text at an update
    when = first_of(entry, "updated_at", "created_at")
    return memory_line(where, text, when, source="mem0", about=user if is_name else None)


def _claude_mem(path: Path) -> Iterator[ImportLine]:
    # imported here: only this format needs databases and private notes
    from memoryd.cli.importing.claude import observations

    return observations(path)


def _chatgpt(path: Path) -> Iterator[ImportLine]:
    # time, place and text of the last context with memories
    latest: tuple[float, str, str] = (0.0, "", "")

    def of_chat(where: str, chat: Object) -> Iterator[ImportLine]:
        nonlocal latest
        # the messages are a tree that may have cycles: it is not followed, because each message has its time
        for node in object_of(chat.get("mapping")).values():
            if not isinstance(message := object_of(node).get("message") or {}, dict):
                raise ValueError("a message of it is no object")
            content, when = object_of(message.get("content")), message.get("create_time")
            if content and message.get("recipient") == "bio":
                text = "\n".join(part for part in list_of(content.get("parts")) if isinstance(part, str))
                yield memory_line(where, text, when, source="chatgpt")
            elif isinstance(context := content.get("model_set_context"), str):
                latest = max(latest, (when if isinstance(when, float) else 0.0, where, context))

    with open_members(path) as files:
        yield from json_entries(named(files, "memor"), _saved_in_chatgpt, "memories", "results")
        yield from json_entries(named(files, "conversations"), of_chat)
    rows = (_CONTEXT_LINE.fullmatch(line.strip()) for line in latest[2].splitlines())
    yield from (memory_line(latest[1], row["text"], row["day"], source="chatgpt") for row in rows if row)


def _saved_in_chatgpt(where: str, entry: Object) -> Iterator[ImportLine]:
    if entry.get("enabled") is False:
        yield ImportLine(trouble="it is switched off there", where=where)
    else:
        when = first_of(entry, "created_at", "create_time", "created_timestamp", "updated_at")
        yield memory_line(where, first_of(entry, "content", "memory", "text"), when, source="chatgpt")


def _claude(path: Path) -> Iterator[ImportLine]:
    # imported here, as in _claude_mem
    from memoryd.cli.importing.claude import pages

    return pages(path)


def _notes(path: Path, *, source: str, only: tuple[str, ...] = ()) -> Iterator[ImportLine]:
    """Yield the Markdown notes of a folder; with `only`, those files and folders at the top or one level below."""
    with open_members(path) as members:
        is_ignored = _ignore_rule(members)
        for member in members:
            parts = member.name.replace("\\", "/").split("/")
            is_link = member.name.endswith("/")
            if not (is_link or parts[-1].lower().endswith(".md")) or any(
                part.startswith(".") and part != ".." for part in parts
            ):
                continue
            if only and parts[0] not in only and parts[1:2] not in [[name] for name in only]:
                continue
            if is_link:
                yield ImportLine(trouble="it is a link: import what it leads to by itself", where=member.name)
            elif ".." in parts or "" in parts:
                yield ImportLine(trouble="its path leads out of the folder", where=member.name)
            elif is_ignored("/".join(parts)):
                yield ImportLine(trouble=f"{_IGNORE_FILE} there keeps it private", where=member.name)
            else:
                try:
                    yield note_line(member.name, "/".join(parts), member.read(LINE_BYTES_MAX), source=source)
                except UnreadableExportError as exc:
                    yield ImportLine(trouble=str(exc), where=member.name)


def _ignore_rule(members: Sequence[ExportedFile]) -> Callable[[str], bool]:
    """Return a function that says whether a `.memoryignore` file keeps a path private, each below its folder.

    Raises InvalidRequest if one cannot be read, because it is then unknown which notes are private.
    """
    rules: list[tuple[str, Patterns]] = []
    for member in members:
        folder, _, name = member.name.replace("\\", "/").rpartition("/")
        if name != _IGNORE_FILE:
            continue
        hint = "correct it there; nothing is imported"
        try:
            patterns = Patterns(member.read(LINE_BYTES_MAX).decode("utf-8-sig").splitlines())
        except (UnreadableExportError, UnicodeDecodeError) as exc:
            raise InvalidRequest(f"{member.name}: it cannot be read: {exc}", hint=hint) from exc
        for line in patterns.refused:
            raise InvalidRequest(f"{member.name}: line {line.line} ({line.pattern}): {line.reason}", hint=hint)
        rules.append((f"{folder}/" if folder else "", patterns))
    return lambda path: any(
        path.startswith(folder) and patterns.hides(name.removeprefix(folder))
        for folder, patterns in rules
        for name in (path, original_of(path))
    )


_LINKS = "hidden files, pictures and other files; links stay as they are written"
SOURCES = {
    "mem0": ImportSource("a JSON file of what get_all or an export of mem0 gave", "memories", "its vectors", _mem0),
    "claude-mem": ImportSource(
        "~/.claude-mem, its claude-mem.db, or the JSON file of its export",
        "memories, of observations and summaries of sessions",
        "prompts and its vectors",
        _claude_mem,
    ),
    "basic-memory": ImportSource(
        "the folder of a project, or a zip archive of it",
        "notes",
        "hidden files, and its database, which it makes of the notes",
        partial(_notes, source="basic-memory"),
    ),
    "chatgpt": ImportSource(
        "the zip archive of the data export, or its folder",
        "memories: saved ones, and what a chat gave to be remembered",
        "conversations: what was said is no memory",
        _chatgpt,
    ),
    "claude": ImportSource(
        "the zip archive of the data export, or its folder",
        "notes: what Claude remembers, and instructions and documents of projects",
        "conversations: what was said is no memory",
        _claude,
    ),
    "obsidian": ImportSource(
        "the folder of a vault, or a zip archive", "notes", _LINKS, partial(_notes, source="obsidian")
    ),
    "openclaw": ImportSource(
        "a workspace; better still, name it as the workspace of an agent",
        "notes, of MEMORY.md, USER.md and memory/",
        "hidden files, and its SQLite index, which it makes of them",
        partial(_notes, source="openclaw", only=("MEMORY.md", "memory.md", "USER.md", "memory")),
    ),
}
"""The programs by their name in `--from`; without it, lines of JSON are read, as `memoryctl export` writes them."""
JSONL = "jsonl"
