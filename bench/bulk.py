"""More than anybody's notes: what must neither block the daemon nor grow its memory without bound."""

import os
from collections.abc import Iterator

from bench.corpus import write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import asking_health, cpu_seconds, resident, running, settle
from bench.timing import sampled, timed

HEALTH_AIM = Aim(100)
MEGABYTE = 1_000_000


def many_bytes(bench: Bench) -> Iterator[Row]:
    """Index 100 MB."""
    yield from _index(bench, "100 MB in 10 files", count=10, size=100 * MEGABYTE)


def long_file(bench: Bench) -> Iterator[Row]:
    """Index one long note."""
    yield from _index(bench, "one file of 50 MB", count=1, size=50 * MEGABYTE)


def many_files(bench: Bench) -> Iterator[Row]:
    """Index many notes of a line or two."""
    yield from _index(bench, "100,000 files", count=100_000, size=12 * MEGABYTE)


def _index(bench: Bench, name: str, *, count: int, size: int) -> Iterator[Row]:
    drafts = bench.folder / "drafts"
    write_notes(drafts, count=count, size=size)
    with running(bench, "bulk") as daemon:
        before, used = resident(daemon.pid), cpu_seconds(daemon.pid)
        with (
            asking_health(daemon) as answers,
            sampled(lambda: resident(daemon.pid), step=0.02) as memory,
            timed() as watch,
        ):
            os.replace(drafts, daemon.workspace / "memory" / "bulk")  # noqa: PTH105
            settle(daemon.client())
        used = cpu_seconds(daemon.pid) - used
        yield Row(f"{name}: indexed", watch.seconds, "s", note=f"words only; {used:.0f} s of processor time")
        yield Row(f"{name}: peak resident", max(memory), "MiB", note=f"{before:.0f} MiB before")
        yield Row(f"{name}: slowest health", max(answers), "ms", HEALTH_AIM, f"{len(answers)} answers")
