"""The skill is short and valid, and the commands, options and tools that it names exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from memoryd.cli.local.hook_settings import skill_block, skill_text
from memoryd.cli.main import memoryctl
from memoryd.mcp.table import TABLE
from memoryd.wire import Exit
from tests.daemon import indexed_daemon, write_workspace
from tests.warm.programs import ran

TEXT = skill_text()
NAMES = re.compile(r"`([a-z]+_[a-z]+|recall)`")
COMMANDS = [
    found[0] or found[1] for found in re.findall(r"^    (memoryctl .*)$|`(memoryctl [^`]*)`", TEXT, re.MULTILINE)
]


def command_of(words: list[str]) -> click.Command:
    context = click.Context(memoryctl)
    found = memoryctl.get_command(context, words[0])
    assert found is not None, words
    return found


def test_skill_has_the_specified_format() -> None:
    lines = TEXT.splitlines()
    assert len(lines) <= 60
    head = lines[1 : lines.index("---", 1)]
    keys = dict(line.split(": ", 1) for line in head)
    assert keys.keys() == {"name", "description"}
    # https://agentskills.io/specification
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", keys["name"])
    assert len(keys["description"]) <= 1024
    for heading in ("When to ask", "When to store", "Replace instead of adding", "Cite", "Never store"):
        assert f"## {heading}" in lines


def test_block_is_the_same_text_between_markers() -> None:
    first, *body, last = skill_block().splitlines()
    assert (first[:21], last) == ("<!-- memoryd: begin; ", "<!-- memoryd: end -->")
    assert "\n".join(body) == TEXT.split("---\n", 2)[2].strip()


def test_named_tools_exist() -> None:
    named = set(NAMES.findall(TEXT))
    assert {"recall", "memory_search", "memory_get", "memory_add", "memory_replace"} <= named
    assert named <= {row.name for row in TABLE}


@pytest.mark.parametrize("line", COMMANDS)
def test_named_commands_and_options_exist(line: str) -> None:
    words = shlex.split(line)[1:]
    command = command_of(words)
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options


def test_shown_commands_work(tmp_path: Path) -> None:
    workspace = write_workspace(tmp_path / "ws")
    with indexed_daemon(tmp_path, workspace) as running:

        def run(*words: str, code: int = Exit.DONE) -> str:
            command = [sys.executable, "-c", "from memoryd.cli.main import main; main()", *words]
            done = ran(command, env=running.env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            assert done.returncode == code, done.stderr
            return str(done.stdout or done.stderr)

        shown = {shlex.split(line)[1]: shlex.split(line)[1:] for line in COMMANDS if '"' in line}
        run(*shown["retain"])
        [note] = [path for path in (workspace / "memory").glob("*.md") if "8443" in path.read_text()]
        number = next(place for place, line in enumerate(note.read_text().splitlines(), 1) if "8443" in line)
        assert "- W(from=agent) @gateway: listens" in note.read_text()
        verb, option, _, text = shown["replace"]
        run(verb, option, f"memory/{note.name}#L{number}", text)
        recalled = run(*shown["recall"])
        assert "9443" in recalled
        assert "8443" not in recalled[: recalled.index("9443")], "the current value comes first"
        assert "GW-4172" in run("search", "GW-4172")
        running.client().retain("W @harbour: closes at nine")
        refused = run(verb, option, "harbour closes", "W @harbour: closes at ten", code=Exit.ERROR)
        assert "what the owner stated or pinned holds" in refused
        run("retain", option, "--team", "W @harbour: closes at ten", code=Exit.USAGE)
