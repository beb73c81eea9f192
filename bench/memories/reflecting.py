"""What reflect takes over half as many memories, over all of them, and once more when nothing has changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from threading import Event, Thread

from bench.measurement import Aim, Bench, Row
from bench.memories.corpus import BEGUN, write_memories
from bench.stage import cpu_seconds, prepared, settle
from bench.timing import ProcessorWatch, Stopwatch, timed
from tests.daemon import RunningDaemon

FIRST, LINEAR = Aim(10.0), Aim(2.6)


@contextmanager
def _watched(daemon: RunningDaemon) -> Iterator[list[float]]:
    """Ask again and again whether the daemon is well, and yield how long each answer took, ms."""
    waits: list[float] = []
    is_over = Event()

    def ask() -> None:
        with daemon.client(60) as client:
            while not is_over.is_set():
                watch = Stopwatch()
                client.health()
                waits.append(watch.ms)
                is_over.wait(0.02)

    asking = Thread(target=ask)
    asking.start()
    try:
        yield waits
    finally:
        is_over.set()
        asking.join()


def rows(bench: Bench) -> Iterator[Row]:
    """Reflect by a daemon over corpora of two sizes, each in a workspace of its own."""
    most = bench.pick(10_000, 2_000)
    taken = []
    for lines in (most // 2, most):
        with prepared(bench, f"reflect-{lines}") as daemon:
            client = daemon.client(600)
            settle(client)
            corpus = write_memories(daemon.workspace, lines=lines, chunks=10)
            settle(client)
            used = ProcessorWatch(partial(cpu_seconds, daemon.pid))
            with timed() as first, _watched(daemon) as waits:
                reply = client.reflect(BEGUN.isoformat())
            first_used, used = used.seconds, ProcessorWatch(partial(cpu_seconds, daemon.pid))
            with timed() as second:
                client.reflect(BEGUN.isoformat())
            second_used = used.seconds
            note = f"{reply['memories']:,} memories of {corpus.lines:,} lines, {len(reply['pages'])} pages"
            yield Row(f"reflect over {lines:,} lines", first.seconds, "s", FIRST, note)
            told = "of the daemon, which indexes the pages and answers the calls meanwhile"
            yield Row("processor time of it", first_used, "s", FIRST, told)
            yield Row(f"once more over {lines:,} lines", second.seconds, "s")
            yield Row("processor time of it", second_used, "s")
            held = sorted(waits)
            yield Row(
                "the loop meanwhile, p99", held[len(held) * 99 // 100], "ms", note=f"{len(held)} calls of /v1/health"
            )
            yield Row("the loop meanwhile, longest", held[-1], "ms", note="beside a thread that works as well")
            taken.append(first_used)
    for half, whole in pairwise(taken):
        yield Row("twice the lines", whole / half, "×", LINEAR, "by processor time; 2 is linear")
