"""What is saved or deleted, and asked for at once: how soon it is in the answer, and what it costs to look."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpus import Writer, write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import agent, running, settle
from bench.timing import Stopwatch, median, percentile, poll
from memoryd.client import Client
from memoryd.index.watcher import FileWatcher
from memoryd.replies.search import SearchReply
from tests.integration.indexing import staged
from tests.waiting import eventually_async

ASKED_AFTER_SECONDS = 0.02
LIMIT_SECONDS = 30.0
FOUND_AIM, TOLD_AIM, IDLE_AIM = Aim(150), Aim(0), Aim(0.3)
SMALL, NOTE_BYTES = 20, 120
CALLS = 2_000


@dataclass(slots=True)
class Taken:
    """What the saves of one workspace gave: milliseconds from the save until the note is told."""

    found: list[float] = field(default_factory=list)
    false_completes: int = 0
    """Answers that lacked the note and called themselves complete."""
    still_told: int = 0
    """Answers after a deletion that told the note."""


def rows(bench: Bench) -> Iterator[Row]:
    """Save and ask in a small workspace and in one of many files; then ask where nothing changed."""
    for count in (SMALL, bench.pick(10_000, 1_000)):
        yield from _in_workspace(bench, count)
    for count in (SMALL, bench.pick(10_000, 1_000)):
        took = asyncio.run(_idle(bench.folder / f"idle-{count}", count))
        yield Row(f"look before a question, {count:,} files, nothing changed", took, "ms", IDLE_AIM)


def _in_workspace(bench: Bench, count: int) -> Iterator[Row]:
    # a minute of debounce: what is found was found for the question
    with running(bench, f"fresh-{count}", search={"sync": {"watchDebounceMs": 60_000}}) as daemon:
        write_notes(daemon.workspace / "memory", count=count, size=count * NOTE_BYTES)
        client = daemon.client()
        settle(client)
        poll(lambda: agent(client)["watcher"]["ok"] and not agent(client)["dirty"], seconds=LIMIT_SECONDS)
        taken = _saves(client, daemon.workspace / "memory", bench.pick(60, 15))
    name, note = f"{count:,} files: save → asked after 20 ms → found", f"of {len(taken.found)} saves"
    yield Row(f"{name}, p50", median(taken.found), "ms", note=note)
    yield Row(f"{name}, p95", percentile(taken.found, 95), "ms", FOUND_AIM, note)
    yield Row(f"{count:,} files: complete without the note", taken.false_completes, "answers", TOLD_AIM, note)
    yield Row(f"{count:,} files: delete → asked at once → told", taken.still_told, "answers", TOLD_AIM, note)


def _saves(client: Client, folder: Path, count: int) -> Taken:
    """Make a note, save it anew, and delete it, over and over; ask after each."""
    writer, taken = Writer(11), Taken()
    for number in range(count):
        target = folder / f"fresh-{number % 5}.md"
        word = f"{writer.stranger().split()[0]}{number}"
        draft = target.with_suffix(".tmp")
        draft.write_text(f"# {writer.sentence()}\n\n{writer.sentence()} The {word} is kept here.\n")
        os.replace(draft, target)  # noqa: PTH105  what editors call
        taken.found.append(_until_found(client, word, target.name, taken))
        if number % 3 == 2:
            target.unlink()
            taken.still_told += _tells(client.search(word), target.name)
    return taken


def _until_found(client: Client, word: str, name: str, taken: Taken) -> float:
    watch = Stopwatch()
    time.sleep(ASKED_AFTER_SECONDS)
    while watch.seconds < LIMIT_SECONDS:
        reply = client.search(word)
        if _tells(reply, name):
            return watch.ms
        taken.false_completes += reply["health"]["complete"]
    raise TimeoutError(f"{name} is not found within {LIMIT_SECONDS:g} s")


def _tells(reply: SearchReply, name: str) -> bool:
    return any(hit["path"] == f"memory/{name}" for hit in reply["results"])


async def _idle(folder: Path, count: int) -> float:
    """Return the milliseconds of one look where nothing changed, the mean of many, in this process."""
    workspace = folder / "workspace"
    write_notes(workspace / "memory", count=count, size=count * NOTE_BYTES)
    watcher = FileWatcher(probe=folder / "probe")
    async with staged(workspace, folder / "state", watcher=watcher) as stage:
        await stage.sync(seconds=LIMIT_SECONDS * 20)
        await eventually_async(lambda: watcher.report_events("stage"), seconds=LIMIT_SECONDS)
        await stage.sync(seconds=LIMIT_SECONDS)
        watch = Stopwatch()
        for _ in range(CALLS):
            await stage.indexer.catch_up(0.1, is_watched=watcher.report_events("stage"))
        return watch.ms / CALLS
