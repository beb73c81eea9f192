"""`python -m bench`: take the measurements, print them beside the recorded ones, write JSON.

Exit code 1 if one could not be taken, 2 if the record cannot be read.
"""

import argparse
import compileall
import logging
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console

import memoryd
from bench.catalogue import MEASUREMENTS
from bench.checkout import ROOT
from bench.measurement import Bench, Measurement
from bench.record import FILE, USUAL, BadRecord, load, machine_class, save
from bench.report import WIDTH, Report
from bench.timing import Stopwatch
from memoryd import log

OUT = Path("build/bench.json")
YARDSTICKS = 10
"""Rounds before each measurement and after it: some tenths of a second."""
SIZED = {"far", "memories", "team"}
"""What takes a `--size`."""
LOG_LINES = 5
"""Of each daemon, told with a failure."""


def main() -> int:
    """Run what the command line asks for."""
    options = _options()
    log.configure("WARNING")
    # the daemons are children in sessions of their own: leave through the blocks that stop them
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    console = Console(stderr=True)
    # an installed program is compiled, and a start that compiles is another one's
    console.print("compiling all modules first")
    compileall.compile_dir(Path(memoryd.__file__).parent, quiet=1)
    try:
        record = load()
    except BadRecord as exc:
        exc.show()
        return exc.exit_code
    effort = f"size {options.size:,}" if options.size else "quick" if options.quick else USUAL
    report = Report(effort, record)
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as folder:
        for measurement in _chosen(options.names, is_slow=options.slow):
            console.print(f"{measurement.name}: {measurement.about}", highlight=False)
            own = Path(folder) / measurement.name
            own.mkdir()
            _take(measurement, Bench(own, is_quick=options.quick, size=options.size), report)
            report.write(options.json)
    report.print(Console() if sys.stdout.isatty() else Console(width=WIDTH))
    print(f"written to {options.json}")
    if options.record:
        save(record.with_taken(machine_class(), report.taken(), [one.name for one in MEASUREMENTS]))
    return 1 if report.failures else 0


def _take(measurement: Measurement, bench: Bench, report: Report) -> None:
    """Take one measurement; its failure must not cost the others."""
    watch = Stopwatch()
    bench.yardstick.lay(YARDSTICKS)
    try:
        for row in measurement.rows(bench):
            report.add(measurement.name, row)
    except Exception as exc:
        logging.exception("%s failed", measurement.name)
        report.failures[measurement.name] = f"{type(exc).__name__}: {exc}{_log_ends(bench.folder)}"
    report.seconds[measurement.name] = watch.seconds
    bench.yardstick.lay(YARDSTICKS)
    report.yardstick_ms[measurement.name] = bench.yardstick.ms


def _log_ends(folder: Path) -> str:
    """Return the last lines of the daemons' logs."""
    logs = {path: path.read_text(errors="replace").splitlines()[-LOG_LINES:] for path in folder.glob("*/daemon.log")}
    return "".join(f"\n{path.parent.name}: {line}" for path, lines in logs.items() for line in lines)


def _chosen(names: list[str], *, is_slow: bool) -> list[Measurement]:
    if names:
        return [measurement for measurement in MEASUREMENTS if measurement.name in names]
    return [measurement for measurement in MEASUREMENTS if is_slow or not measurement.is_slow]


def _options() -> argparse.Namespace:
    known = [measurement.name for measurement in MEASUREMENTS]
    parser = argparse.ArgumentParser(prog="python -m bench", description=f"Measure memoryd: {', '.join(known)}.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="measurements to take (default: all but slow ones)")
    parser.add_argument("--json", type=Path, default=OUT, help=f"where to write the figures (default: {OUT})")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, a few minutes")
    parser.add_argument("--slow", action="store_true", help="larger sizes too, many minutes")
    parser.add_argument("--record", action="store_true", help=f"keep the figures in {FILE.relative_to(ROOT)}")
    parser.add_argument("--size", type=int, default=0, help="of `memories`: so many, words alone; of `far`: chunks")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.size and not set() < set(options.names) <= SIZED:
        parser.error(f"--size is of {', '.join(sorted(SIZED))} alone: what others take beside it compares with nothing")
    return options


if __name__ == "__main__":
    sys.exit(main())
