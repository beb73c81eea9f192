"""`python -m bench.speed`: fail where a question by words costs a tenth more processor time than is recorded.

What is compared is the time of the daemon as a multiple of the yardstick, both the least of many short rounds, taken by
turns in three daemons: what else a machine does only adds to a round. Of ten daemons on a virtual machine with two
cores, the other one busy for half of the time, three by three, the figures spread by 1 % (standard deviation; one
daemon alone: 2 %), so that a tenth is not reached by chance.

It sees what all threads of a daemon do for a question with its caches warm. It does not see waiting, the first question
after a change, meaning, memories, or what happens once in many questions, such as collecting garbage.
"""

import signal
import sys
import tempfile
from pathlib import Path

import click

from bench.checkout import ROOT, Checkout
from bench.measurement import Bench, Row
from bench.outside import SIZES, asked
from bench.record import USUAL, BadRecord, Record, load, machine_class

MOST = 1.10
MEASUREMENT = "outside"


@click.command()
def main() -> None:
    """Measure and compare; exit code 1 where it costs too much, 2 where there is nothing to compare with."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    record = load()
    Checkout(ROOT).compile()
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as folder:
        bench = Bench(Path(folder))
        figure = next(iter(asked([Checkout(ROOT)], bench, SIZES[0])))
    row = Row(figure.name, figure.values[0], figure.unit)
    ratio = ratio_of(record, machine_class(), row, bench.yardstick.ms)
    click.echo(f"{row.name}: {row.value:.2f} ms of processor time, {ratio:.2f} times the recorded (at most {MOST:.2f})")
    sys.exit(ratio > MOST)


def ratio_of(record: Record, machine: str, row: Row, yardstick_ms: float) -> float:
    """Return how many times the recorded figure of this class of machine a figure is; raises BadRecord."""
    found, taken = record.find(machine, MEASUREMENT, USUAL) or (None, None)
    ratio = taken.ratio(row, yardstick_ms) if taken is not None and found == machine else None
    if ratio is None:
        raise BadRecord(
            f"nothing is recorded on {machine}: in a checkout to compare with, run make bench-record ARGS={MEASUREMENT}"
        )
    return ratio


if __name__ == "__main__":
    main()
