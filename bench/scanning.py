"""A scan that finds nothing new: what the daemon does every 30 seconds, and at every call of sync."""

from collections.abc import Iterator
from pathlib import Path

from bench.corpus import write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import agent, asking_health, cpu_seconds, running, settle
from bench.timing import median, timed
from memoryd.client import Client
from memoryd.files.ignore import IgnoreFile
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRules, scan

AIM = Aim(100)
NOTE_BYTES = 120
ROUNDS = 7


def rows(bench: Bench) -> Iterator[Row]:
    """Scan small notes, in this process and through the daemon."""
    count = bench.pick(10_000, 2_000)
    with running(bench, "scanning") as daemon:
        write_notes(daemon.workspace / "memory", count=count, size=count * NOTE_BYTES)
        name = f"scan of {count:,} unchanged files"
        yield Row(f"{name}: in-process", median([_scan(daemon.workspace) for _ in range(ROUNDS)]), "ms", AIM)
        client = daemon.client()
        used = cpu_seconds(daemon.pid)
        with asking_health(daemon) as answers, timed() as watch:
            settle(client)
        used = cpu_seconds(daemon.pid) - used
        note = f"{NOTE_BYTES} bytes each; {used:.1f} s of processor time"
        yield Row(f"first index of {count:,} tiny files", watch.seconds, "s", note=note)
        slowest = f"{len(answers)} answers"
        yield Row("health meanwhile, slowest answer", max(answers), "ms", AIM, slowest)
        _wait_until_quiet(client)
        yield Row(f"{name}: POST /v1/sync", median([_sync(client) for _ in range(ROUNDS)]), "ms", AIM)


def _scan(workspace: Path) -> float:
    roots = workspace_roots(workspace, [])
    rules = ScanRules(workspace=workspace, is_ignored=IgnoreFile(workspace).read().is_ignored)
    with timed() as watch:
        scan(roots, rules)
    return watch.ms


def _sync(client: Client) -> float:
    with timed() as watch:
        settle(client)
    return watch.ms


def _wait_until_quiet(client: Client) -> None:
    """Sync until two in a row take about as long: a file read right after its change is read once more."""
    last = _sync(client)
    while (now := _sync(client)) < last / 2 or agent(client)["dirty"]:
        last = now
