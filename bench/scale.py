"""Search by size of the index, width of the vectors, arm and number of clients."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpus import Writer, write_notes
from bench.latency import CHUNK_BYTES
from bench.measurement import Aim, Bench, Row
from bench.questions import ask
from bench.stage import agent, running, settle
from bench.standin import make_model
from bench.timing import median
from bench.vectors import NOTE, fill, model_identity
from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config

DIMENSIONS = (384, 768)
CLIENTS = 16
AIM_CHUNKS = 10_000
WORDS_AIM, HYBRID_AIM = Aim(3), Aim(10)
"""Milliseconds at 10,000 chunks and one client."""
NARROWED = {"a phrase and -word": '"{0} {1}" {2} {3} -{4}', "-word": "{0} {1} {2} {3} -{4}"}
PLAIN = "{0} {1} {2} {3}"
NARROWED_AIM = Aim(3)
"""Times what the same words take alone, at 10,000 chunks."""
STANDIN = "one-layer stand-in model, about 1 ms a question"


def rows(bench: Bench) -> Iterator[Row]:
    """Build one index for each size and ask it over the socket."""
    for chunks in [1_000] if bench.is_quick else [1_000, 10_000]:
        yield from _size(bench, chunks)


def _size(bench: Bench, chunks: int) -> Iterator[Row]:
    writer = Writer(chunks)
    questions = [writer.question() for _ in range(bench.pick(64, 48))]
    strangers = [writer.stranger() for _ in range(len(questions))]
    title = f"{chunks // 1000}k chunks"
    with running(bench, f"scale-{chunks}") as daemon:
        write_notes(daemon.workspace / "memory", count=chunks // 10, size=chunks * CHUNK_BYTES, seed=chunks)
        settle(daemon.client())
        status = agent(daemon.client())
        note = f"{status['chunks']} chunks, {status['passages']} passages"
        is_aim = chunks == AIM_CHUNKS
        yield from _ask(daemon, f"{title}, words", questions, WORDS_AIM if is_aim else None, note)
        keywords = [writer.keywords(5) for _ in range(bench.pick(48, 24))]
        yield from _narrowed(daemon, title, keywords, NARROWED_AIM if is_aim else None)
    index = Path(status["database"]["path"])
    bare = shutil.copyfile(index, bench.folder / f"index-{chunks}.sqlite")
    for dimensions in DIMENSIONS[:1] if bench.is_quick else DIMENSIONS:
        yield from _vectors(bench, daemon, index, dimensions, title, (questions, strangers))
        shutil.copyfile(bare, index)
    bare.unlink()


def _narrowed(daemon: RunningDaemon, title: str, asked: Sequence[Sequence[str]], aim: Aim | None) -> Iterator[Row]:
    """Yield how much longer keywords take when they are narrowed, each form asked right after the other."""
    for name, form in NARROWED.items():
        wall = ask(daemon, [text.format(*words) for words in asked for text in (PLAIN, form)]).wall
        plain, narrowed = median(wall[::2]), median(wall[1::2])
        note = f"{narrowed:.1f} ms against {plain:.1f} ms"
        yield Row(f"{title}, words with {name}: p50", narrowed / plain, "times", aim, note)


def _vectors(
    bench: Bench,
    daemon: RunningDaemon,
    index: Path,
    dimensions: int,
    title: str,
    asked: tuple[Sequence[str], Sequence[str]],
) -> Iterator[Row]:
    questions, strangers = asked
    model = make_model(bench.folder, dimensions)
    count = fill(index, model_identity(model))
    write_config(daemon.home, daemon.workspace, model)
    with daemon:
        client = daemon.client()
        settle(client, embedded=True)
        _warm(client)
        note = f"{count} {NOTE}; {STANDIN}; engine {agent(client)['vector']['engine']}"
        aim = HYBRID_AIM if title.startswith(f"{AIM_CHUNKS // 1000}k") else None
        alone = "questions without a word of the notes"
        yield from _ask(daemon, f"{title}, {dimensions} dimensions, hybrid", questions, aim, note)
        yield from _ask(daemon, f"{title}, {dimensions} dimensions, vector", strangers, None, alone)


def _warm(client: Client) -> None:
    """Let the model and the resident vectors be loaded."""
    for question in ("gate", "lamp"):
        client.search(question, deadline_ms=60_000)


def _ask(daemon: RunningDaemon, name: str, questions: Sequence[str], aim: Aim | None, note: str) -> Iterator[Row]:
    yield from ask(daemon, questions).rows(name, aim=aim, note=note)
    together = [*questions, *questions]
    yield from ask(daemon, together, clients=CLIENTS).rows(f"{name}, {CLIENTS} clients")
