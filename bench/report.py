"""The figures beside the recorded ones as a table for people, and as JSON."""

import json
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.measurement import Row
from bench.record import Kept, Record, Taken, machine_class
from memoryd import __version__

WIDTH = 160
"""Of the tables, in columns, where no terminal says otherwise."""


@dataclass(slots=True)
class Report:
    """What was measured, by measurement, and which of them failed and why."""

    effort: str
    record: Record = field(default_factory=lambda: Record({}))
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    load: float = field(default_factory=lambda: _load())
    """When it began."""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    yardstick_ms: dict[str, float] = field(default_factory=dict)
    """Of each measurement."""
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, measurement: str, row: Row) -> None:
        """Take a figure."""
        self.rows.setdefault(measurement, []).append(row)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self._document(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def taken(self) -> dict[str, Taken]:
        """Return what is to be kept: the figures of each measurement that did not fail."""
        taken = partial(
            Taken,
            day=self.started_at.date().isoformat(),
            version=__version__,
            python=platform.python_version(),
            effort=self.effort,
            load=self.load,
        )
        return {
            name: taken(yardstick_ms=round(self.yardstick_ms[name], 2), figures=_kept(rows))
            for name, rows in self.rows.items()
            if name not in self.failures
        }

    def print(self, console: Console) -> None:
        """Print one table for each measurement, and the failures."""
        for measurement, rows in self.rows.items():
            console.print(self._table(measurement, rows))
        for measurement, reason in self.failures.items():
            console.print(f"[red]{measurement} failed:[/red] {reason}", highlight=False)
        missed = [row.name for row in self._all() if row.aim and not row.aim.is_met(row.value)]
        aims = sum(1 for row in self._all() if row.aim)
        console.print(f"{aims - len(missed)} of {aims} aims met" + (f"; missed: {'; '.join(missed)}" if missed else ""))

    def _table(self, measurement: str, rows: Iterable[Row]) -> Table:
        found = self.record.find(machine_class(), measurement, self.effort)
        title = f"{measurement} ({self.seconds.get(measurement, 0):.0f} s)"
        if found is not None:
            title += f", recorded {found[1].day} on {found[0]}"
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("figure")
        for head in ("value", "aim", "recorded", "×"):
            table.add_column(head, justify="right", no_wrap=True)
        table.add_column("note", style="dim")
        for row in rows:
            style = "" if row.aim is None else "green" if row.aim.is_met(row.value) else "red"
            value = Text(f"{short(row.value)} {row.unit}".rstrip(), style=style)
            table.add_row(row.name, value, str(row.aim or ""), *self._compared(measurement, row, found), row.note)
        return table

    def _compared(self, measurement: str, row: Row, found: tuple[str, Taken] | None) -> tuple[str, str]:
        kept = found and found[1].of(row)
        if found is None or kept is None:
            return "", ""
        ratio = found[1].ratio(row, self.yardstick_ms[measurement])
        return short(kept.value), "" if ratio is None else f"{ratio:.2f}"

    def _all(self) -> Iterator[Row]:
        for rows in self.rows.values():
            yield from rows

    def _document(self) -> dict[str, object]:
        return {
            "version": __version__,
            "startedAt": self.started_at.isoformat(timespec="seconds"),
            "effort": self.effort,
            "machine": {**_machine(), "loadAtStart": self.load, "loadAtEnd": _load()},
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "yardstickMs": {name: round(ms, 2) for name, ms in self.yardstick_ms.items()},
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


def _kept(rows: Iterable[Row]) -> list[Kept]:
    return [Kept(row.name, float(f"{row.value:.4g}"), row.unit) for row in rows if row.unit or row.value]


def short(value: float) -> str:
    """Return three significant digits, and no fewer than the whole part has."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.0e}"


def _machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def _load() -> float:
    return round(os.getloadavg()[0], 2)
