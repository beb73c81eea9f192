"""The fault catalogue against the tests: which rows have one, by the numbers in the tests' names.

python -m tests.fault.coverage
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

TESTS = Path(__file__).parents[1]
SECTIONS: Mapping[str, tuple[int, int]] = {
    "A. File system events": (1, 34),
    "B. Save patterns": (35, 44),
    "C. SQLite": (45, 68),
    "D. Embedding model": (69, 80),
    "E. Sidecar": (81, 96),
    "F. Socket and API": (97, 120),
    "G. Process and configuration": (121, 133),
    "H. Resource limits": (134, 140),
    "I. Security": (141, 157),
}
NOT_HERE: Mapping[int, str] = {
    33: "macOS only",
    62: "guarded by the linter too: only the store may open a database",
    68: "nothing to do: the index is a cache",
}
"""Rows that Linux cannot trigger, or that ask for nothing."""
_NUMBER = re.compile(r"_f(\d{3})(?=_)", re.IGNORECASE)


def covered(tests: Path = TESTS) -> dict[int, list[str]]:
    """Return the tests of each row, as `file::name`."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        for name in _tests_in(path):
            for number in _NUMBER.findall(name):
                found[int(number)].append(f"{path.relative_to(tests)}::{name}")
    return found


def _tests_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


def _lines(found: Mapping[int, list[str]]) -> Iterator[str]:
    for section, (first, last) in SECTIONS.items():
        rows = range(first, last + 1)
        have = sum(row in found or row in NOT_HERE for row in rows)
        yield f"\n{section}: {have} of {len(rows)} rows"
        for row in rows:
            names = found.get(row, [])
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield f"  {row:3}  " + (names[0] + more if names else NOT_HERE.get(row, "-"))


@click.command()
@click.option("--strict", default="", help="Sections, such as ABCD, in which a row without a test is an error.")
def main(strict: str) -> None:
    """Print which rows of the fault catalogue have a test."""
    found = covered()
    for line in _lines(found):
        click.echo(line)
    wanted = [rows for section, rows in SECTIONS.items() if section[0] in strict]
    missing = [
        row for first, last in wanted for row in range(first, last + 1) if row not in found and row not in NOT_HERE
    ]
    if missing:
        click.echo(f"\nwithout a test: {missing}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
