"""From the start of the process to the first answer, and to an index that has been read once."""

from collections.abc import Iterator

from bench.corpus import write_notes
from bench.measurement import Bench, Row
from bench.stage import launch, prepared
from bench.timing import median
from tests.daemon import RunningDaemon

FILES, BYTES = 500, 3_900_000


def rows(bench: Bench) -> Iterator[Row]:
    """Measure an empty workspace, then one of 500 files, new and known."""
    rounds = bench.pick(3, 1)
    empty = prepared(bench, "start-empty", model=bench.model)
    yield from _pair("empty workspace", [_once(empty) for _ in range(rounds)], "model configured")
    full = prepared(bench, "start-full")
    write_notes(full.workspace / "memory", count=FILES, size=BYTES)
    yield from _pair("500 files, never seen", [_once(full)], "3.9 MB, words only; ready includes the first index")
    yield from _pair("500 files, index kept", [_once(full) for _ in range(rounds)], "words only")

    yield from _killed(bench)


def _killed(bench: Bench) -> Iterator[Row]:
    """Kill a daemon whose index is whole while it writes, and start it again."""
    daemon = prepared(bench, "start-killed")
    write_notes(daemon.workspace / "memory", count=bench.pick(1800, 100), size=bench.pick(14_000_000, 800_000))
    launch(daemon)
    with daemon.client() as client:
        chunks = client.status()["agents"][0]["chunks"]
    for number in range(50):
        (daemon.workspace / "memory" / f"late-{number}.md").write_text(f"# Late\n\nwritten before the end {number}\n")
    daemon.kill()
    answering, ready = _once(daemon)
    note = f"{chunks} chunks, words only, killed with 50 notes new"
    yield Row("kill -9 → answers", answering, "s", note=note)
    yield Row("kill -9 → index equals the disk", ready, "s", note=note)


def _once(daemon: RunningDaemon) -> tuple[float, float]:
    try:
        return launch(daemon)
    finally:
        daemon.stop()


def _pair(name: str, times: list[tuple[float, float]], note: str) -> Iterator[Row]:
    yield Row(f"{name}: start → answers", median([answering for answering, _ in times]), "s", note=note)
    yield Row(f"{name}: start → ready", median([ready for _, ready in times]), "s", note=note)
