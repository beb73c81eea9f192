"""The figures as a table for people and as JSON for comparison."""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.measurement import Row
from memoryd import __version__


@dataclass(slots=True)
class Report:
    """What was measured, by measurement, and which of them failed and why."""

    effort: str
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    machine: Mapping[str, object] = field(default_factory=lambda: _machine())
    rows: dict[str, list[Row]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, measurement: str, row: Row) -> None:
        """Take a figure."""
        self.rows.setdefault(measurement, []).append(row)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self._document(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def print(self, console: Console) -> None:
        """Print one table for each measurement, and the failures."""
        for measurement, rows in self.rows.items():
            console.print(_table(f"{measurement} ({self.seconds.get(measurement, 0):.0f} s)", rows))
        for measurement, reason in self.failures.items():
            console.print(f"[red]{measurement} failed:[/red] {reason}", highlight=False)
        missed = [row.name for row in self._all() if row.aim and not row.aim.is_met(row.value)]
        aims = sum(1 for row in self._all() if row.aim)
        console.print(f"{aims - len(missed)} of {aims} aims met" + (f"; missed: {'; '.join(missed)}" if missed else ""))

    def _all(self) -> Iterator[Row]:
        for rows in self.rows.values():
            yield from rows

    def _document(self) -> dict[str, object]:
        return {
            "version": __version__,
            "startedAt": self.started_at.isoformat(timespec="seconds"),
            "effort": self.effort,
            "machine": {**self.machine, "loadAtEnd": _load()},
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "rows": [_entry(measurement, row) for measurement, rows in self.rows.items() for row in rows],
            "failures": self.failures,
        }


def _entry(measurement: str, row: Row) -> dict[str, object]:
    return {
        "measurement": measurement,
        "name": row.name,
        "value": round(row.value, 4),
        "unit": row.unit,
        "aim": str(row.aim) if row.aim else None,
        "isMet": row.aim.is_met(row.value) if row.aim else None,
        "note": row.note,
    }


def _table(title: str, rows: Iterable[Row]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("figure")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("aim", justify="right", no_wrap=True)
    table.add_column("note", style="dim")
    for row in rows:
        style = "" if row.aim is None else "green" if row.aim.is_met(row.value) else "red"
        value = Text(f"{_short(row.value)} {row.unit}".rstrip(), style=style)
        table.add_row(row.name, value, str(row.aim or ""), row.note)
    return table


def _short(value: float) -> str:
    """Return three significant digits, and no fewer than the whole part has."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.0e}"


def _machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "loadAtStart": _load(),
    }


def _load() -> float:
    return round(os.getloadavg()[0], 2)
