"""`python -m bench.month`: play a month to the real daemon, write the protocol, and print what it comes to."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.month.days import LANGUAGES
from bench.month.figures import sample, summary
from bench.month.playing import Row, clock_library, play
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@click.command()
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True)
@click.option("--messages", type=click.IntRange(5), default=40, show_default=True, help="Of each person a day.")
@click.option("--mode", type=click.Choice(["words", "hybrid"]), default="words", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Draws the messages, and the sample.")
@click.option("--protocol", type=click.Path(path_type=Path), default="build/month.jsonl", show_default=True)
@click.option("--read", "is_read", is_flag=True, help="Play nothing: read the protocol that is there.")
@click.option("--sample", "count", type=click.IntRange(0), default=0, help="Print so many told items, to be judged.")
def main(days: int, messages: int, mode: str, seed: int, protocol: Path, is_read: bool, count: int) -> None:
    """Play a month of three persons with the clock moved, and print what the bundles held."""
    if not is_read:
        clock_library()
        protocol.parent.mkdir(parents=True, exist_ok=True)
        with protocol.open("w", encoding="utf-8") as file:
            for row in play(days, messages, seed, _model() if mode == "hybrid" else None):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    rows = list(_rows(protocol))
    Console(width=150).print(_table(rows))
    for line in sample(rows, count, seed):
        click.echo(line)


def _rows(protocol: Path) -> Iterator[Row]:
    with protocol.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _model() -> Path:
    path = ModelStore(models_dir()).locate(STARTER)
    if path is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
    return path


def _table(rows: list[Row]) -> Table:
    table = Table()
    groups = {"all": rows} | {person: [row for row in rows if row["person"] == person] for person in LANGUAGES}
    columns = {name: summary(some) for name, some in groups.items()}
    table.add_column("")
    for name in columns:
        table.add_column(name)
    for figure in columns["all"]:
        table.add_row(figure, *(column[figure] for column in columns.values()))
    return table


if __name__ == "__main__":
    main()
