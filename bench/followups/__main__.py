"""`python -m bench.followups`: ask the follow-up questions, print a table, and write JSON if asked to."""

import asyncio
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
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@click.command()
@click.option("--json", "path", type=click.Path(path_type=Path), help="Also write all figures here.")
@click.option("--model", default=STARTER, show_default=True, help="Model to embed with.")
@click.option("--misses", is_flag=True, help="Also show what is not right of the tuned half.")
def main(path: Path | None, model: str, misses: bool) -> None:
    """Ask the follow-up questions of tests/data/followups and print how many of the needed turns are found."""
    weights = asyncio.run(ModelStore(models_dir()).fetch(model, lambda _progress: None))
    figures = measured(weights)
    console = Console()
    console.print(_table(figures))
    if misses:
        _show_misses(console, weights)
    if path:
        document = {group: {way: asdict(one) for way, one in ways.items()} for group, ways in figures.items()}
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _table(figures: Figures) -> Table:
    table = Table()
    for column in ("questions", "by", "right", "recall", "whole gold", "precision", "right session"):
        table.add_column(column)
    for group, ways in figures.items():
        for way, one in ways.items():
            shares = (f"{value:.2f}" for value in (one.right, one.recall, one.whole, one.precision, one.session))
            table.add_row(f"{group} ({one.questions})", way, *shares, end_section=way == "latest")
    return table


def _show_misses(console: Console, model: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="memoryd-followups-") as folder:
        way = retrievers(Path(folder), model)["sequence"]
        for one in followups():
            given = way(one)
            if one.is_tuned and not (one.gold & given if one.gold else not given):
                console.print(f"{one.id} {one.kind} {one.message}", highlight=False)
                console.print(f"  gold {sorted(one.gold)}, given {sorted(given)}", highlight=False)


if __name__ == "__main__":
    main()
