"""Figures that are kept, to compare with: by class of machine and measurement, each beside the yardstick of its run.

Times are compared as multiples of the yardstick, so that a faster machine, or a busy one, is not taken for a change of
memoryd; sizes and counts are compared as they are. `make bench-record` writes the record, its page shows it.
"""

import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
import msgspec

from bench.measurement import Row

FILE = Path(__file__).with_name("recorded.json")
TIMES = ("ms", "s")
USUAL = "usual"
"""The effort of a run without options; others measure with other sizes, and are compared with their own only."""


class BadRecord(click.ClickException):
    """A file that holds no record, or one without what is to be compared; the text says what is wrong."""

    exit_code = 2


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One figure."""

    name: str
    value: float
    unit: str


class Taken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures of one measurement, and what they were taken with."""

    day: str
    version: str
    python: str
    effort: str
    load: float
    """How many programs wanted a processor when the run began: what waits, waits longer then."""
    yardstick_ms: float
    figures: Sequence[Kept]

    def of(self, row: Row) -> Kept | None:
        """Return what was kept of this figure, if it had the same unit."""
        return next((kept for kept in self.figures if (kept.name, kept.unit) == (row.name, row.unit)), None)

    def ratio(self, row: Row, yardstick_ms: float) -> float | None:
        """Return how many times the kept figure this is; None where there is nothing to compare."""
        kept = self.of(row)
        if kept is None or kept.value == 0:
            return None
        faster = self.yardstick_ms / yardstick_ms if row.unit in TIMES else 1.0
        return row.value / kept.value * faster


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is kept: by class of machine, then by measurement."""

    classes: Mapping[str, Mapping[str, Taken]]

    def find(self, machine: str, measurement: str, effort: str) -> tuple[str, Taken] | None:
        """Return what was taken on this class of machine, or else the last of another one, and which class that is."""
        own = self.classes.get(machine, {}).get(measurement)
        if own is not None and own.effort == effort:
            return machine, own
        others = [
            (name, taken[measurement])
            for name, taken in self.classes.items()
            if measurement in taken and taken[measurement].effort == effort
        ]
        return max(others, key=lambda one: one[1].day, default=None)

    def with_taken(self, machine: str, taken: Mapping[str, Taken], known: Iterable[str]) -> "Record":
        """Return a record with these measurements in the place of earlier ones, and none that is not known any more."""
        own = {**self.classes.get(machine, {}), **taken}
        kept = {name: own[name] for name in known if name in own}
        return Record({**self.classes, machine: kept})


def load(path: Path = FILE) -> Record:
    """Return the record, an empty one if there is no file; raises BadRecord."""
    if not path.exists():
        return Record({})
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError) as exc:
        raise BadRecord(f"{path}: this is no record of `make bench-record`: {exc}") from exc


def save(record: Record, path: Path = FILE) -> None:
    """Write the record."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record, order="deterministic"), indent=1) + b"\n")


def machine_class() -> str:
    """Return what machines have in common whose figures hardly differ but by the yardstick."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {version}"
