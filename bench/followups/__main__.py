"""`python -m bench.followups`: ask the follow-up questions, print a table, and write JSON if asked to."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.followups.followup_set import followups
from bench.followups.measured import Figures, measured
from bench.followups.retrievers import retrievers


@click.command()
@click.option("--json", "path", type=click.Path(path_type=Path), help="Also write all figures here.")
@click.option("--misses", is_flag=True, help="Also show questions of the tuned half that lack a turn of the gold.")
def main(path: Path | None, misses: bool) -> None:
    """Ask the follow-up questions of tests/data/followups and print how many of the needed turns are found."""
    figures = measured()
    console = Console()
    console.print(_table(figures))
    if misses:
        _show_misses(console)
    if path:
        document = {group: {way: asdict(one) for way, one in ways.items()} for group, ways in figures.items()}
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _table(figures: Figures) -> Table:
    table = Table()
    for column in ("questions", "by", "recall", "whole gold", "precision", "right session"):
        table.add_column(column)
    for group, ways in figures.items():
        for way, one in ways.items():
            shares = (f"{value:.2f}" for value in (one.recall, one.whole, one.precision, one.session))
            table.add_row(f"{group} ({one.questions})", way, *shares, end_section=way == "latest")
    return table


def _show_misses(console: Console) -> None:
    with tempfile.TemporaryDirectory(prefix="memoryd-followups-") as folder:
        way = retrievers(Path(folder))["sequence"]
        for one in followups():
            given = way(one)
            if one.is_tuned and not one.gold <= given:
                console.print(f"{one.id} {one.kind} {one.message}", highlight=False)
                console.print(f"  gold {sorted(one.gold)}, given {sorted(given)}", highlight=False)


if __name__ == "__main__":
    main()
