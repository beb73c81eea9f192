"""The size of things: a file is worth opening, a folder can be read, and what is smaller has its reason here."""

from collections import Counter
from pathlib import PurePath
from statistics import median

from tests.package_trees import SOURCES

SMALL = {
    "cli/importing/claude_mem.py": "the one source that is a database: it alone reaches the room of these",
    "store/foreign.py": "databases of others, which are read as nothing else is",
    "api/calls/opinions.py": "the calls of one noun, as each file of its folder",
    "api/calls/team.py": "the calls of one noun, as each file of its folder",
    "cli/__main__.py": "runs before anything is imported",
    "cli/local/completion.py": "is read at the start of each shell, and imports nothing else",
    "domain/expressions.py": "all others make their patterns by it",
    "domain/text/tokens.py": "one table of weights, for texts that nothing else is known of",
    "domain/vector.py": "imports numpy, which the configuration must not",
    "hooks/__main__.py": "a program of its own, named in the settings of users",
    "sidecar/leash.py": "a program of its own",
}
"""Files of fewer than 60 lines, and why each is one."""
LINES = {file: text.count("\n") for file, text in SOURCES.items() if PurePath(file).name != "__init__.py"}


def test_files_are_few_and_worth_opening() -> None:
    assert len(SOURCES) <= 540
    assert median(LINES.values()) >= 200


def test_no_file_is_too_long() -> None:
    assert {file: lines for file, lines in LINES.items() if lines > 460} == {}


def test_small_files_have_a_reason() -> None:
    assert {file for file, lines in LINES.items() if lines < 60} == SMALL.keys()


def test_no_folder_is_too_full() -> None:
    folders = Counter(PurePath(file).parent for file in LINES)
    assert {folder: count for folder, count in folders.items() if count > 25} == {}
