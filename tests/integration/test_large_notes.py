"""Large notes: chunked in the background and committed atomically, while small ones are indexed."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings, chunk_entries
from memoryd.domain.memories.kinds import MemoryId
from memoryd.index.committing import MAX_YIELDS, Committer, LargeNotes, Stoppable
from memoryd.index.reading import Reading, Spool
from tests.integration.indexing import QUICK, Stage, rebuilt, staged
from tests.waiting import eventually_async

LARGE_BYTES = 200_000
LARGE = "memory/large.md"


def sections(size: int, word: str) -> str:
    """Return a note of sections; the word is in the first and the last one."""
    count = size // 240 + 1
    body = "".join(
        f"## Section {number}\n\n"
        + f"- item {number} of the chronicle costs {number * 7} crowns and is paid on day {number % 31}.\n" * 3
        for number in range(count)
    )
    return f"# {word}first\n\n{body}\n## End\n\n{word}last\n"


@pytest.fixture(autouse=True)
def lower_large_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the size from which a note counts as large."""
    for place in ("reading", "indexer"):
        monkeypatch.setattr(f"memoryd.index.{place}.LARGE_BYTES", LARGE_BYTES)


@pytest.fixture
def note() -> str:
    return sections(2 * LARGE_BYTES, "quetzal")


async def both_ends(stage: Stage, word: str) -> list[bool]:
    return [await stage.found(f"{word}{end}") == [LARGE] for end in ("first", "last")]


async def test_large_note_is_found_and_equals_a_rebuild(
    tmp_path: Path, workspace: Path, note: str, stage: Stage
) -> None:
    stage.write(LARGE, note)
    await stage.sync(seconds=120)
    assert await both_ends(stage, "quetzal") == [True, True]
    stage.write(LARGE, note.replace("Section 7\n", "Section seven, of the ibex\n"))
    await stage.sync(seconds=120)
    assert await stage.found("ibex") == [LARGE]
    assert await both_ends(stage, "quetzal") == [True, True]
    stage.write(LARGE, "The yak.\n")
    await stage.sync(seconds=120)
    assert await stage.found("yak") == [LARGE]
    assert await both_ends(stage, "quetzal") == [False, False]
    assert await stage.dump() == await rebuilt(workspace, tmp_path / "fresh")


async def test_memories_of_a_large_log_equal_its_lines(tmp_path: Path, workspace: Path) -> None:
    log = "memory/2025-11-27.md"
    told = "pages, and each of them tells of the harbour, of the weir, and of who mended which roof of the town"
    lines = [f"- W @Peter: the chronicle has {number} {told}" for number in range(1600)]
    async with staged(workspace, tmp_path / "state") as stage:
        stage.write(log, "## Retain\n\n" + "\n".join(lines) + "\n")
        await stage.sync(seconds=120)
        assert (workspace / log).stat().st_size > LARGE_BYTES
        assert (await stage.database.memories.counts()).memories == len(lines)
        stage.write(log, "## Retain\n\n" + "\n".join(reversed(lines[1:])) + "\n")
        await stage.sync(seconds=120)
        assert (await stage.database.memories.counts()).memories == len(lines) - 1
        assert await stage.dump() == await rebuilt(workspace, tmp_path / "fresh")


async def test_small_note_is_found_while_large_one_is_chunked(
    note: str, gated: "type[GatedSpool]", stage: Stage
) -> None:
    await stage.sync()
    stage.write(LARGE, note)
    stage.indexer.triggers.hint()
    await eventually_async(lambda: stage.indexer.state.pending_files == 1)
    for number in range(3):
        stage.write(f"memory/small-{number}.md", f"The ibex number{number}.\n")
        stage.indexer.triggers.hint()
        await eventually_async(lambda: f"memory/small-{number}.md" in stage.files)  # noqa: B023
        assert await stage.found(f"number{number}") == [f"memory/small-{number}.md"]
    assert LARGE not in stage.files
    with pytest.raises(TimeoutError):
        await stage.sync(seconds=0.2)
    gated.gate.release(100)
    await stage.sync(seconds=120)
    assert await both_ends(stage, "quetzal") == [True, True]


async def test_commit_of_large_note_yields_to_small_ones_atomically(
    tmp_path: Path, workspace: Path, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    put_off: list[bool] = []

    class LongCommit(Stoppable, frozen=True):
        """Takes as long as that of a far larger note: until it is interrupted, as often as allowed."""

        def __iter__(self) -> Iterator[ChunkEntry]:
            for number, entry in enumerate(super().__iter__()):
                if number == 200:
                    loop.call_soon_threadsafe(begun.set)
                    if len(put_off) < MAX_YIELDS:
                        self.stop.wait(60)
                yield entry

    real = LargeNotes.commit_interruptibly

    async def counted(self: LargeNotes, *arguments: object) -> bool:
        is_done = await real(self, *arguments)  # type: ignore[arg-type]
        put_off.append(not is_done)
        return is_done

    monkeypatch.setattr("memoryd.index.committing.Stoppable", LongCommit)
    monkeypatch.setattr(LargeNotes, "commit_interruptibly", counted)
    settings = replace(QUICK, debounce=0.02)
    async with staged(workspace, tmp_path / "state", settings=settings) as stage:
        await stage.sync()
        stage.write(LARGE, note)
        stage.indexer.triggers.hint()
        for number in range(5):
            await asyncio.wait_for(begun.wait(), 60)
            begun.clear()
            stage.write(f"memory/small-{number}.md", f"The ibex number{number}.\n")
            stage.indexer.triggers.hint()
            await eventually_async(lambda: f"memory/small-{number}.md" in stage.files)  # noqa: B023
            chunks = (await stage.database.documents.counts()).chunks
            if LARGE in stage.files:
                break
            assert chunks < 20, "part of the large note is in the index"
        await stage.sync(seconds=120)
        # it is read once more, because it was written within the last two seconds
        assert put_off[:4] == [True, True, True, False]
        assert await both_ends(stage, "quetzal") == [True, True]
    assert await dump_of(workspace, tmp_path / "state") == await dump_of(workspace, tmp_path / "fresh")


async def dump_of(workspace: Path, state: Path) -> object:
    async with staged(workspace, state) as stage:
        await stage.sync(seconds=120)
        return await stage.dump()


async def test_large_note_deleted_or_hidden_while_chunked_is_dropped(note: str, stage: Stage) -> None:
    await stage.sync()
    path = stage.write(LARGE, note)
    stage.indexer.triggers.hint()
    await eventually_async(lambda: stage.indexer.state.pending_files == 1)
    path.unlink()
    await stage.sync(seconds=60)
    assert LARGE not in stage.files
    path.write_text(note)
    stage.indexer.triggers.hint()
    await eventually_async(lambda: stage.indexer.state.pending_files == 1)
    path.write_text(f"---\nmemory: false\n---\n{note}")
    await stage.sync(seconds=120)
    assert LARGE not in stage.files
    assert await both_ends(stage, "quetzal") == [False, False]


def test_spool_returns_all_its_entries(tmp_path: Path) -> None:
    entries = chunk_entries("# Rent\n\nIt is due on Friday.\n", ChunkSettings(40, 0))
    entries += tuple(replace(entry, memory=MemoryId("m" * 16), scope="agent:main") for entry in entries)
    assert list(Spool(entries, tmp_path)) == list(Spool(entries, tmp_path)) == list(entries)


class GatedSpool(Spool):
    """A spool that is complete only when the test opens the gate."""

    gate: threading.Semaphore
    cutting: list[int]
    """The number of spools at work, each time one begins."""
    at_work = 0

    def __init__(self, entries: Iterator[ChunkEntry], folder: Path) -> None:
        kind = type(self)
        kind.at_work += 1
        kind.cutting.append(kind.at_work)
        try:
            super().__init__(entries, folder)
            kind.gate.acquire(timeout=60)
        finally:
            kind.at_work -= 1


@pytest.fixture
def gated(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[GatedSpool]]:
    class Gated(GatedSpool):
        gate = threading.Semaphore(0)
        cutting: list[int] = []  # noqa: RUF012 - of this test alone

    monkeypatch.setattr("memoryd.index.reading.Spool", Gated)
    yield Gated
    Gated.gate.release(100)


async def test_large_note_hidden_after_chunking_is_never_indexed(
    tmp_path: Path, workspace: Path, note: str, gated: type[GatedSpool], monkeypatch: pytest.MonkeyPatch
) -> None:
    put: list[str] = []
    real = Committer._put

    async def watched(self: Committer, changed: Sequence[Reading], *, is_forced: bool) -> None:
        put.extend(reading.path for reading in changed)
        await real(self, changed, is_forced=is_forced)

    monkeypatch.setattr(Committer, "_put", watched)
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        path = stage.write(LARGE, note)
        stage.indexer.triggers.hint()
        await eventually_async(lambda: gated.cutting)
        path.write_text(f"---\nmemory: false\n---\n{note}")
        gated.gate.release(100)
        await stage.sync(seconds=120)
        assert LARGE not in put
        assert stage.skipped[LARGE]


async def test_append_while_chunking_is_indexed_afterwards(note: str, gated: type[GatedSpool], stage: Stage) -> None:
    await stage.sync()
    path = stage.write(LARGE, note)
    stage.indexer.triggers.hint()
    await eventually_async(lambda: gated.at_work)
    with path.open("a") as appended:
        appended.write("\n## App\n\nThe ibex.\n")
    gated.gate.release()
    await eventually_async(lambda: LARGE in stage.files)
    assert await both_ends(stage, "quetzal") == [True, True]
    assert await stage.found("ibex") == []
    gated.gate.release(100)
    await stage.sync(seconds=120)
    assert await stage.found("ibex") == [LARGE]
    assert len(gated.cutting) == 2


async def test_obsolete_chunking_ends_before_the_next_begins(note: str, gated: type[GatedSpool], stage: Stage) -> None:
    await stage.sync()
    path = stage.write(LARGE, note)
    stage.indexer.triggers.hint()
    await eventually_async(lambda: gated.cutting)
    path.unlink()
    stage.write("memory/other.md", note)
    stage.write("memory/small.md", "The ibex.\n")
    stage.indexer.triggers.hint()
    await eventually_async(lambda: "memory/small.md" in stage.files)
    with pytest.raises(TimeoutError):
        await stage.sync(seconds=0.5)
    gated.gate.release(100)
    await stage.sync(seconds=120)
    assert await stage.found("quetzalfirst") == ["memory/other.md"]
    assert set(gated.cutting) == {1}


async def test_forced_sync_reads_all_large_notes_again(note: str, stage: Stage) -> None:
    for name in ("a", "b"):
        stage.write(f"memory/{name}.md", note)
    await stage.sync(seconds=240)
    await stage.database.write(lambda db: db.execute("UPDATE chunks SET heading = 'wrong' WHERE ordinal = 3"))
    await stage.sync(force=True, seconds=240)
    wrong = await stage.database.read(lambda db: db.execute("SELECT count(*) FROM chunks WHERE heading = 'wrong'").get)
    assert wrong == 0


async def test_stop_does_not_wait_for_chunking(
    tmp_path: Path, workspace: Path, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = 0

    class SlowSpool(Spool):
        def __init__(self, entries: Iterator[ChunkEntry], folder: Path) -> None:
            super().__init__(self._slowly(entries), folder)

        def _slowly(self, entries: Iterator[ChunkEntry]) -> Iterator[ChunkEntry]:
            nonlocal cut
            for entry in entries:
                cut += 1
                time.sleep(0.1)
                yield entry

    monkeypatch.setattr("memoryd.index.reading.Spool", SlowSpool)
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.sync()
        stage.write(LARGE, note)
        stage.indexer.triggers.hint()
        await eventually_async(lambda: cut)
        stopped_at = cut
    assert cut < stopped_at + 100
