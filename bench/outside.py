"""What memoryd costs, seen from outside: over the socket, at the command line, and by the processor time of both.

Nothing but the programs of a checkout is used, so that checkouts of several days can be measured by turns, with one
another's share of a busy machine. Each figure is the least of many rounds: what disturbs a round only adds to it.
"""

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.checkout import ROOT, Checkout
from bench.corpus import Writer
from bench.measurement import Aim, Bench, Row
from bench.recombined import Recombiner, write
from bench.stage import agent, cpu_seconds, launch, resident, settle
from memoryd.client import Client
from tests.daemon import RunningDaemon

SIZES = (800, 8_000)
"""Chunks."""
TIMES = 5
"""How often each command is run in each round."""
CHUNKS_PER_NOTE = 12
BLOCKS, BLOCK = 12, 5
"""Questions are asked in blocks that take about as long as the yardstick, so that both find the same quiet moments."""
STARTS = 3
"""Daemons that are asked one after the other: where the parts of a process lie in memory makes some per cent, too."""
FILES, MEMORIES = 500, 500
PROMPTS = {"search": ("search", "the key of the shed"), "--version": ("--version",), "--help": ("--help",)}

AIMS = {
    "800 chunks: a question by words": Aim(2),
    "8,000 chunks: a question by words": Aim(3),
    f"start until the first answer, {FILES} files kept, by the clock": Aim(350),
    "memoryctl search": Aim(50),
    "memoryctl --version": Aim(25),
    "memoryctl --help": Aim(25),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of each checkout."""

    name: str
    unit: str
    values: tuple[float, ...]
    note: str = ""


def rows(bench: Bench) -> Iterator[Row]:
    """Measure this checkout alone."""
    for figure in figures([Checkout(ROOT)], bench):
        yield Row(figure.name, figure.values[0], figure.unit, AIMS.get(figure.name), figure.note)


def figures(checkouts: Sequence[Checkout], bench: Bench) -> Iterator[Figure]:
    """Measure all by turns."""
    for chunks in SIZES:
        yield from asked(checkouts, bench, chunks)
    rounds = bench.pick(5, 2)
    daemons = [_stocked(one, bench.folder, FILES) for one in checkouts]
    yield from _least([partial(_live, *pair) for pair in zip(checkouts, daemons, strict=True)], rounds)
    file = bench.folder / "memories.jsonl"
    _write_memories(file)
    yield from _least([partial(_import, one, bench.folder, file) for one in checkouts], bench.pick(3, 1))


def asked(checkouts: Sequence[Checkout], bench: Bench, chunks: int) -> Iterator[Figure]:
    """Ask all the same questions, and yield the processor time of one, and what is resident then."""
    writer, rounds = Recombiner(1), bench.pick(20, 5)
    blocks = [[writer.question() for _ in range(BLOCK)] for _ in range(BLOCKS)]
    least = [[math.inf] * BLOCKS for _ in checkouts]
    for _ in range(STARTS):
        with ExitStack() as stack:
            stocked = (_stocked(one, bench.folder, chunks // CHUNKS_PER_NOTE) for one in checkouts)
            daemons = [stack.enter_context(one) for one in stocked]
            clients = [daemon.client() for daemon in daemons]
            for client in clients:
                settle(client)
            for _ in range(rounds):
                for number, block in enumerate(blocks):
                    for at, client in enumerate(clients):
                        least[at][number] = min(least[at][number], _ask(client, daemons[at].pid, block))
                    bench.yardstick.lay()
            memory = tuple(resident(daemon.pid) for daemon in daemons)
            note = f"{agent(clients[0])['chunks']} chunks, {BLOCKS * BLOCK} questions, {STARTS} times {rounds} rounds"
    values = tuple(sum(one) / BLOCKS for one in least)
    yield Figure(f"{chunks:,} chunks: a question by words", "ms", values, note)
    yield Figure(f"{chunks:,} chunks: resident", "MiB", memory, "words only, after these questions")


def _ask(client: Client, pid: int, questions: Sequence[str]) -> float:
    """Return the processor time of a question, in ms."""
    before = cpu_seconds(pid)
    for question in questions:
        client.search(question)
    return 1000 * (cpu_seconds(pid) - before) / len(questions)


def _live(checkout: Checkout, daemon: RunningDaemon) -> Mapping[tuple[str, str], float]:
    """Index anew, start once more, and run commands beside it."""
    shutil.rmtree(daemon.state, ignore_errors=True)
    launch(daemon)
    settle(daemon.client())
    indexed = cpu_seconds(daemon.pid)
    daemon.stop()
    answering, _ = launch(daemon)
    ready = cpu_seconds(daemon.pid)
    prompts = {
        (f"memoryctl {name}", "ms"): 1000 * min(checkout.run(daemon, *arguments) for _ in range(TIMES))
        for name, arguments in PROMPTS.items()
    }
    daemon.stop()
    return {
        (f"start and first index of {FILES} files", "ms"): 1000 * indexed,
        (f"start until ready, {FILES} files kept", "ms"): 1000 * ready,
        (f"start until the first answer, {FILES} files kept, by the clock", "ms"): 1000 * answering,
        **prompts,
    }


def _import(checkout: Checkout, folder: Path, file: Path) -> Mapping[tuple[str, str], float]:
    """Import memories into an empty workspace."""
    with tempfile.TemporaryDirectory(dir=folder) as home, checkout.daemon(Path(home)) as daemon:
        settle(daemon.client())
        before = cpu_seconds(daemon.pid)
        has_import = not math.isnan(checkout.run(daemon, "import", str(file)))
        settle(daemon.client())
        took = 1000 * (cpu_seconds(daemon.pid) - before) / MEMORIES if has_import else math.nan
    return {(f"import of {MEMORIES} memories, each", "ms"): took}


def _least(takes: Sequence[Callable[[], Mapping[tuple[str, str], float]]], rounds: int) -> Iterator[Figure]:
    """Take each by turns; yield the least of each figure, by name and unit."""
    found = [[take() for take in takes] for _ in range(rounds)]
    for name, unit in found[0][0]:
        values = tuple(min(one[at][name, unit] for one in found) for at in range(len(takes)))
        yield Figure(name, unit, values, f"the least of {rounds}")


def _stocked(checkout: Checkout, folder: Path, notes: int) -> RunningDaemon:
    """Return a daemon that is not started, with so many notes."""
    daemon = checkout.daemon(Path(tempfile.mkdtemp(dir=folder)))
    for _ in write(daemon.workspace / "memory", notes):
        pass
    return daemon


def _write_memories(file: Path) -> None:
    writer = Writer(7)
    lines = [
        {"text": f"{writer.sentence()} ({number})", "kind": "world", "days": [f"2025-01-{number % 28 + 1:02}"]}
        for number in range(MEMORIES)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
