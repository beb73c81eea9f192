"""The page on imports matches the table of sources, and its commands are valid."""

import re

import pytest

from memoryd.cli.importing.sources import JSONL, SOURCES
from memoryd.cli.invocation import HELP
from memoryd.cli.main import COMMANDS
from memoryd.cli.memory.transfer import FORMATS
from tests.docs.shown import ROOT

PAGE = (ROOT / "docs/how-to/bring-what-you-have.md").read_text()
ROWS = re.findall(r"^\| `(\w[\w-]*)` \| (.*) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)


def test_page_has_the_rows_of_the_sources() -> None:
    cells_by_name = {name: tuple(cells) for name, *cells in ROWS if name != JSONL}
    assert cells_by_name == {name: (row.takes, row.becomes, row.leaves) for name, row in SOURCES.items()}
    assert [name for name, *_ in ROWS] == [*SOURCES, JSONL]


@pytest.mark.parametrize("line", re.findall(r"^memoryctl .*$", PAGE, re.MULTILINE))
def test_each_command_is_valid(line: str) -> None:
    _, name, *words = line.partition("#")[0].split()
    command = COMMANDS[name].load()
    with command.make_context(name, words, help_option_names=HELP["help_option_names"]) as context:
        assert context.params


def test_each_format_is_named() -> None:
    assert all(f"--format {name}" in PAGE for name in FORMATS if name != "jsonl")
