"""Tokens a second: a bare llama.cpp loop, the worker, and the whole lane from notes to stored vectors, in one run."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.corpus import notes, write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import running, settle
from bench.timing import Stopwatch, median
from memoryd.client import Client
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.embed.local.worker_program import NICENESS
from memoryd.embed.protocol import Passage
from memoryd.models.families import PromptTemplate

SETTINGS = ChunkSettings(tokens=400, overlap=80)
BATCH = 16
"""Passages a call, as the lane sends them."""
AIM = Aim(0.95, is_floor=True)
LONG = timedelta(minutes=5)
NOTE_BYTES = 8_000
LANE_BYTES = 32_000


@dataclass(frozen=True, slots=True)
class Speed:
    """What a share of the work took."""

    tokens: float
    seconds: float

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


Pair = tuple[Speed, Speed]
"""The same kind of work done barely and by ours, one right after the other."""


class BareLoop:
    """The bare loop as a child process, for as long as the `with` block lasts."""

    def __init__(self, model: Path) -> None:
        self._command = [sys.executable, "-m", "bench.bare", str(model), str(NICENESS)]

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.communicate()

    def embed(self, texts: Sequence[str]) -> Speed:
        """Embed the texts."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps(list(texts)), file=self._child.stdin, flush=True)
        return Speed(*json.loads(self._child.stdout.readline()))


def rows(bench: Bench) -> Iterator[Row]:
    """Take short turns, so that what else the machine does slows both sides of a ratio alike."""
    batches = bench.pick(16, 5)
    texts = _passages(bench.folder / "nowhere", batches * 8_000)[: batches * BATCH]
    with BareLoop(bench.model) as bare:
        bare.embed(texts[:1])
        yield from _rows("worker", asyncio.run(_worker(bench.model, bare, texts)), f"{BATCH} passages a call")
        embedding_loop = list(_lane(bench, bare, bench.pick(3, 1)))
        yield from _rows("whole lane", embedding_loop, "from notes on disk to vectors in the index")


def _rows(name: str, turns: Sequence[Pair], note: str) -> Iterator[Row]:
    bare, ours = (median([turn[side].rate for turn in turns]) for side in (0, 1))
    beside = f"1 thread, niceness {NICENESS}, medians of {len(turns)} turns; the bare loop beside it {bare:,.0f}"
    yield Row(name, ours, "tokens/s", note=f"{note}; {beside}")
    ratios = [second.rate / first.rate for first, second in turns]
    yield Row(f"{name} ÷ bare llama.cpp loop", median(ratios), "", AIM, f"{min(ratios):.2f} to {max(ratios):.2f}")


def _passages(folder: Path, size: int, seed: int = 5) -> list[str]:
    """Return what the model is given of some notes: the lane puts the headings above each passage."""
    titled = PromptTemplate().titled
    texts = (text for _, text in notes(folder, count=max(1, size // NOTE_BYTES), size=size, seed=seed))
    entries = [entry for text in texts for entry in chunk_entries(text, SETTINGS)]
    return [
        titled.apply(entry.text[part.start : part.stop], entry.heading) for entry in entries for part in entry.passages
    ]


async def _worker(model: Path, bare: BareLoop, texts: Sequence[str]) -> list[Pair]:
    worker = LlamaWorker.of(model, idle_unload=LONG)
    loop = asyncio.create_task(worker.run())
    try:
        await worker.embed_documents([Passage(texts[0])])
        return [await _turn(worker, bare, texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    finally:
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop


async def _turn(worker: LlamaWorker, bare: BareLoop, texts: Sequence[str]) -> Pair:
    before = bare.embed(texts)
    watch = Stopwatch()
    await worker.embed_documents([Passage(text) for text in texts])
    return before, Speed(before.tokens, watch.seconds)


def _lane(bench: Bench, bare: BareLoop, turns: int) -> Iterator[Pair]:
    """Give a daemon whose model is loaded new notes, again and again."""
    with running(bench, "embedding", model=bench.model) as daemon, ThreadPoolExecutor(1) as pool:
        client = daemon.client()
        (daemon.workspace / "MEMORY.md").write_text("# Memory\n\nOne line to load the model for.\n")
        settle(client, embedded=True)
        for turn in range(turns):
            seed = 10 + turn
            texts = _passages(bench.folder, LANE_BYTES, seed)
            before = bare.embed(texts)
            folder = daemon.workspace / "memory" / f"turn-{turn}"
            done = pool.submit(_follow, daemon.client())
            write_notes(folder, count=LANE_BYTES // NOTE_BYTES, size=LANE_BYTES, seed=seed)
            settle(client, embedded=True)
            passages, seconds = done.result(timeout=60)
            yield before, Speed(before.tokens * passages / len(texts), seconds)


def _follow(client: Client) -> tuple[int, float]:
    """Follow the embedding events to the last one; return passages and seconds from the one with most pending."""
    marks: list[tuple[float, int]] = []
    with closing(client.events(silence=60)) as events:
        for event in events:
            if event["event"] != "embedding":
                continue
            pending = int(str(event["data"]["pending"]))
            if pending or marks:  # else it is the last event of an earlier turn
                marks.append((time.perf_counter(), pending))
            if marks and not pending:
                break
    first = max(marks, key=lambda mark: mark[1])
    return first[1] - marks[-1][1], marks[-1][0] - first[0]
