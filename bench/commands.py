"""What a person waits for at the prompt."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import Writer, write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import running, settle
from bench.timing import Stopwatch, median, percentile
from tests.daemon import RunningDaemon

AIM = Aim(150)
PROGRAM = Path(sys.executable).with_name("memoryctl")


def rows(bench: Bench) -> Iterator[Row]:
    """Run memoryctl against a daemon whose model is loaded."""
    with running(bench, "commands", model=bench.model) as daemon:
        write_notes(daemon.workspace / "memory", count=20, size=20_000)
        settle(daemon.client(), embedded=True)
        times = bench.pick(15, 5)
        yield from _wall(daemon, times, "search", Writer(2).question(), aim=AIM)
        yield from _wall(daemon, times, "--version")


def _wall(daemon: RunningDaemon, times: int, *arguments: str, aim: Aim | None = None) -> Iterator[Row]:
    walls = [_once(daemon, arguments) for _ in range(times)]
    slow = f"median of {times}, p95 {percentile(walls, 95):.0f} ms"
    yield Row(f"memoryctl {arguments[0]}", median(walls), "ms", aim, slow)


def _once(daemon: RunningDaemon, arguments: tuple[str, ...]) -> float:
    watch = Stopwatch()
    subprocess.run([PROGRAM, *arguments], env=daemon.env, stdout=subprocess.DEVNULL, check=True)
    return watch.ms
