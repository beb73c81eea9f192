"""Sizes of files and folders of the package; exceptions have their reasons here."""

import ast
from collections import Counter
from pathlib import PurePath
from statistics import median

from tests.package_trees import SOURCES, TREES, nodes

SMALL = {
    "cli/__main__.py": "runs before anything is imported",
    "cli/local/completion.py": "is read at the start of each shell, and imports nothing else",
    "domain/expressions.py": "all others make their patterns by it",
    "domain/text/tokens.py": "one table of weights, for texts that nothing else is known of",
    "domain/vector.py": "imports numpy, which the configuration must not",
    "hooks/__main__.py": "a program of its own, named in the settings of users",
    "sidecar/leash.py": "a program of its own",
}
"""Files of fewer than 60 lines, with the reasons."""
LONG = frozenset({"domain/memories/capture/outdating_weights.py"})
"""Files of more than 460 lines: one table, which a program writes."""
LINES = {file: text.count("\n") for file, text in SOURCES.items() if PurePath(file).name != "__init__.py"}


def test_files_are_few_and_not_small() -> None:
    assert len(SOURCES) <= 540
    assert median(LINES.values()) >= 200


def test_no_file_is_too_long() -> None:
    assert {file for file, lines in LINES.items() if lines > 460} == LONG


def test_small_files_have_a_reason() -> None:
    assert {file for file, lines in LINES.items() if lines < 60} == SMALL.keys()


def test_no_folder_is_too_full() -> None:
    folders = Counter(PurePath(file).parent for file in LINES)
    assert {folder: count for folder, count in folders.items() if count > 25} == {}


def constants_changed(tree: ast.Module) -> set[str]:
    """Return the names in capitals that a module assigns more than once, in any function or module."""
    bound = Counter(
        name.id
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    )
    declared = {name for node in nodes(tree) if isinstance(node, ast.Global) for name in node.names}
    stored = {
        ast.unparse(node) for node in nodes(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    twice = {name for name, count in bound.items() if count > 1}
    return {name for name in twice | declared | stored if name.rpartition(".")[2].strip("_").isupper()}


def test_constants_keep_their_value() -> None:
    """Names in capitals are constants without `Final`, which is for literal types."""
    assert {file: names for file, tree in TREES.items() if (names := constants_changed(tree))} == {}
    for text in (
        "A = 1\nif A:\n    A = 2",
        "def change():\n    global A\n    A = 2",
        "from b import other\nother.A = 2",
    ):
        assert constants_changed(ast.parse(text))
    assert not constants_changed(
        ast.parse("A = 1\nclass Other:\n    A = 2\n    def change(self):\n        A = self.a = 2")
    )
