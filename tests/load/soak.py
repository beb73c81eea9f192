"""`make soak`: light use of one daemon for an hour, with edits and without a restart, to see what grows.

Use and rest alternate, so that the processor is measured while the daemon is idle. Memory and files are slopes by least
squares over samples at the end of each rest, without the first quarter of the time. The exit code is 1 if an answer was
wrong, or if memory, descriptors, threads or disk grow without bound.
"""

import asyncio
import contextlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console

from bench.measurement import Aim, Row
from bench.report import Report
from bench.timing import timed
from tests.fault import check
from tests.fault.editing import Editor, EditorThread
from tests.load import crowd
from tests.load.held import PIECES, held_by, most, slope_a_minute
from tests.load.mixed import Plan, Staged, staged

OUT = Path("build/soak.json")
NAME = "soak"
CROWD: Mapping[crowd.Client, int] = {crowd.searching: 3, crowd.reading: 2, crowd.watching: 1}
USE_SECONDS, REST_SECONDS = 40.0, 20.0
SETTLE_SECONDS = 5.0
"""Part of a rest before the processor is measured, for the work of the last edits."""
RATE, PACE = 1.0, 1.0
"""Edits a second, and seconds between two questions of a client."""
WARM_SHARE = 0.25
MIB = 2**20
BOUNDS = {"resident": Aim(0.25), "index": Aim(0.1), "log": Aim(0.05)}
"""MiB a minute; the first is 15 MiB an hour."""
WAL_AIM, CPU_AIM = Aim(64), Aim(0.5)


@dataclass(frozen=True, slots=True)
class DiskSnapshot:
    """A sample of an idle daemon: memory and files in MiB, `idle` its share of a core in per cent."""

    minutes: float
    resident: float
    descriptors: int
    threads: int
    wal: float
    index: float
    state: float
    log: float
    idle: float
    answers: int
    chunks: int


def idle_sample(stage: Staged, since: float) -> DiskSnapshot:
    """Sync, let the daemon rest, and take a sample."""
    check.sync(stage.daemon.client())
    stage.daemon.close_clients()
    time.sleep(SETTLE_SECONDS)
    before = held_by(stage.daemon.pid)
    time.sleep(REST_SECONDS - SETTLE_SECONDS)
    now = held_by(stage.daemon.pid)
    index = check.index_of(stage.daemon)
    with stage.daemon.client() as client:
        chunks = client.status()["agents"][0]["chunks"]
    return DiskSnapshot(
        minutes=(now.at - since) / 60,
        resident=now.resident,
        descriptors=now.descriptors,
        threads=now.threads,
        wal=_size(index.with_name("index.sqlite-wal")),
        index=_size(index),
        state=sum(_size(path) for path in stage.daemon.state.rglob("*")),
        log=_size(stage.daemon.log),
        idle=(now.cpu - before.cpu) / (now.at - before.at) * 100,
        answers=stage.scene.tally.answers,
        chunks=chunks,
    )


def _size(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.lstat().st_size / MIB
    return 0.0


def soak(stage: Staged, editor: Editor, seed: int, minutes: float) -> Iterator[DiskSnapshot]:
    """Use the daemon and let it rest in turn; yield a sample of each rest."""
    since, round_ = time.monotonic(), 0
    editing = EditorThread(editor, random.Random(f"{seed}-pace"), RATE)
    editing.start()
    try:
        while time.monotonic() - since < minutes * 60:
            editing.resume()
            asyncio.run(crowd.attend(CROWD, stage.scene, f"{seed}-{round_}", USE_SECONDS))
            editing.hold()
            round_ += 1
            yield idle_sample(stage, since)
    finally:
        editing.end()


def rows(samples: Sequence[DiskSnapshot]) -> Iterator[Row]:
    """Yield the slopes, and the bounds that are no slopes."""
    warm = samples[int(len(samples) * WARM_SHARE) :]
    seconds = [sample.minutes * 60 for sample in warm]
    for name, aim in BOUNDS.items():
        values = [float(getattr(sample, name)) for sample in warm]
        note = f"{values[0]:.4g} at first, {values[-1]:.4g} at last, {min(values):.4g} to {max(values):.4g}"
        yield Row(f"{name}: growth a minute", slope_a_minute(seconds, values), "MiB", aim, note)
    for name in PIECES:
        # no slope: one late thread of a pool would make a steep one
        pieces = [int(getattr(sample, name)) for sample in warm]
        more = Aim(most(name, pieces[0]) - pieces[0])
        yield Row(f"{name}: more than at first", pieces[-1] - pieces[0], "", more, f"{min(pieces)} to {max(pieces)}")
    yield Row("write-ahead log: largest", max(sample.wal for sample in samples), "MiB", WAL_AIM)
    idle = sorted(sample.idle for sample in warm)
    yield Row("processor share at rest: median", idle[len(idle) // 2], "%", CPU_AIM, f"at most {idle[-1]:.2f}")


def grows(found: Sequence[Row]) -> list[str]:
    """Return what grows without bound, or uses the processor while idle."""
    return [f"{row.name}: {row.value:.3g}, {row.note}" for row in found if row.aim and not row.aim.is_met(row.value)]


@click.command()
@click.option("--minutes", default=60.0, show_default=True)
@click.option("--chunks", default=2_000, show_default=True, help="How many chunks are indexed, about.")
@click.option("--seed", type=int, default=None, help="Default: a new one, which is printed.")
@click.option("--json", "out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(minutes: float, chunks: int, seed: int | None, out: Path) -> None:
    """Use one daemon lightly for a long time, and report what grows."""
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{seed}-", dir="/var/tmp"))
    report = Report(effort=f"seed {seed}, {minutes:g} minutes, {chunks} chunks, {RATE:g} edits a second")
    click.echo(report.effort)
    samples: list[DiskSnapshot] = []
    with timed() as watch, staged(Plan(seed, chunks=chunks, pace=PACE), folder) as (stage, editor):
        for sample in soak(stage, editor, seed, minutes):
            samples.append(sample)
            click.echo(json.dumps({name: round(value, 3) for name, value in asdict(sample).items()}))
    report.seconds[NAME] = watch.seconds
    found = [*rows(samples), *stage.scene.tally.rows()]
    for row in found:
        report.add(NAME, row)
    if missed := stage.scene.tally.summary + grows(found):
        report.failures[NAME] = "\n".join(missed)
    report.write(out)
    report.print(Console(width=150))
    if missed:
        click.echo(f"seed {seed} failed; everything is left in {folder}", err=True)
        raise SystemExit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
