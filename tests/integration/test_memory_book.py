"""The book of all memories follows the disk, and survives the loss of index and ledger."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memoryd.domain.memories.book import Book, MemorySource
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.times.parsing import event_span
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.memory.book import MemoryCache
from memoryd.memory.note_files import RecordDays
from memoryd.memory.recall.eligible import EligibleMemories, MemoryFacts
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.usage import FirstSeen
from tests.integration.indexing import Stage, staged
from tests.waiting import SECONDS, eventually_async

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
OLD = datetime(2026, 1, 10, 12, tzinfo=UTC).timestamp()
LATER = datetime(2026, 2, 20, 12, tzinfo=UTC).timestamp()
LOG, BANK = "memory/2025-11-27.md", "bank/world.md"
WRITTEN = {
    LOG: "# A day\n\n## Retain\n\n- W @Peter: lives in Graz\n- O(c=0.9) @Anna: prefers tea\n  in the morning\n",
    "memory/2025-11-29-trip.md": "## Retain\n\n- W @Peter: lives in Graz\n- B: met @Peter\n\nand prose\n",
    BANK: f"# World\n\n- @Peter: has a boat\n\n{BEGIN}\n- W @Peter: was generated\n{END}\n",
    "bank/entities/peter.md": f"---\naliases: [Pete]\n---\n# Peter\n\n{BEGIN}\nlives in Graz\n{END}\n",
    "memory/notes.md": "## Retain\n\n- W: no log has this\n",
}


@dataclass
class BookSetup:
    """A running workspace with its book and ledger."""

    stage: Stage
    ledger: Ledger
    memories: MemoryCache

    async def book(self) -> Book:
        await self.stage.sync()
        return await self.memories.current()


@asynccontextmanager
async def running_book(
    workspace: Path, state: Path, *, is_read_only: bool = False, clock: Callable[[], float] = lambda: NOW
) -> AsyncIterator[BookSetup]:
    state.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as executor:
        async with staged(workspace, state) as stage:
            ledger = Ledger(state / "ledger.sqlite", executor, is_read_only=is_read_only)
            days = RecordDays(first_seen=FirstSeen(ledger, workspace), local_day=_day, clock=clock)
            withdrawn = stage.indexer.withdrawn
            book = MemoryCache(database=stage.database, days=days, withdrawn=lambda: withdrawn.paths, executor=executor)
            try:
                yield BookSetup(stage, ledger, book)
            finally:
                await ledger.close()


def _day(at: float) -> date:
    return datetime.fromtimestamp(at, UTC).date()


@pytest.fixture(autouse=True)
def written(workspace: Path) -> None:
    for name, text in WRITTEN.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (OLD, OLD))


@pytest.fixture
async def running(workspace: Path, tmp_path: Path) -> AsyncIterator[BookSetup]:
    async with running_book(workspace, tmp_path / "state") as setup:
        yield setup


def contents_of(book: Book) -> list[object]:
    """Return everything in a book except row ids."""
    memories = [(one.id, [_plain(source) for source in one.sources]) for one in book.memories.values()]
    by_chunk = sorted(book.by_chunk.values())
    return [*memories, by_chunk, dict(book.by_entity), dict(book.aliases), dict(book.pages)]


def _plain(source: MemorySource) -> tuple[object, ...]:
    return source.path, source.start_line, source.end_line, source.line, source.day, source.event


def days(book: Book, text: str) -> list[date]:
    return [source.day for one in book.memories.values() if one.line.text == text for source in one.sources]


async def test_book_has_every_line_with_place_and_day(running: BookSetup) -> None:
    book = await running.book()
    assert {memory.line.text for memory in book.memories.values()} == {
        "lives in Graz",
        "prefers tea\nin the morning",
        "met @Peter",
        "has a boat",
    }
    (graz,) = [memory for memory in book.memories.values() if memory.line.text == "lives in Graz"]
    places = [(source.path, source.start_line, source.day) for source in graz.sources]
    assert places == [("memory/2025-11-29-trip.md", 3, date(2025, 11, 29)), (LOG, 5, date(2025, 11, 27))]
    chunks = await running.stage.database.documents.chunks(list(book.by_chunk))
    assert {row.text.split("\n")[0] for row in chunks.values()} >= {"- W @Peter: lives in Graz", "- B: met @Peter"}


async def test_note_becomes_stale_with_time(workspace: Path, tmp_path: Path) -> None:
    (workspace / LOG).write_text("---\nstale_after: 2026-03-02\n---\n" + WRITTEN[LOG])
    at = [NOW]
    async with running_book(workspace, tmp_path / "state", clock=lambda: at[0]) as running:
        before = await running.book()
        at[0] += 24 * 3_600
        after = await running.memories.current()
    for book, is_over in ((before, False), (after, True)):
        sources = [source for memory in book.memories.values() for source in memory.sources]
        assert {source.path for source in sources if source.is_over} == ({LOG} if is_over else set())
    assert before.by_entity == after.by_entity


async def test_book_follows_saves_renames_and_deletions(workspace: Path, running: BookSetup) -> None:
    first = await running.book()
    assert await running.book() is first
    (workspace / "memory/plain.md").write_text("no memory at all\n")
    assert await running.book() is first
    (workspace / LOG).rename(workspace / "memory/2025-12-24.md")
    moved = await running.book()
    assert moved.memories.keys() == first.memories.keys()
    assert days(moved, "prefers tea\nin the morning") == [date(2025, 12, 24)]
    (workspace / "memory/2025-12-24.md").rename(workspace / "memory/christmas.md")
    assert days(await running.book(), "prefers tea\nin the morning") == []
    (workspace / "memory/christmas.md").rename(workspace / LOG)
    (workspace / BANK).unlink()
    last = await running.book()
    assert days(last, "prefers tea\nin the morning") == [date(2025, 11, 27)]
    assert days(last, "has a boat") == []
    await running.stage.dump()


async def test_renamed_bank_page_changes_kind_of_its_lines(workspace: Path, running: BookSetup) -> None:
    first = await running.book()
    (workspace / BANK).rename(workspace / "bank/opinions.md")
    book = await running.book()
    assert book.memories.keys() == first.memories.keys()
    kinds = [memory.kind for memory in book.memories.values() if "boat" in memory.line.text]
    assert kinds == ["opinion"]
    await running.stage.dump()


async def test_private_note_takes_its_memories_out(workspace: Path, running: BookSetup) -> None:
    await running.book()
    (workspace / LOG).write_text(f"---\nmemory: false\n---\n{WRITTEN[LOG]}")
    assert days(await running.book(), "prefers tea\nin the morning") == []


async def test_names_of_a_private_page_are_erased(workspace: Path, tmp_path: Path) -> None:
    page, state = workspace / "bank/entities/quetzal.md", tmp_path / "state"
    page.write_text("---\naliases: [Coatlus]\n---\n# Quetzal\n")
    async with running_book(workspace, state) as running:
        assert "quetzal" in (await running.book()).pages
        page.write_text("---\naliases: [Coatlus]\nmemory: false\n---\n# Quetzal\n")
        assert "quetzal" not in (await running.book()).pages
        held = b"".join(path.read_bytes().lower() for path in state.rglob("*") if path.is_file())
        assert b"coatlus" not in held
        assert b"quetzal" not in held


async def test_book_is_updated_without_questions(workspace: Path, running: BookSetup) -> None:
    """A line keeps the day on which it was first seen."""
    await running.stage.sync()
    following = asyncio.create_task(running.memories.run())
    try:
        await eventually_async(lambda: running.ledger.path.exists())
        (workspace / BANK).write_text("- @Peter: has a boat\n- a new line\n")
        os.utime(workspace / BANK, (LATER, LATER))
        await running.stage.sync()
        running.memories.note_change()
        (memory,) = [it.id for it in (await running.book()).memories.values() if it.line.text == "a new line"]
        seen = FirstSeen(running.ledger, workspace)
        assert (await seen.days([memory])) == {memory: _day(LATER)}
    finally:
        following.cancel()


async def test_book_is_prepared_before_the_first_question(workspace: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        async with running_book(workspace, tmp_path / "state") as running:
            eligible = EligibleMemories(
                database=running.stage.database, executor=executor, hidden=running.memories.hidden
            )
            prepared: list[MemoryFacts] = []

            async def prepare(book: Book) -> None:
                prepared.append(await eligible.facts(book))

            running.memories.prepares.append(prepare)
            following = asyncio.create_task(running.memories.run())
            try:
                await eventually_async(lambda: running.memories.uses.misses > 0)
                assert not prepared, "nothing is indexed yet"
                await running.stage.sync()
                running.memories.note_change()
                await eventually_async(lambda: bool(prepared))
                book = await running.memories.current()
                assert prepared[0] is await eligible.facts(book)
                (workspace / BANK).write_text("- @Peter: has a boat\n- a new line\n")
                await running.stage.sync()
                running.memories.note_change()
                await eventually_async(lambda: running.memories.uses.misses > 2)
                assert len(prepared) == 1
            finally:
                following.cancel()


async def test_withdrawn_notes_are_not_in_the_book(running: BookSetup) -> None:
    first = await running.book()
    running.stage.indexer.withdrawn.add(["memory/2025-11-29-trip.md", "bank/entities/peter.md"])  # type: ignore[list-item]  # paths
    book = await running.memories.current()
    assert days(book, "met @Peter") == []
    assert days(book, "lives in Graz") == [date(2025, 11, 27)]
    assert not book.pages
    running.stage.indexer.withdrawn.keep([])
    assert contents_of(await running.memories.current()) == contents_of(first)


async def test_rebuilt_index_gives_the_same_book(workspace: Path, tmp_path: Path) -> None:
    async with running_book(workspace, tmp_path / "state") as running:
        before = contents_of(await running.book())
        await running.ledger.close()
    for path in (tmp_path / "state").glob("index.sqlite*"):
        path.unlink()
    # the file is saved again, but the ledger knows when its lines were first seen
    os.utime(workspace / BANK, (LATER, LATER))
    async with running_book(workspace, tmp_path / "state") as running:
        assert contents_of(await running.book()) == before


async def test_index_recreated_while_running_gives_the_same_book(tmp_path: Path, running: BookSetup) -> None:
    before = contents_of(await running.book())
    async with running.stage.database.reopening():
        for path in (tmp_path / "state").glob("index.sqlite*"):
            path.unlink()
        await running.stage.database.open()
    await running.stage.sync(force=True)
    assert contents_of(await running.book()) == before


async def test_deleted_ledger_loses_no_memory(workspace: Path, tmp_path: Path) -> None:
    async with running_book(workspace, tmp_path / "state") as running:
        before = await running.book()
        assert days(before, "has a boat") == [_day(OLD)]
    for path in (tmp_path / "state").glob("ledger.sqlite*"):
        path.unlink()
    os.utime(workspace / BANK, (LATER, LATER))
    async with running_book(workspace, tmp_path / "state") as running:
        after = await running.book()
        assert after.memories.keys() == before.memories.keys()
        assert days(after, "has a boat") == [_day(LATER)]


async def test_line_without_date_keeps_its_first_day(workspace: Path, running: BookSetup) -> None:
    assert days(await running.book(), "has a boat") == [_day(OLD)]
    (workspace / BANK).write_text("- @Peter: has a boat\n- a new line\n")
    os.utime(workspace / BANK, (LATER, LATER))
    book = await running.book()
    assert days(book, "has a boat") == [_day(OLD)]
    assert days(book, "a new line") == [_day(LATER)]


async def test_read_only_ledger_leaves_the_day_of_the_file(workspace: Path, tmp_path: Path) -> None:
    os.utime(workspace / BANK, (NOW + 1e6, NOW + 1e6))
    async with running_book(workspace, tmp_path / "state", is_read_only=True) as running:
        # a future day comes from a wrong clock
        assert days(await running.book(), "has a boat") == [_day(NOW)]
        assert not running.ledger.path.exists()


async def test_own_memories_are_prepared_before_shared_ones(
    monkeypatch: pytest.MonkeyPatch, running: BookSetup
) -> None:
    await running.stage.sync()
    shared, go_on = "memory/2025-11-29-trip.md", threading.Event()
    # like a file of another person
    monkeypatch.setattr("memoryd.memory.book.person_of", lambda path: "ben" if path == shared else "")

    def slow(line: RetainedLine, day: date) -> DaySpan | None:
        assert line.text != "met @Peter" or go_on.wait(SECONDS)
        return event_span(line, day)

    monkeypatch.setattr("memoryd.memory.book.event_span", slow)
    prepared: list[Book] = []

    async def prepare(book: Book) -> None:
        prepared.append(book)

    running.memories.prepares.append(prepare)
    try:
        asking = asyncio.ensure_future(running.memories.current())
        await eventually_async(lambda: prepared)
        assert not asking.done()
        asking.cancel()
        (book,) = prepared
        assert days(book, "lives in Graz") == [date(2025, 11, 27)]
    finally:
        go_on.set()
    assert len(days(await running.memories.current(), "lives in Graz")) == 2
