"""What ten thousand memories beside ten thousand chunks of prose take: the index, the first book, the next one."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.measurement import Aim, Bench, Row
from bench.memories.corpus import MemoryCorpus, questions, write_memories
from bench.stage import agent, cpu_seconds, prepared, settle
from bench.standin import make_model
from bench.timing import ProcessorWatch, Stopwatch, timed
from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.syncplan import IndexedFile
from memoryd.memory.book import MemoryCache
from memoryd.memory.note_files import RecordDays
from memoryd.store.index.database import Database
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.usage import FirstSeen
from memoryd.wire import LISTED_MAX
from tests.daemon import RunningDaemon

FIRST_BOOK, NEXT_BOOK, RECALL, IMPORT = Aim(1.0), Aim(50), Aim(20), Aim(1.5)
ASKED = 200
"""Questions."""
WRITES = 20
DIMENSIONS = 384
FILTERED: Mapping[str, Mapping[str, str]] = {
    "since": {"since": "2026-01-01"},
    "asOf": {"as_of": "2026-02-01"},
    "a kind": {"kind": "opinion"},
}
NO_STAT = FileStat(0, 0, 0, 0, 0)
SAME = 1000
"""How often a book that is still the same is asked for."""


def rows(bench: Bench) -> Iterator[Row]:
    """Index the corpus by a daemon; then make the book beside it, as the daemon does."""
    lines = bench.size or bench.pick(10_000, 2_000)
    with prepared(bench, "memories") as daemon:
        client = daemon.client()
        settle(client)
        corpus = write_memories(daemon.workspace, lines=lines, chunks=lines)
        with timed() as watch:
            settle(client)
        status = agent(client)
        note = f"{corpus.lines:,} retained lines in {len(corpus.logs)} logs, {status['chunks']:,} chunks"
        yield Row("the first index, words only", watch.seconds, "s", note=note)
        database = Path(status["database"]["path"])
        yield from _recalls(daemon, "recall")
        yield from _written(daemon)
    if not bench.size:
        yield from _with_vectors(bench, lines)
        with prepared(bench, "memories-import") as daemon:
            yield from _imported(daemon, lines)
    yield from asyncio.run(_books(database, daemon.workspace, corpus))


def _with_vectors(bench: Bench, lines: int) -> Iterator[Row]:
    """Recall with vectors of a model that computes next to nothing, so that what is left is the recall."""
    with prepared(bench, "memories-vectors", model=make_model(bench.folder, DIMENSIONS)) as daemon:
        write_memories(daemon.workspace, lines=lines, chunks=lines)
        client = daemon.client()
        settle(client, embedded=True)
        yield from _recalls(daemon, "recall with vectors")
        for given, filters in FILTERED.items():
            yield from _recalls(daemon, f"recall with vectors and {given}", **filters)


def _recalls(daemon: RunningDaemon, name: str, **filters: Any) -> Iterator[Row]:
    """Recall; the first question with these filters is not counted, which works out who may answer."""
    client = daemon.client()
    client.recall("warm up", **filters)
    used = ProcessorWatch(partial(cpu_seconds, daemon.pid))
    took = sorted(client.recall(question, **filters)["tookMs"] for question in questions(ASKED))
    yield Row(f"{name}, processor time", used.seconds / ASKED * 1000, "ms", note="the mean, call and reply included")
    yield Row(f"{name}, median", took[ASKED // 2], "ms")
    yield Row(f"{name}, p95", took[ASKED * 95 // 100], "ms", RECALL)


def _written(daemon: RunningDaemon) -> Iterator[Row]:
    """Retain a line and recall, again and again: what a write costs the next question."""
    client = daemon.client()
    used, took = ProcessorWatch(partial(cpu_seconds, daemon.pid)), list[float]()
    for at in range(WRITES):
        client.retain(f"W @Peter: the code of shed {at} is {at}{at}")
        took.append(client.recall("what is the code of Peter")["tookMs"])
    yield Row("recall right after a write, median", sorted(took)[WRITES // 2], "ms", note="reading the note included")
    yield Row("a write and a recall, processor time", used.seconds / WRITES * 1000, "ms", note="the mean")


def _imported(daemon: RunningDaemon, lines: int) -> Iterator[Row]:
    """Import memories into the log of one day: what each costs must not grow with what stands there."""
    client, each = daemon.client(), list[float]()
    for first in range(0, lines, LISTED_MAX):
        used = ProcessorWatch(partial(cpu_seconds, daemon.pid))
        numbers = range(first, first + LISTED_MAX)
        memories = [{"text": f"the code of shed {at} is {at}{at}", "days": ["2025-01-01"]} for at in numbers]
        client.import_memories(memories, run=uuid4().hex)
        settle(client)
        each.append(used.seconds / LISTED_MAX * 1000)
    note = f"of {LISTED_MAX:,} into the log of one day, processor time"
    yield Row("a memory imported, the first page", each[0], "ms", IMPORT, note)
    yield Row(f"a memory imported, the {len(each)}. page", each[-1], "ms", IMPORT, note)


async def _books(path: Path, workspace: Path, corpus: MemoryCorpus) -> list[Row]:
    with ThreadPoolExecutor(2) as executor:
        database, ledger = Database(path=path, executor=executor), Ledger(path.with_name("bench-ledger"), executor)
        await database.open()
        days = RecordDays(first_seen=FirstSeen(ledger, workspace), local_day=_day, clock=time.time)
        book = MemoryCache(database=database, days=days, withdrawn=frozenset, executor=executor)
        first = Stopwatch()
        memories = len((await book.current()).memories)
        first_seconds = first.seconds
        # found unchanged at another time: its lines are read anew, as those of a changed one
        await database.documents.touch(_last(corpus), IndexedFile(NO_STAT, time.time_ns()))
        second = Stopwatch()
        await book.current()
        next_ms = second.ms
        same = Stopwatch()
        for _ in range(SAME):
            await book.current()
        same_ms = same.ms / SAME
        await ledger.close()
        await database.close()
    return [
        Row("the first book", first_seconds, "s", FIRST_BOOK, f"{memories:,} memories, off the event loop"),
        Row("the book after one file changed", next_ms, "ms", NEXT_BOOK),
        Row("the same book again", same_ms * 1000, "µs"),
    ]


def _last(corpus: MemoryCorpus) -> RelativePath:
    return RelativePath(corpus.logs[-1])


def _day(at: float) -> date:
    return datetime.fromtimestamp(at, UTC).date()
