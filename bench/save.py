"""From a saved note to the answer that cites it."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import Writer, write_notes
from bench.measurement import Bench, Row
from bench.stage import running, settle
from bench.timing import Stopwatch, median
from memoryd.client import Client
from memoryd.replies.search import HitReply

DEBOUNCE_MS = 1500
LIMIT_SECONDS = 30.0
STEP_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Found:
    """Milliseconds from the rename that ends the save until the note is found by words, and by vector."""

    words: float
    vector: float


def rows(bench: Bench) -> Iterator[Row]:
    """Save notes as editors do and ask until they are found."""
    # a question would itself look at the disk and so shorten what is measured
    sync = {"onSearch": False, "watchDebounceMs": DEBOUNCE_MS}
    search = {"sync": sync, "query": {"freshMs": 0}}
    with running(bench, "save", model=bench.model, search=search) as daemon:
        write_notes(daemon.workspace / "memory", count=20, size=20_000)
        client = daemon.client()
        settle(client, embedded=True)
        _wait_until_unsuspected()
        writer = Writer(7)
        found = [_save(client, daemon.workspace, writer, number) for number in range(bench.pick(5, 2))]
    yield from _times("words", [times.words for times in found])
    yield from _times("vector", [times.vector for times in found])


def _wait_until_unsuspected() -> None:
    """Let the watcher arm itself and the scans that follow a first index pass."""
    time.sleep(2.5)


def _save(client: Client, workspace: Path, writer: Writer, number: int) -> Found:
    word = writer.stranger().split()[0]
    text = f"# {writer.sentence()}\n\n{writer.sentence()} The {word} is kept here. {writer.sentence()}\n"
    target = workspace / "memory" / f"saved-{number}.md"
    draft = target.with_suffix(".tmp")
    draft.write_text(text)
    os.replace(draft, target)  # noqa: PTH105  what editors call
    watch, words = Stopwatch(), None
    while watch.seconds < LIMIT_SECONDS:
        hit = _hit(client, f"the {word} is kept here", f"memory/{target.name}")
        if hit is not None:
            words = words or watch.ms
            if hit.get("vectorScore") is not None:
                return Found(words, watch.ms)
        time.sleep(STEP_SECONDS)
    raise TimeoutError(f"{target.name} is not found within {LIMIT_SECONDS:g} s")


def _hit(client: Client, question: str, path: str) -> HitReply | None:
    return next((hit for hit in client.search(question)["results"] if hit["path"] == path), None)


def _times(arm: str, times: list[float]) -> Iterator[Row]:
    note = f"median of {len(times)}, asked every {STEP_SECONDS * 1000:g} ms"
    yield Row(f"save → found by {arm}", median(times), "ms", note=note)
    debounced = f"minus sync.watchDebounceMs {DEBOUNCE_MS}"
    yield Row(f"save → found by {arm}, debounce apart", median(times) - DEBOUNCE_MS, "ms", note=debounced)
