"""`python -m bench.against OLD`: this checkout and an older one by turns, as a table with ratios.

Only what can be measured from outside, so that the older one may have another bench/ or none.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.checkout import ROOT, BadCheckout, Checkout
from bench.measurement import Bench
from bench.outside import Figure, figures
from bench.report import WIDTH, short


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m bench.against", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD", help="folder of the older checkout, with a .venv or without")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    old, new = checkouts = [Checkout(options.old.resolve()), Checkout(ROOT)]
    try:
        for checkout in checkouts:
            checkout.compile()
    except BadCheckout as exc:
        parser.error(str(exc))
    table = Table(title=f"{old.folder} beside {new.folder}; processor time unless said otherwise", title_justify="left")
    for head in ("figure", "old", "new", "new ÷ old", "note"):
        table.add_column(head, justify="left" if head in ("figure", "note") else "right")
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as folder:
        for figure in figures(checkouts, Bench(Path(folder), is_quick=options.quick)):
            print(figure.name, file=sys.stderr)
            table.add_row(*cells(figure))
    (Console() if sys.stdout.isatty() else Console(width=WIDTH)).print(table)
    return 0


def cells(figure: Figure) -> tuple[str, ...]:
    """Return the row of a figure of two checkouts."""
    old, new = figure.values
    ratio = f"{new / old:.2f}" if old else ""
    return figure.name, f"{short(old)} {figure.unit}", f"{short(new)} {figure.unit}", ratio, figure.note


if __name__ == "__main__":
    sys.exit(main())
