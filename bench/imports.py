"""Which packages a start of the daemon imports, and how long each takes: what `python -X importtime` tells."""

import re
from collections import Counter
from collections.abc import Iterator

from bench.checkout import ROOT, Checkout
from bench.measurement import Bench, Row
from bench.stage import launch

ROUNDS, TOLD = 10, 10
LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+([\w.]+)")


def rows(bench: Bench) -> Iterator[Row]:
    """Start a daemon over an empty workspace some times; yield the packages that take longest, and all together."""
    daemon = Checkout(ROOT).daemon(bench.folder / "imports")
    daemon.program = ("-X", "importtime", *daemon.program)
    rounds = []
    for _ in range(bench.pick(ROUNDS, 1)):
        daemon.log.unlink(missing_ok=True)
        try:
            launch(daemon)
        finally:
            daemon.stop()
        rounds.append(by_package(daemon.log.read_text(encoding="utf-8")))
    least = Counter({package: min(one[package] for one in rounds) for package in rounds[0]})
    for package, microseconds in least.most_common(TOLD):
        yield Row(package, microseconds / 1000, "ms")
    yield Row(
        "all packages", least.total() / 1000, "ms", note="without the start of Python itself, and with -X importtime"
    )


def by_package(log: str) -> Counter[str]:
    """Return the microseconds of all modules of each package; a module of ours counts for its room."""
    found: Counter[str] = Counter()
    for microseconds, module in LINE.findall(log):
        parts = module.split(".")
        found[".".join(parts[: 2 if parts[0] == "memoryd" else 1])] += int(microseconds)
    return found
