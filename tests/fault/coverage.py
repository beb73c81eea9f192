"""The fault catalogue with its tests: what must hold in each row, and what each test asserts.

python -m tests.fault.coverage
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click

from tests.fault import catalogue
from tests.fault.catalogue import Row, Section

TESTS = Path(__file__).parents[1]
_NUMBER = re.compile(r"_f(\d{3})(?=_)")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A test with the numbers of rows in its name."""

    place: str
    """As `file::name`."""
    says: str
    """The first line of its docstring: what it asserts."""
    rows: tuple[int, ...]
    is_rare: bool
    """Whether it runs in `make torture` alone."""


def numbered(tests: Path = TESTS) -> list[Numbered]:
    """Return the tests with a number, by file."""
    return [
        Numbered(
            f"{path.relative_to(tests)}::{test.name}",
            _says(test),
            tuple(map(int, _NUMBER.findall(test.name))),
            is_rare="pytest.mark.torture" in map(ast.unparse, test.decorator_list),
        )
        for path in sorted(tests.rglob("test_*.py"))
        for test in functions_of(path)
        if _NUMBER.search(test.name)
    ]


@cache
def functions_of(path: Path) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """Return the test functions of a module, including those in classes."""
    top = ast.parse(path.read_text()).body
    inner = (node for statement in top if isinstance(statement, ast.ClassDef) for node in statement.body)
    return tuple(
        node
        for node in (*top, *inner)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def _says(test: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return (ast.get_docstring(test) or "").partition("\n")[0]


def by_row(found: Sequence[Numbered]) -> Mapping[int, list[Numbered]]:
    """Return the tests of each row that has some."""
    rows: dict[int, list[Numbered]] = defaultdict(list)
    for test in found:
        for row in test.rows:
            rows[row].append(test)
    return rows


def is_covered(row: Row, tests: Mapping[int, list[Numbered]]) -> bool:
    """Tell whether a row counts: it has a test and no reason why it is open."""
    return bool(tests.get(row.number)) and not row.why_open


def table(sections: Sequence[Section], tests: Mapping[int, list[Numbered]]) -> Iterator[str]:
    """Yield the lines of the table: each row, then its tests with what they assert."""
    for section in sections:
        have = sum(is_covered(row, tests) for row in section.rows)
        yield f"\n{section.letter}. {section.name}: {have} of {len(section.rows)} rows"
        for row in section.rows:
            yield f"\n{row.number:5}  {row.fault}: {row.must_hold}"
            if not is_covered(row, tests):
                yield f"       open: {row.why_open or 'no test'}"
            for test in tests.get(row.number, ()):
                yield f"       - {test.says}"
                yield f"         {test.place}"
    rows = [row for section in sections for row in section.rows]
    yield f"\n{sum(is_covered(row, tests) for row in rows)} of {len(rows)} rows"


@click.command()
@click.option("--strict", default="", help="Sections, such as ABCD, in which an open row is an error.")
def main(strict: str) -> None:
    """Print the fault catalogue with its tests, and what is open."""
    sections, tests = catalogue.read(), by_row(numbered())
    for line in table(sections, tests):
        click.echo(line)
    wanted = [row for section in sections if section.letter in strict for row in section.rows]
    if missing := [row.number for row in wanted if not is_covered(row, tests)]:
        click.echo(f"\nopen: {missing}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
