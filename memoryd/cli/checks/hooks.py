"""The part of `memoryctl doctor` about what agent programs run of ours: do the programs in their settings exist.

Settings of others are read, and no command in them is run.
"""

import json
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks, Remedy
from memoryd.domain.claude_settings import EVENTS
from memoryd.errors import MemorydError

if TYPE_CHECKING:
    from memoryd.cli.claude_settings_file import SettingsFile

INSTALL: Final = "memoryctl hooks install claude-code"
CLIENTS: Final = (
    "~/.claude.json",
    "~/.cursor/mcp.json",
    "~/.gemini/settings.json",
    "~/.codeium/windsurf/mcp_config.json",
    "~/.config/Claude/claude_desktop_config.json",
    "~/Library/Application Support/Claude/claude_desktop_config.json",
    "~/.codex/config.toml",
)
"""Where clients of the Model Context Protocol keep which servers they start."""
_KEYS: Final = ("mcpServers", "mcp_servers")
_OURS: Final = ("memoryctl", "memoryd")


def programs(_examination: Examination) -> Iterator[Finding]:
    """Look at the hooks in the settings of Claude Code."""
    # here, since it reaches the room that touches files
    from memoryd.cli.claude_settings_file import read_settings, settings_path

    settings = read_settings(settings_path(None))
    commands = settings.commands()
    if not commands:
        yield Finding("hooks", "off", "not installed", f"{INSTALL} lets Claude Code ask memoryd")
        return
    missing = {name for command in commands.values() if (name := missing_program(command))}
    for name in sorted(missing):
        message = f"{settings.path} runs {name}, which is not there"
        yield Finding("hooks", "wrong", message, INSTALL, _installed_again(settings, commands))
    if lacking := [event for event in EVENTS if event not in commands]:
        yield Finding("hooks", "look", f"installed in part: {', '.join(lacking)} of {settings.path} lack", INSTALL)
    elif not missing:
        yield Finding("hooks", "ok", f"installed in {settings.path}")


def mcp_servers(_examination: Examination) -> Iterator[Finding]:
    """Look at entries for memoryd in the settings of MCP clients."""
    found = list(_entries())
    if not found:
        yield Finding("MCP", "off", "no client on this machine names memoryd", "docs/how-to/mcp.md says how to")
    for path, command in found:
        if name := missing_program(command):
            hint = f"name the whole path there: {shutil.which('memoryctl') or 'that of memoryctl'}"
            yield Finding("MCP", "wrong", f"{path} runs {name}, which is not there", hint)
        else:
            yield Finding("MCP", "ok", f"{path} runs {shlex.split(command)[0]}")


def missing_program(command: str) -> str:
    """Return the program that a command line runs if it cannot be run from here; empty if it can."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return "" if words and shutil.which(words[0]) else words[0] if words else command


def _installed_again(settings: "SettingsFile", commands: Mapping[str, str]) -> Remedy:
    def act() -> str:
        # here, as above
        from memoryd.cli.claude_settings_file import write_settings

        write_settings(settings, settings.installed({event: _mended(told) for event, told in commands.items()}))
        return f"{settings.path} runs {sys.executable}"

    return Remedy(f"name this Python in {settings.path}: {sys.executable}", act)


def _mended(command: str) -> str:
    """Return the command with this Python in place of a program that is gone; its options stay."""
    return shlex.join([sys.executable, *shlex.split(command)[1:]]) if missing_program(command) else command


def _entries() -> Iterator[tuple[Path, str]]:
    for name in CLIENTS:
        path = Path(name).expanduser()
        if path.is_file():
            for entry in _servers(_read(path)):
                words = _words(entry)
                if words[0] and any(Path(word).name.startswith(_OURS) for word in words):
                    yield path, shlex.join(words)


def _words(entry: Mapping[str, object]) -> list[str]:
    given = entry.get("args")
    return [str(entry.get("command", "")), *map(str, given if isinstance(given, list) else ())]


def _read(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError) as exc:
        raise MemorydError(
            f"{path} cannot be read: {exc}", hint="mend it by hand; memoryd changes nothing there"
        ) from exc


def _servers(settings: object) -> Iterator[Mapping[str, object]]:
    if not isinstance(settings, dict):
        return
    for key in _KEYS:
        servers = settings.get(key)
        for entry in servers.values() if isinstance(servers, dict) else ():
            if isinstance(entry, dict):
                yield entry


LOOKS: Looks = {"hooks.programs": programs, "hooks.mcp": mcp_servers}
