"""`make load`: the load test as a table and as JSON; exit code 1 if an answer was wrong or something grew."""

import random
import shutil
import tempfile
from pathlib import Path

import click
from rich.console import Console

from bench.report import Report
from bench.timing import timed
from tests.load.mixed import Plan, RoundResult, run

OUT = Path("build/load.json")
NAME = "load"


@click.command()
@click.option("--seconds", default=30.0, show_default=True, help="How long the crowd stays.")
@click.option("--chunks", default=10_000, show_default=True, help="How many chunks are indexed, about.")
@click.option("--rate", default=50.0, show_default=True, help="Edits a second.")
@click.option("--pace", default=1.0, show_default=True, help="Seconds between two questions of a client, in the mean.")
@click.option("--seed", type=int, default=None, help="Default: a new one, which is printed.")
@click.option("--json", "out", type=click.Path(path_type=Path), default=OUT, show_default=True)
@click.option("--strict", is_flag=True, help="Missed times and slopes are failures too: on a quiet machine.")
def main(seconds: float, chunks: int, rate: float, pace: float, seed: int | None, out: Path, strict: bool) -> None:
    """Run 64 clients of all kinds against one daemon while its notes are edited."""
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    plan = Plan(seed, seconds=seconds, chunks=chunks, rate=rate, pace=pace)
    folder = Path(tempfile.mkdtemp(prefix=f"load-{seed}-", dir="/var/tmp"))
    report = Report(effort=f"seed {seed}, {seconds:g} s, {chunks} chunks, {rate:g} edits a second")
    click.echo(report.effort)
    with timed() as watch:
        outcome = run(plan, folder)
    report.seconds[NAME] = watch.seconds
    _report(report, outcome, out)
    missed = [str(row.name) for row in report.rows[NAME] if row.aim and not row.aim.is_met(row.value)]
    if outcome.missed or (strict and missed):
        click.echo(f"seed {seed} failed; everything is left in {folder}", err=True)
        raise SystemExit(1)
    shutil.rmtree(folder)


def _report(report: Report, outcome: RoundResult, out: Path) -> None:
    for row in outcome.rows():
        report.add(NAME, row)
    if outcome.missed:
        report.failures[NAME] = "\n".join(outcome.missed)
    report.write(out)
    report.print(Console(width=150))
    click.echo(f"written to {out}")


if __name__ == "__main__":
    main()
