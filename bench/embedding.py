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

from bench.corpus import notes
from bench.measurement import Aim, Bench, Row
from bench.stage import agent, running, settle
from bench.timing import Stopwatch, median
from bench.vectors import model_identity
from memoryd.client import Client
from memoryd.domain.entries import ChunkSettings, chunk_entries
from memoryd.embed.families import family_of
from memoryd.embed.gguf_header import inspect
from memoryd.embed.llama import NICENESS
from memoryd.embed.protocol import Passage
from memoryd.embed.worker import LlamaWorker

SETTINGS = ChunkSettings(tokens=400, overlap=80)
BATCH = 16
"""Passages a call, as the lane sends them."""
AIM = Aim(0.9, is_floor=True)
LONG = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Speed:
    """What one pass over passages took."""

    passages: float
    seconds: float

    def tokens_per_second(self, mean: float) -> float:
        """Return the speed, `mean` being the tokens of an average passage."""
        return self.passages * mean / self.seconds


def rows(bench: Bench) -> Iterator[Row]:
    """Take turns, so that a busy machine slows all alike, and compare within each turn."""
    size, rounds = bench.pick(90_000, 30_000), bench.pick(3, 2)
    texts = _passages(bench.folder / "nowhere", size)
    turns, tokens = [], 0
    for _ in range(rounds):
        tokens, seconds = _bare(bench.model, texts)
        turns.append((Speed(len(texts), seconds), asyncio.run(_worker(bench.model, texts))))
    mean = tokens / len(texts)
    lane = _lane(bench, 3 * size)
    after = Speed(len(texts), _bare(bench.model, texts)[1])
    bare, worker = ([turn[side].tokens_per_second(mean) for turn in turns] for side in (0, 1))
    note = f"{len(texts)} passages of {mean:.0f} tokens, 1 thread, niceness {NICENESS}, median of {rounds}"
    yield Row("bare llama.cpp loop", median(bare), "tokens/s", note=note)
    yield Row("worker alone", median(worker), "tokens/s", note="through the frames and back, 16 passages a call")
    ratios = [second / first for first, second in zip(bare, worker, strict=True)]
    yield Row("worker ÷ bare", median(ratios), "", AIM, note="median of the turns")
    yield Row("whole lane", lane.tokens_per_second(mean), "tokens/s", note=f"{lane.passages:.0f} passages, stored")
    around = median([bare[-1], after.tokens_per_second(mean)])
    yield Row("lane ÷ bare", lane.tokens_per_second(mean) / around, "", AIM, "bare just before and just after")


def _passages(folder: Path, size: int) -> list[str]:
    texts = (text for _, text in notes(folder, count=max(1, size // 8_000), size=size, seed=5))
    entries = [entry for text in texts for entry in chunk_entries(text, SETTINGS)]
    return [entry.text[part.start : part.stop] for entry in entries for part in entry.passages]


def _bare(model: Path, texts: Sequence[str]) -> tuple[int, float]:
    command = [sys.executable, "-m", "bench.bare", str(model), str(NICENESS)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    return result["tokens"], result["seconds"]


async def _worker(model: Path, texts: Sequence[str]) -> Speed:
    worker = LlamaWorker(
        model=model,
        family=family_of(inspect(model)),
        identity=model_identity(model),
        threads=1,
        idle_unload=LONG,
    )
    loop = asyncio.create_task(worker.run())
    try:
        await worker.embed_documents([Passage(texts[0])])
        watch = Stopwatch()
        for at in range(0, len(texts), BATCH):
            await worker.embed_documents([Passage(text) for text in texts[at : at + BATCH]])
        return Speed(len(texts), watch.seconds)
    finally:
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop


def _lane(bench: Bench, size: int) -> Speed:
    """Let a daemon whose model is loaded embed new notes; time it from one stored batch to the last."""
    with running(bench, "embedding", model=bench.model) as daemon, ThreadPoolExecutor(1) as pool:
        client = daemon.client()
        (daemon.workspace / "MEMORY.md").write_text("# Memory\n\nOne line to load the model for.\n")
        settle(client, embedded=True)
        done = pool.submit(_follow, daemon.client(), agent(client)["id"])
        time.sleep(0.2)
        for path, text in notes(daemon.workspace / "memory", count=max(1, size // 8_000), size=size, seed=6):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        settle(client, embedded=True)
        return done.result(timeout=30)


def _follow(client: Client, name: str) -> Speed:
    """Follow the embedding events to the last one; the rate counts from the one with most pending."""
    marks: list[tuple[float, int]] = []
    with closing(client.events(agent=name, silence=60)) as events:
        for event in events:
            if event["event"] != "embedding":
                continue
            marks.append((time.perf_counter(), int(str(event["data"]["pending"]))))
            if marks[-1][1] == 0:
                break
    most = max(range(len(marks)), key=lambda at: marks[at][1])
    return Speed(marks[most][1] - marks[-1][1], marks[-1][0] - marks[most][0])
