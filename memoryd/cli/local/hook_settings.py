"""Edits of an agent program's files for memoryd's hooks, MCP server and skill; all other content stays.

memoryd's hooks are recognised by their command, its server by name and command, and its own files by a mark. A backup
of each edited file is kept beside it until memoryd's parts are removed from it.
"""

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.expressions import expression
from memoryd.domain.settings_text import (
    BACKUP_SUFFIX,
    parse_settings,
    remove_value,
    set_value,
    with_block,
    without_block,
)
from memoryd.errors import InvalidRequest, MemorydError, NotNow
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot
from memoryd.files.writing import FileChangedError, remove_file, replace_file
from memoryd.hooks.hosts import HOSTS, Host

_MAX_BYTES = 64 * 1024 * 1024
_OURS = expression(r" -P (?:-c .*)?-m memoryd\.hooks \w|\bmemoryctl['\"]? hooks run\b")
_PLUGIN_COMMAND = expression(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
_MARK = "memoryctl hooks"
"""Text in each file that memoryd owns completely."""
_SERVER = "memoryd"

Part = Literal["hooks", "server", "skill", "instructions"]
"""A part of memoryd in a file; `skill` is a file of its own, `instructions` a block in a project's instructions."""


class SettingsFile(Struct, frozen=True):
    """A file as it was read; `stat` is None if it does not exist."""

    path: Path
    text: str
    stat: FileStat | None

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)


class SettingsChange(Struct, frozen=True):
    """A file and its new text; None removes the file. The first change of a file makes a backup."""

    before: SettingsFile
    text: str | None
    is_first: bool = False
    is_own_file: bool = False
    """True if memoryd owns the file completely, and its folder if that has memoryd's name."""


def places(host: Host, project: Path | None) -> dict[Part, list[Path]]:
    """Return the files that each part may be in; raises InvalidRequest if the host has no project settings."""
    if project is not None and not host.project:
        raise InvalidRequest(f"{host.title} has no settings of a project", hint="leave out --project")
    folder = Path(os.environ.get(host.folder_variable, "") or Path.home() / host.folder)

    def place(name: str) -> Path:
        path = project / name if project else Path(name).expanduser() if name.startswith("~") else folder / name
        # the target of a link is edited, so that the link stays
        return Path(os.path.realpath(path))

    main = place(host.project if project else host.settings)
    paths: dict[Part, list[Path]] = {"hooks": [main.with_name(name) for name in _plugin(host)] or [main]}
    if host.mcp and (server := host.mcp[1 if project else 0]):
        paths["server"] = [place(server)]
    if project:
        paths["instructions"] = [place(host.instructions)]
    else:
        paths["skill"] = [place(f"{host.skills}/memoryd/SKILL.md")]
    return paths


def installation(
    host: Host, project: Path | None, commands: Mapping[str, str], parts: set[Part]
) -> list[SettingsChange]:
    """Return the changes of an installation; raises InvalidRequest for a file that cannot be edited."""
    changes = _edited(host, project, parts, lambda text, part, path: _with(text, part, host, path, commands))
    ours = {change.before.path for change in removal(host, project, parts)}
    return [replace(change, is_first=change.before.path not in ours) for change in changes]


def removal(host: Host, project: Path | None, parts: set[Part] | None = None) -> list[SettingsChange]:
    """Return the changes that remove memoryd's parts; a file without other edits gets its text from the backup."""
    removed: dict[Path, list[Part]] = {}

    def without(text: str, part: Part, path: Path) -> str:
        if part == "instructions" and project is not None and _is_shared(host, project):
            return text
        if (rest := _without(text, part, host, path)) != text:
            removed.setdefault(path, []).append(part)
        return rest

    changes = []
    for change in _edited(host, project, parts, without):
        removed_parts = removed[change.before.path]
        is_own_file = any(_is_own_file(part, host) for part in removed_parts)
        changes.append(replace(change, text=_before(change, host, removed_parts), is_own_file=is_own_file))
    return changes


def _edited(
    host: Host, project: Path | None, parts: set[Part] | None, edit: Callable[[str, Part, Path], str]
) -> list[SettingsChange]:
    """Apply `edit` for each part to its files, and return the changed files; one file may have several parts."""
    changes: dict[Path, SettingsChange] = {}
    for part, paths in places(host, project).items():
        for path in paths if not parts or part in parts else ():
            if path not in changes:
                file = read_settings(path)
                changes[path] = SettingsChange(file, file.text)
            before, text = changes[path].before, changes[path].text or ""
            with _refusing(before):
                changes[path] = SettingsChange(before, edit(text, part, path))
    return [change for change in changes.values() if change.text != change.before.text]


def _is_shared(host: Host, project: Path) -> bool:
    """Return whether another program with memoryd's hooks in this project reads the same file of instructions."""
    readers = (other for other in HOSTS.values() if other.project and other.instructions == host.instructions)
    return any(commands_in(other, project)[1] for other in readers if other != host)


def commands_in(host: Host, project: Path | None) -> tuple[Path, dict[str, str]]:
    """Return the file with the hooks of a host, and their commands by event; raises InvalidRequest."""
    path = places(host, project)["hooks"][0]
    file = read_settings(path)
    with _refusing(file):
        if host.layout != "plugin":
            return path, our_commands(file.text, host)
        match = _PLUGIN_COMMAND.search(file.text) if _MARK in file.text else None
        words: list[str] = json.loads(match[1]) if match else []
        at = words.index("memoryd.hooks") + 1 if words else 0
        runs = {event: shlex.join([*words[:at], event, *words[at + 1 :]]) for event in host.events}
        return path, runs if words else {}


def others_server(host: Host, project: Path | None) -> str:
    """Return the file that declares a foreign MCP server with memoryd's name; empty if there is none."""
    if host.mcp is None or not (paths := places(host, project).get("server")):
        return ""
    file = read_settings(paths[0])
    with _refusing(file):
        is_there = _SERVER in _servers(file.text, file.path, host.mcp[2])
        return str(file.path) if is_there and not _is_our_server(file.text, file.path, host) else ""


def write(change: SettingsChange, *, is_removal: bool = False) -> None:
    """Write or remove the file; raises NotNow if another program has changed it since it was read."""
    text = change.text
    before = change.before
    expected: FileStat | Literal["absent"] = "absent" if before.stat is None else before.stat
    try:
        if text is None:
            if before.stat is not None:
                remove_file(before.path, before.stat)
            folder = before.path.parent
            if change.is_own_file and folder.name == _SERVER and not any(folder.iterdir()):
                folder.rmdir()
        else:
            before.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if change.is_first and before.stat is not None:
                replace_file(before.backup, before.text.encode("utf-8"), is_durable=True)
            replace_file(before.path, text.encode("utf-8"), expected=expected, is_durable=True)
        if is_removal:
            before.backup.unlink(missing_ok=True)
    except FileChangedError as exc:
        raise NotNow(f"{before.path} has been changed since, and stays unchanged", hint="try again") from exc
    except OSError as exc:
        raise MemorydError(f"{before.path} cannot be written: {exc}") from exc


def read_settings(path: Path) -> SettingsFile:
    """Read a settings file; raises InvalidRequest if it is not a text file, and MemorydError if it is unreadable."""
    try:
        snapshot = read_snapshot(path.parent, path.name, max_bytes=_MAX_BYTES)
        return SettingsFile(path, snapshot.data.decode("utf-8"), snapshot.stat)
    except FileNotFoundError:
        return SettingsFile(path, "", None)
    except (UnicodeDecodeError, NotReadableError) as exc:
        raise InvalidRequest(f"{path} stays unchanged: it is no text file", hint=str(exc)) from exc
    except (OSError, TornReadError) as exc:
        raise MemorydError(f"{path} cannot be read: {exc}") from exc


def skill_text() -> str:
    """Return the text of the skill file."""
    return (files("memoryd.hooks") / "SKILL.md").read_text(encoding="utf-8")


def skill_block() -> str:
    """Return the skill as a block for a file of instructions: without its front matter, between marks."""
    body = skill_text().split("---\n", 2)[2].strip()
    return f"<!-- memoryd: begin; {_MARK} install wrote this -->\n{body}\n<!-- memoryd: end -->\n"


@contextmanager
def _refusing(file: SettingsFile) -> Iterator[None]:
    """Turn a ValueError about a file's content into an InvalidRequest that names the file."""
    try:
        yield
    except ValueError as exc:
        hint = "mend it by hand, and try again"
        raise InvalidRequest(f"{file.path} stays unchanged: {exc}", hint=hint) from exc


def our_commands(text: str, host: Host) -> dict[str, str]:
    """Return event → command of memoryd's hooks in settings; raises ValueError for unreadable settings."""
    return {event: command for event, command, _ in _our_handlers(text, host)}


def with_hooks(text: str, host: Host, commands: Mapping[str, str]) -> str:
    """Return settings with hooks for these commands, unchanged if they are already there; raises ValueError."""
    if our_commands(text, host) == dict(commands):
        return text
    text = without_hooks(text, host) or json.dumps(host.made_with or {}, indent=2) + "\n"
    for event, command in commands.items():
        handler: dict[str, object] = {"type": "command", "command": command}
        if host.timeout:
            handler["timeout"] = host.timeout
        text = set_value(
            text,
            ("hooks", event, "-"),
            {"hooks": [handler]} if host.layout == "groups" else handler,
            has_comments=host.has_comments,
        )
    return text


def without_hooks(text: str, host: Host) -> str:
    """Return settings without memoryd's hooks, and without lists that become empty; raises ValueError."""
    while handler := next(_our_handlers(text, host), None):
        text = remove_value(text, handler[2], has_comments=host.has_comments)
    return text


def _our_handlers(text: str, host: Host) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield event, command and path of memoryd's handlers; the path of the group if all its handlers are memoryd's."""
    hooks = parse_settings(text, has_comments=host.has_comments).get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(rows, list) for rows in hooks.values()):
        raise ValueError(f"its hooks are not as {host.title} has them")
    for event, rows in hooks.items():
        for place, row in enumerate(rows):
            path = ("hooks", event, str(place))
            if host.layout == "handlers":
                if _is_ours(row):
                    yield event, str(row["command"]), path
                continue
            handlers = row.get("hooks") if isinstance(row, dict) else None
            handlers = handlers if isinstance(handlers, list) else []
            is_all = all(map(_is_ours, handlers))
            for number, handler in enumerate(handlers):
                if _is_ours(handler):
                    yield event, str(handler["command"]), path if is_all else (*path, "hooks", str(number))


def _is_ours(handler: Any) -> bool:
    return isinstance(handler, dict) and _OURS.search(str(handler.get("command", ""))) is not None


def _plugin(host: Host, commands: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return name → text of the files of a host's plugin, the main file first; empty for hosts that run commands."""
    if host.layout != "plugin":
        return {}
    folder = files("memoryd.hooks") / "plugins"
    # all events run one command, into which the plugin puts the event
    words = json.dumps(shlex.split(next(iter(commands.values())))) if commands else "[]"
    texts = {file.name: file.read_text(encoding="utf-8") for file in (folder / host.name).iterdir()}
    main, ask = host.settings.rpartition("/")[2], (folder / "ask.js").read_text(encoding="utf-8")
    return {main: texts.pop(main).replace("/* ASK */\n", ask + "\n").replace("[/* COMMAND */]", words), **texts}


def _with_server(text: str, host: Host, path: Path) -> str:
    """Return a text with memoryd's server and the current interpreter; a foreign server, and own arguments, stay."""
    key = host.mcp[2] if host.mcp else ""
    program, arguments = sys.executable, ["-P", "-m", "memoryd.cli", "mcp"]
    if _SERVER in (servers := _servers(text, path, key)):
        words = command_words(servers[_SERVER])
        is_unedited = _is_our_server(text, path, host) and words[1 : len(arguments) + 1] == arguments
        if not is_unedited or words[0] == program:
            return text
        if path.suffix != ".toml":
            command = [program, *words[1:]] if key == "mcp" else program
            return set_value(text, (key, _SERVER, "command"), command, has_comments=True)
        arguments = words[1:]
    if path.suffix == ".toml":
        text = with_block(text, _toml_block(key, program, arguments))
        tomllib.loads(text)  # raises if the table conflicts with an existing key
        return text
    entry: dict[str, object] = {"command": program, "args": arguments}
    if key == "mcp":
        entry = {"type": "local", "command": [program, *arguments], "enabled": True}
    elif key == "servers":
        entry = {"type": "stdio", **entry}
    return set_value(text, (key, _SERVER), entry, has_comments=True)


def _is_our_server(text: str, path: Path, host: Host) -> bool:
    """Return whether the server with memoryd's name is memoryd's: in TOML between the marks, else by its module."""
    key = host.mcp[2] if host.mcp else ""
    if path.suffix == ".toml":
        return without_block(text, _toml_block(key)) != text
    return "memoryd.cli" in json.dumps(_servers(text, path, key).get(_SERVER))


def command_words(server: Any) -> list[str]:
    """Return a server's program and arguments, from one list or from two fields; empty for another form."""
    server = server if isinstance(server, dict) else {}
    command, arguments = server.get("command"), server.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    return words if all(isinstance(word, str) for word in words) else []


def _servers(text: str, path: Path, key: str) -> dict[str, Any]:
    settings = tomllib.loads(text) if path.suffix == ".toml" else parse_settings(text, has_comments=True)
    servers = settings.get(key)
    return servers if isinstance(servers, dict) else {}


def _toml_block(key: str, program: str = "", arguments: Sequence[str] = ()) -> str:
    """Return the block of memoryd's server between its marks; to find a block only the marks matter."""
    lines = (f"[{key}.{_SERVER}]", f"command = {json.dumps(program)}", f"args = {json.dumps(list(arguments))}")
    return "\n".join((f"# memoryd: begin; {_MARK} install wrote this", *lines, "# memoryd: end\n"))


def _with(text: str, part: Part, host: Host, path: Path, commands: Mapping[str, str]) -> str:
    """Return a text with a part of memoryd, unchanged if it is there already; raises ValueError if impossible."""
    if _is_own_file(part, host):
        if text and _MARK not in text:
            raise ValueError("another program wrote it")
        return skill_text() if part == "skill" else _plugin(host, commands)[path.name]
    if part == "instructions":
        return with_block(text, skill_block())
    return with_hooks(text, host, commands) if part == "hooks" else _with_server(text, host, path)


def _without(text: str, part: Part, host: Host, path: Path) -> str:
    """Return a text without a part of memoryd."""
    if _is_own_file(part, host):
        return "" if _MARK in text else text
    if part == "instructions":
        return without_block(text, skill_block())
    if part == "hooks":
        return without_hooks(text, host)
    if _SERVER not in text or not _is_our_server(text, path, host):
        return text  # without memoryd's name the text need not even be parseable
    key = host.mcp[2] if host.mcp else ""
    if path.suffix == ".toml":
        return without_block(text, _toml_block(key))
    return remove_value(text, (key, _SERVER), has_comments=True)


def _is_own_file(part: Part, host: Host) -> bool:
    """Return whether memoryd owns a file with this part completely."""
    return part == "skill" or (part == "hooks" and host.layout == "plugin")


def _before(change: SettingsChange, host: Host, parts: list[Part]) -> str | None:
    """Return the text for a file after the removal of parts: that of the backup, unless the file was edited since.

    The file was not edited if adding the parts to the backup, and removing them, gives the new text (except blanks).
    """
    text, backup = change.text or "", read_settings(change.before.backup)
    # the commands do not matter, since they are removed again
    own = dict.fromkeys(host.events, "python3 -P -m memoryd.hooks event")
    restored = backup.text
    try:
        for part in parts:
            restored = _without(_with(restored, part, host, change.before.path, own), part, host, change.before.path)
    except ValueError:
        return text
    if restored.split() != text.split():
        return text
    return backup.text if backup.stat is not None else None
