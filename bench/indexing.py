"""The first index of a workspace, what it weighs on disk, and what an edit costs."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from bench.corpus import Writer, write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import agent, cpu_seconds, resident, running, settle
from bench.start import BYTES, FILES
from bench.timing import timed
from bench.vectors import NOTE, fill, model_identity

INDEX_AIM, SIZE_AIM, CHUNKS_AIM = Aim(1.5), Aim(3), Aim(3)
BIG_BYTES = 500_000


def first_index(bench: Bench) -> Iterator[Row]:
    """Move 500 ready notes into place and wait until they are found by words."""
    drafts = bench.folder / "drafts"
    written = write_notes(drafts, count=FILES, size=BYTES)
    with running(bench, "first-index") as daemon:
        client = daemon.client()
        used = cpu_seconds(daemon.pid)
        with timed() as watch:
            os.replace(drafts, daemon.workspace / "memory" / "all")  # noqa: PTH105
            settle(client)
        used = cpu_seconds(daemon.pid) - used
        status = agent(client)
        note = f"{FILES} files, {written / 1e6:.1f} MB, {status['chunks']} chunks, {status['passages']} passages"
        yield Row("first index, words only", watch.seconds, "s", INDEX_AIM, note)
        yield Row("first index, processor time", used, "s", note="of the daemon")
        yield Row("resident after the first index", resident(daemon.pid), "MiB", note="daemon, words only")
    index = Path(status["database"]["path"])
    yield Row("index ÷ text, without vectors", index.stat().st_size / written, "", SIZE_AIM, "file size after a stop")
    fill(index, model_identity(bench.model))
    yield Row("index ÷ text, with vectors", index.stat().st_size / written, "", note=f"384 dimensions, {NOTE}")


def edit(bench: Bench) -> Iterator[Row]:
    """Insert a line at the top of a long note and count what is new."""
    text = Writer(4).note(BIG_BYTES)
    with running(bench, "edit") as daemon:
        client = daemon.client()
        note = daemon.workspace / "memory" / "long.md"
        note.write_text(text)
        settle(client)
        index = Path(agent(client)["database"]["path"])
        before = _hashes(index)
        note.write_text(f"A line that was not here before.\n{text}")
        with timed() as watch:
            settle(client)
        after = _hashes(index)
    name = "one line on top of 500 KB"
    chunks, passages = (new - old for new, old in zip(after, before, strict=True))
    yield Row(f"{name}: new chunks", len(chunks), "", CHUNKS_AIM, f"of {len(after[0])}")
    yield Row(f"{name}: passages to embed", len(passages), "", note=f"of {len(after[1])}")
    yield Row(f"{name}: saved → found by words", watch.ms, "ms", note="POST /v1/sync, no debounce")


def _hashes(index: Path) -> tuple[set[object], set[object]]:
    """Return the hashes of the chunks and of the passages, read beside the daemon."""
    with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        chunks, passages = (db.execute(f"SELECT hash FROM {table}").fetchall() for table in ("chunks", "passages"))
    return {row[0] for row in chunks}, {row[0] for row in passages}
