"""The catalogue of faults matches the numbered tests, and names what is open."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.fault import catalogue
from tests.fault.coverage import TESTS as FOLDER
from tests.fault.coverage import Numbered, by_row, functions_of, main, numbered, table

SECTIONS = catalogue.read()
ROWS = {row.number: row for section in SECTIONS for row in section.rows}


STRUCK = {33}


@pytest.fixture(scope="module")
def tests() -> list[Numbered]:
    """The numbered tests; finding them parses all tests."""
    return numbered()


def test_rows_are_numbered_from_1_without_gaps_except_struck_ones() -> None:
    numbers = [row.number for section in SECTIONS for row in section.rows]
    assert numbers == [number for number in range(1, max(numbers) + 1) if number not in STRUCK]
    assert [section.letter for section in SECTIONS] == list("ABCDEFGHI")


def test_each_numbered_test_has_its_own_docstring(tests: list[Numbered]) -> None:
    assert [test.place for test in tests if not re.fullmatch(r"[A-Z0-9`/].{20,}[.]", test.says)] == []
    assert len(tests) == len({test.says for test in tests})


def test_no_test_name_has_a_number_without_its_letter() -> None:
    """Such a test would not be counted: `test_131_…` is meant as `test_f131_…`."""
    names = [test.name for path in sorted(FOLDER.rglob("test_*.py")) for test in functions_of(path)]
    assert len(names) > 1_000
    assert [name for name in names if re.match(r"test_\d{3}_", name)] == []


def test_each_number_of_a_test_is_in_the_catalogue(tests: list[Numbered]) -> None:
    assert [test.place for test in tests if not set(test.rows) <= ROWS.keys()] == []


def test_row_without_a_test_in_each_run_has_a_reason(tests: list[Numbered]) -> None:
    tested = by_row([test for test in tests if not test.is_rare])
    assert [number for number, row in ROWS.items() if not row.why_open and number not in tested] == []


def test_counts_of_the_table_match_the_rows(tests: list[Numbered]) -> None:
    lines = list(table(SECTIONS, by_row(tests)))
    is_open = sum(line.strip().startswith("open: ") for line in lines)
    assert lines[-1].strip() == f"{len(ROWS) - is_open} of {len(ROWS)} rows"
    counted = [int(found[1]) for line in lines if (found := re.match(r"\n[A-I]\. .*: (\d+) of \d+ rows", line))]
    assert sum(counted) == len(ROWS) - is_open
    assert sum(line.startswith("       - ") for line in lines) == sum(len(test.rows) for test in tests)
    assert is_open == sum(bool(row.why_open) for row in ROWS.values())


def test_row_counts_only_with_a_test_and_without_a_reason(tmp_path: Path) -> None:
    (tmp_path / "table.md").write_text(
        "# T\n\n## A. Some\n\n| row | fault | what must hold | open, since |\n|---|---|---|---|\n"
        "| 1 | a | b | |\n| 2 | c | d | not built |\n| 3 | e | f | |\n"
    )
    (tmp_path / "test_some.py").write_text('def test_f001_f002_some() -> None:\n    """Says it."""\n')
    lines = list(table(catalogue.read(tmp_path / "table.md"), by_row(numbered(tmp_path))))
    assert lines == [
        "\nA. Some: 1 of 3 rows",
        "\n    1  a: b",
        "       - Says it.",
        "         test_some.py::test_f001_f002_some",
        "\n    2  c: d",
        "       open: not built",
        "       - Says it.",
        "         test_some.py::test_f001_f002_some",
        "\n    3  e: f",
        "       open: no test",
        "\n1 of 3 rows",
    ]


def test_malformed_row_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "table.md").write_text("## A. Some\n\n| 1 | a | b |\n")
    with pytest.raises(ValueError, match="no row"):
        catalogue.read(tmp_path / "table.md")


def test_strict_sections_with_an_open_row_are_an_error() -> None:
    assert CliRunner().invoke(main, []).exit_code == 0
    for section in SECTIONS:
        is_open = any(row.why_open for row in section.rows)
        assert CliRunner().invoke(main, ["--strict", section.letter]).exit_code == int(is_open)
