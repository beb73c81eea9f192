"""The rows of the fault catalogue, read from the table beside this file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("catalogue.md")
_SECTION = re.compile(r"## (?P<letter>[A-Z])\. (?P<name>.+)")
_ROW = re.compile(r"\| (?P<number>\d+) \| (?P<fault>[^|]+) \| (?P<must_hold>[^|]+) \| (?:(?P<why_open>[^|]+) )?\|")


@dataclass(frozen=True, slots=True)
class Row:
    """A fault, what must hold in spite of it, and, if no test asserts all of that, the reason."""

    number: int
    fault: str
    must_hold: str
    why_open: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The rows below one heading."""

    letter: str
    name: str
    rows: tuple[Row, ...]


def read(table: Path = TABLE) -> tuple[Section, ...]:
    """Return the sections in order; raise ValueError for a malformed row."""
    _, *parts = re.split(r"^(?=## )", table.read_text(), flags=re.MULTILINE)
    return tuple(_section(part) for part in parts)


def _section(part: str) -> Section:
    heading, *lines = part.splitlines()
    found = _SECTION.fullmatch(heading)
    if found is None:
        raise ValueError(f"no heading of a section: {heading}")
    return Section(found["letter"], found["name"], tuple(_rows(lines)))


def _rows(lines: list[str]) -> Iterator[Row]:
    for line in lines:
        if not line.strip() or line.startswith(("| row ", "|---")):
            continue
        found = _ROW.fullmatch(line)
        if found is None:
            raise ValueError(f"no row: {line}")
        yield Row(int(found["number"]), found["fault"], found["must_hold"], found["why_open"] or "")
