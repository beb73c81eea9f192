"""Figures of an earlier evaluation, kept as JSON to compare with: only means and counts of whole sets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from bench.retrieval.figures import ALL, STRANGERS, Figures

Counters = Mapping[str, float]
"""By the name of the figure."""

BASELINE = Path(__file__).with_name("baseline.json")
KEPT = (ALL, STRANGERS)
GUARDED = "recall_at_5"
"""The measure that must not drop."""

SLACK = 1e-3
"""Of a measure in the file, which is rounded; far less than one question of any set."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Measures by set, mode and group of questions (`all` or `strangers`)."""

    measures: Mapping[str, Mapping[str, Mapping[str, Counters]]]

    def of(self, name: str, mode: str, group: str) -> Counters:
        """Return what was measured, nothing if it was not."""
        return self.measures.get(name, {}).get(mode, {}).get(group, {})


def load(path: Path) -> Baseline:
    """Return the baseline of a file, an empty one if there is no file."""
    if not path.exists():
        return Baseline({})
    try:
        found = json.loads(path.read_text("utf-8"))
        for modes in found.values():
            for groups in modes.values():
                for measures in groups.values():
                    sum(measures.values())
    except (OSError, ValueError, TypeError, AttributeError) as exc:
        raise click.ClickException(f"{path}: this is no baseline: {exc}") from exc
    return Baseline(found)


def save(path: Path, before: Baseline, found: Mapping[str, Mapping[str, Mapping[str, Figures]]]) -> None:
    """Write what was found over what stood in the baseline before; other sets and modes stay."""
    kept = {name: dict(modes) for name, modes in before.measures.items()}
    for name, modes in found.items():
        for mode, groups in modes.items():
            rows = {group: groups[group].measures() for group in KEPT if group in groups}
            kept.setdefault(name, {})[mode] = rows
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


def differences(before: Counters, now: Counters) -> dict[str, float]:
    """Return by how much each figure grew; only those that stand in both."""
    return {name: value - before[name] for name, value in now.items() if name in before}


def has_dropped(before: Counters, now: Counters) -> bool:
    """Tell whether recall at 5 lost more than one question."""
    if GUARDED not in before or GUARDED not in now:
        return False
    return before[GUARDED] - now[GUARDED] > 1 / now["questions"] + SLACK
