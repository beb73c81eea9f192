"""The figures as tables for people."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from bench.retrieval.baseline import Baseline, differences, has_dropped
from bench.retrieval.figures import ALL, STRANGERS, VERDICTS, Figures

COLUMNS = {
    "questions": "n",
    "recall_at_1": "R@1",
    "recall_at_5": "R@5",
    "recall_at_10": "R@10",
    "mrr_at_10": "MRR",
    "ndcg_at_10": "nDCG",
    "first": "first",
    "in_three": "three",
    "any_at_5": "any@5",
    "any_at_10": "any@10",
    "chars_at_5": "chars@5",
    "focus_coverage": "focus",
    "focus_lines": "lines",
    **dict(zip(VERDICTS, ("answ.", "weak", "none"), strict=True)),
    "empty": "empty",
}
"""Figures in the order of the table, and what stands above them."""

DIGITS = {"questions": 0, "chars_at_5": 0, "focus_lines": 1, **dict.fromkeys((*VERDICTS, "empty"), 0)}
"""After the point; three for all others."""


def table_of(name: str, found: Mapping[str, Mapping[str, Figures]], before: Baseline, *, in_full: bool) -> Table:
    """Return the table of a set: each mode, its categories if `in_full`, and what changed since the baseline."""
    table = Table(title=name, title_justify="left")
    for heading in ("mode", "questions", *COLUMNS.values()):
        table.add_column(heading, justify="left" if heading in ("mode", "questions") else "right", no_wrap=True)
    for mode, groups in found.items():
        for group in sorted(groups, key=lambda name: (name != ALL, name)):
            if not in_full and group not in (ALL, STRANGERS):
                continue
            now, then = groups[group].measures(), before.of(name, mode, group)
            table.add_row(mode if group == ALL else "", group, *_values(now))
            if then:
                mark = "dropped" if has_dropped(then, now) else "change"
                table.add_row("", mark, *_changes(differences(then, now)), style="red" if mark == "dropped" else "dim")
    return table


def _values(measures: Mapping[str, float]) -> Sequence[str]:
    return [f"{measures[key]:.{DIGITS.get(key, 3)}f}" if key in measures else "" for key in COLUMNS]


def _changes(changed: Mapping[str, float]) -> Sequence[str]:
    """Write each difference with its sign; a dot where there is none."""
    written = [f"{changed[key]:+.{DIGITS.get(key, 3)}f}" if key in changed else "" for key in COLUMNS]
    return ["·" if text and not text.strip("+-0.") else text for text in written]
