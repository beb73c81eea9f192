"""A million chunks, or as many as `--size` says: what still works there, and what it takes (`make bench-scale`).

The notes are made once and stay in the cache folder of memoryd, where the index lies as well while this runs; what a
run deletes of them, the next one writes again.
"""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.measurement import Aim, Bench, Row
from bench.outside import CHUNKS_PER_NOTE
from bench.questions import ask
from bench.recombined import Recombiner, write
from bench.stage import agent, cpu_seconds, launch, resident, settle
from bench.standin import make_model
from bench.timing import ProcessorWatch, Stopwatch, sampled
from bench.vectors import NOTE, fill, model_identity
from memoryd.client import Client
from memoryd.config.paths import cache_dir
from tests.daemon import RunningDaemon, write_config

USUAL, QUICK = 1_000_000, 100_000
DELETED = 10_000
DIMENSIONS = 384
WORDS_AIM, HYBRID_AIM, MEMORY_AIM = Aim(60), Aim(80), Aim(700)
"""For the 95th percentile in milliseconds, and for what is resident, at a million chunks."""
STEP_SECONDS = 2.0


def rows(bench: Bench) -> Iterator[Row]:
    """Index all, ask, start again, edit, ask with vectors and delete."""
    chunks = bench.size or bench.pick(USUAL, QUICK)
    folder, count = cache_dir() / "bench" / str(chunks), chunks // CHUNKS_PER_NOTE
    for number in write(folder / "workspace" / "memory", count):
        if number % 1_000 == 0:
            _tell(f"{number:,} of {count:,} notes are there")
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    workspace = folder / "workspace"
    config = write_config(home, workspace, None)
    daemon = RunningDaemon(home, config, workspace, environment={"MEMORYD_LOG_LEVEL": "INFO"})
    try:
        for row in _measured(bench, daemon, count):
            yield replace(row, name=f"{chunks:,} chunks, {row.name}")
    finally:
        daemon.stop()
        shutil.rmtree(home)


def _measured(bench: Bench, daemon: RunningDaemon, count: int) -> Iterator[Row]:
    text = sum(path.stat().st_size for path in daemon.workspace.rglob("*.md"))
    with daemon:
        client = daemon.client()
        with sampled(lambda: resident(daemon.pid), step=0.5) as memory:
            yield from _worked(daemon, "first index, words only")
        status = agent(client)
        index = Path(status["database"]["path"])
        note = f"{status['chunks']:,} chunks in {count:,} notes, {text / 1e6:,.0f} MB"
        yield Row("first index: peak memory", max(memory), "MiB", note=note)
        yield from _asked(bench, daemon, "words", WORDS_AIM)
        yield Row("words: resident", resident(daemon.pid), "MiB", MEMORY_AIM)
        with _longer(daemon.workspace / "memory" / "00000" / "note-0000000.md"):
            yield from _worked(daemon, "one line on top of a note")
    yield Row("index ÷ text, without vectors", index.stat().st_size / text, "")
    yield from _start(daemon, "words")
    model = make_model(bench.folder, DIMENSIONS)
    _tell("filling in vectors")
    fill(index, model_identity(model))
    write_config(daemon.home, daemon.workspace, model)
    yield Row("index ÷ text, with vectors", index.stat().st_size / text, "", note=f"{DIMENSIONS} dimensions, {NOTE}")
    yield from _start(daemon, "hybrid")
    with daemon:
        settle(daemon.client(), embedded=True)
        yield from _asked(bench, daemon, "hybrid", HYBRID_AIM)
        yield Row("hybrid: resident", resident(daemon.pid), "MiB", MEMORY_AIM, "without the worker of the model")
        notes = sorted((daemon.workspace / "memory").rglob("*.md"))[-min(DELETED, count // 2) :]
        for path in notes:
            path.unlink()
        yield from _worked(daemon, f"{len(notes):,} notes deleted")


def _worked(daemon: RunningDaemon, name: str) -> Iterator[Row]:
    """Wait until the index equals the disk."""
    used, watch = ProcessorWatch(partial(cpu_seconds, daemon.pid)), Stopwatch()
    with Client(daemon.socket) as client, sampled(lambda: _pending(client), step=STEP_SECONDS):
        settle(daemon.client())
    yield Row(name, watch.seconds, "s")
    yield Row(f"{name}: processor time", used.seconds, "s")


def _asked(bench: Bench, daemon: RunningDaemon, name: str, aim: Aim) -> Iterator[Row]:
    """Ask; the first questions, which load what stays in memory, are not counted."""
    writer = Recombiner(2)
    questions = [writer.question() for _ in range(bench.pick(200, 60))]
    _tell(f"asking, {name}")
    client = daemon.client()
    for question in questions[:5]:
        client.search(question, deadline_ms=60_000)
    used = ProcessorWatch(partial(cpu_seconds, daemon.pid))
    middle, most = ask(daemon, questions).rows(name)
    yield middle
    yield Row(most.name, most.value, most.unit, aim)
    yield Row(f"{name}: processor time", 1000 * used.seconds / len(questions), "ms", note="the mean, of the daemon")


def _start(daemon: RunningDaemon, name: str) -> Iterator[Row]:
    """Start over an index that is kept; tell when the daemon answers, and when it answers a question."""
    watch = Stopwatch()
    answering, _ = launch(daemon)
    with closing(Client(daemon.socket, timeout=60)) as client:
        client.search("where is the key of the shed", deadline_ms=60_000)
    yield Row(f"{name}: start until it answers", answering, "s", note="the index is kept")
    yield Row(f"{name}: start until the first question is answered", watch.seconds, "s")
    daemon.stop()


@contextmanager
def _longer(path: Path) -> Iterator[None]:
    """Put a line on top of a note for as long as the block lasts."""
    text = path.read_text(encoding="utf-8")
    path.write_text(f"A line that was not here before.\n{text}", encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def _pending(client: Client) -> float:
    status = agent(client)
    _tell(f"{status['pendingFiles']:,} files to index, {status['chunks']:,} chunks")
    return float(status["pendingFiles"])


def _tell(text: str) -> None:
    """Say how far this is: on a terminal over what was said before."""
    end = "\r" if sys.stderr.isatty() else "\n"
    print(f"{time.strftime('%H:%M:%S')} {text:<60}", end=end, file=sys.stderr, flush=True)
