"""The snippets of `docs/how-to/mcp.md` are valid, and their command lines start the MCP server."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.mcp.table import WriteLevel, rows_of
from tests.daemon import RunningDaemon, write_config
from tests.mcp_program import McpProgram

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mcp.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(json|toml|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CLIENTS = ("Claude Code", "Claude Desktop", "Cursor", "Gemini CLI", "VS Code", "Codex", "Zed")


def command_lines() -> Iterator[list[str]]:
    """Yield the command lines of the snippets."""
    for kind, text in BLOCK.findall(PAGE):
        if kind == "text":
            yield shlex.split(text.partition(" -- ")[2])
        else:
            found: dict[str, Any] = json.loads(text) if kind == "json" else tomllib.loads(text)
            [servers] = found.values()
            yield [servers["memoryd"]["command"], *servers["memoryd"]["args"]]


def test_each_client_has_a_snippet() -> None:
    assert all(re.search(f"^## .*{client}", PAGE, re.MULTILINE) for client in CLIENTS)
    assert len(list(command_lines())) == 5


@pytest.mark.parametrize("words", sorted({tuple(words[1:]) for words in command_lines()}))
def test_command_line_of_a_snippet_speaks_the_protocol(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert words[0] == "mcp"
    daemon = RunningDaemon(tmp_path, write_config(tmp_path, tmp_path, None), tmp_path)
    with McpProgram(daemon, *words[1:]) as program:
        program.greet()
        offered = {tool["name"] for tool in program.answer(program.send("tools/list"))["result"]["tools"]}
        assert offered == rows_of(WriteLevel.ADD if "--write" in words else WriteLevel.READ).keys()
        assert program.end() == 0


def test_every_tool_is_in_the_table() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    options = {WriteLevel.READ: "always", WriteLevel.ADD: "`--write`", WriteLevel.ALL: "`--write=all`"}
    for name in rows_of(WriteLevel.ALL):
        first = min(level for level in WriteLevel if name in rows_of(level))
        [row] = [row for row in rows if f"`{name}`" in row.split("|")[1]]
        assert row.endswith(f"| {options[first]} |"), name


def test_commands_all_start_memoryctl() -> None:
    assert {words[0] for words in command_lines()} == {"memoryctl"}
