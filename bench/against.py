"""`python -m bench.against OLD`: this checkout and an older one by turns, as a table with ratios.

Only what can be measured from outside, so that the older one may have another bench/ or none.
"""

import math
import signal
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.checkout import ROOT, Checkout
from bench.measurement import Bench
from bench.outside import Figure, figures
from bench.report import WIDTH, short


@click.command()
@click.argument(
    "folder", metavar="OLD", type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)
)
@click.option("--quick", is_flag=True, help="Fewer rounds.")
def main(folder: Path, quick: bool) -> None:
    """Measure the checkout OLD, which may have a .venv of its own, and this one by turns."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    old, new = checkouts = [Checkout(folder), Checkout(ROOT)]
    for checkout in checkouts:
        checkout.compile()
    table = Table(title=f"{old.folder} beside {new.folder}; processor time unless said otherwise", title_justify="left")
    for head in ("figure", "old", "new", "new ÷ old", "note"):
        table.add_column(head, justify="left" if head in ("figure", "note") else "right")
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as home:
        for figure in figures(checkouts, Bench(Path(home), is_quick=quick)):
            click.echo(figure.name, err=True)
            table.add_row(*cells(figure))
    (Console() if sys.stdout.isatty() else Console(width=WIDTH)).print(table)


def cells(figure: Figure) -> tuple[str, ...]:
    """Return the row of a figure of two checkouts; what one of them cannot do stays empty."""
    old, new = figure.values
    told = ("" if math.isnan(value) else f"{short(value)} {figure.unit}" for value in figure.values)
    ratio = f"{new / old:.2f}" if old and not math.isnan(new / old) else ""
    return figure.name, *told, ratio, figure.note


if __name__ == "__main__":
    main()
