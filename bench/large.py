"""One very large note of many sections: the memory it takes, and what a small note waits for behind it."""

import time
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import Writer
from bench.measurement import Aim, Bench, Row
from bench.stage import MIB, agent, prepared, resident, running, settle
from bench.timing import Stopwatch, poll, sampled
from memoryd.client import Client

MEMORY_AIM, WAIT_AIM = Aim(300), Aim(3)
WAIT_SECONDS = 120.0
SAVES = 3
ROOM = 4096
"""Bytes that a note stays below its size, so that limits.maxFileBytes takes it."""


def rows(bench: Bench) -> Iterator[Row]:
    """Index one note of sections, and save small ones while another is indexed."""
    yield from _memory(bench, bench.pick(64, 16))
    yield from _wait(bench, bench.pick(25, 8))


def _memory(bench: Bench, size: int) -> Iterator[Row]:
    daemon = prepared(bench, "large-memory")
    _write(daemon.workspace / "memory" / "large.md", size)
    with daemon:
        with sampled(lambda: resident(daemon.pid), step=0.05) as sizes:
            settle(daemon.client())
            if skipped := agent(daemon.client())["skipped"]:
                raise RuntimeError(f"the note was not indexed: {skipped}")
        yield Row(f"{size} MiB of sections, peak memory", max(sizes), "MiB", aim=MEMORY_AIM, note="words only")


def _wait(bench: Bench, size: int) -> Iterator[Row]:
    with running(bench, "large-wait", search={"sync": {"onSearch": False}}) as daemon:
        client = daemon.client()
        _write(daemon.workspace / "memory" / "large.md", size)
        poll(lambda: client.status()["agents"][0]["pendingFiles"], seconds=WAIT_SECONDS, step=0.01)
        waits = [_save(client, daemon.workspace / "memory", number) for number in range(SAVES)]
        note = f"longest of {SAVES} behind {size} MiB, with the debounce of 1.5 s"
        yield Row("small note → found behind a large one", max(waits), "s", aim=WAIT_AIM, note=note)
        settle(client)


def _save(client: Client, folder: Path, number: int) -> float:
    word = f"zyzzyva{number}"
    (folder / f"small-{number}.md").write_text(f"The {word} is here.\n")
    watch = Stopwatch()
    poll(lambda: client.search(word)["results"], seconds=WAIT_SECONDS, step=0.05)
    waited = watch.seconds
    time.sleep(1)
    return waited


def _write(path: Path, size: int) -> None:
    writer, number = Writer(11), 0
    draft = path.with_suffix(".tmp")
    with draft.open("w") as file:
        while file.tell() < size * MIB - ROOM:
            items = "".join(f"- {writer.sentence()}\n" for _ in range(6))
            file.write(f"## Section {number}\n\n{items}\n")
            number += 1
    draft.rename(path)
